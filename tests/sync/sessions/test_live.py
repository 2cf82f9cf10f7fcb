"""Live sessions: they go on beside those that catch up, in places of their own."""

import pytest

from sync.group import values
from sync.machine import SECOND
from sync.sessions import table
from sync.sessions.protocol import Protocols
from sync.sessions.session import SESSION_WITHIN, Session, Stage
from sync.sessions.values import Mode, Outcome
from sync.waku.session import WAKU_SYNC
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.pairs import Pair
from tests.support.toy.session import GOODBYE, STAYING, StayingExchange

SPOKEN = Protocols((WAKU_SYNC, STAYING))


def together() -> Pair:
    """Two members whose streams stay once both are equal."""
    names = ("alice", "bob")
    one, other = sorted(
        [Member(name, protocols=SPOKEN) for name in names], key=lambda member: member.peer_id
    )
    return Pair(one, other)


def start(both: Pair) -> None:
    number = both.number()
    asked = values.StartSession(number, both.other.peer_id, "test", protocol=STAYING.name)
    both.queue.append((both.one, asked))
    both.run()


def live(member: Member) -> Session:
    """The only session of a member that goes on, which is live."""
    [session] = member.group.sessions.running.values()
    assert session.stage is Stage.LIVE
    return session


def test_a_session_that_caught_up_ends_and_its_stream_goes_on_live() -> None:
    both = together()

    start(both)

    assert {(one.outcome, one.mode) for one in both.ended} == {
        (Outcome.CONVERGED, Mode.CATCHING_UP)
    }
    for member in (both.one, both.other):
        assert live(member).key.mode is Mode.LIVE
        assert not member.group.sessions.by_peer, "the place of those that catch up is free"
    assert only(values.CloseSession, both.carried) == []


def test_what_comes_on_its_stream_reaches_the_exchange_however_late() -> None:
    both = together()
    start(both)
    exchange = live(both.other).exchange
    assert isinstance(exchange, StayingExchange)

    late = NOW + 2 * SESSION_WITHIN
    both.other.advance(late)
    both.other.tell(values.SessionPayload(live(both.other).number, b"news"), late)

    assert exchange.heard == [b"news"]


def test_its_exchange_hears_how_slow_its_link_becomes() -> None:
    both = together()
    start(both)
    session, peer = live(both.one), both.other.peer_id

    both.one.tell(values.LinksTimed(((peer, 2 * SECOND),), 2 * SECOND), NOW)

    [caught_up] = both.one.group.sessions.shown
    assert caught_up.patience.grown(SECOND) == 2 * SECOND, "by which the exchange goes"
    assert session.patience is caught_up.patience


def test_sessions_catch_up_beside_it() -> None:
    both = together()
    start(both)
    both.ended.clear()
    both.one.write("a line")

    both.start(both.one)
    both.run()

    assert both.one.shown() == both.other.shown()
    assert {one.outcome for one in both.ended} == {Outcome.CONVERGED}
    assert live(both.one).stage is live(both.other).stage is Stage.LIVE


def test_it_ends_when_its_exchange_says_so_or_its_stream_or_its_peer_is_gone() -> None:
    for event, result in (
        (lambda number, _: values.SessionPayload(number, GOODBYE), "said goodbye"),
        (lambda number, _: values.SessionClosed(number, "cut"), "interrupted: cut"),
        (lambda _, peer: values.PeerGone(peer), "interrupted: the peer is gone"),
    ):
        both = together()
        start(both)
        ours = live(both.one)

        effects = both.one.tell(event(ours.number, ours.peer))

        [ended] = only(values.SessionEnded, effects)
        assert (ended.mode, ended.result) == (Mode.LIVE, result)
        assert not both.one.group.sessions.running


def test_where_there_is_no_place_for_it_the_stream_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table, "LIVE_MAX", 0)
    both = together()

    start(both)

    assert {one.outcome for one in both.ended} == {Outcome.CONVERGED}
    assert not both.one.group.sessions.running
    assert len(only(values.CloseSession, both.carried)) == 2


def test_a_second_one_with_a_peer_finds_the_place_taken() -> None:
    both = together()
    start(both)
    first = live(both.one).number

    start(both)

    assert live(both.one).number == first
    assert live(both.one).began_at <= NOW < NOW + SECOND
