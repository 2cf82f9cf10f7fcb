"""Messages that are wanted: by repair, sessions and delta sync, each of one peer at a time."""

from collections.abc import Sequence
from typing import NamedTuple

from sync.calimero.log.delta import PUT_OFF_MAX
from sync.calimero.log.delta_messages import BloomFilter, Want
from sync.group import values
from sync.group.history_loading import Loading
from sync.machine import HOUR, MINUTE, MessageId, Nanos, Tick
from sync.sds import message as sds
from sync.sds import wire
from sync.sds.message import HistoryEntry
from sync.sessions.session import STALLED_AFTER
from sync.structures.ordered_set import SyncId
from tests.support.sync.groups import Member, only
from tests.support.sync.meetings.delta_pairs import DeltaPair, conversation, member
from tests.support.sync.waku.sets import numbered

LINES = 60
CAROLS = 1_000
"""Numbers of sessions with Carol are larger."""

HOLES = frozenset({25, 30})


class Side(DeltaPair):
    """One of two pairs of a member; what comes of an event of the one may be for the other."""

    beyond: "Side"

    def carry_out(self, member: Member, effect: values.Effect) -> None:
        """Carry out what is of a session of this pair, and let the other pair do the rest."""
        session = getattr(effect, "session", None)
        ours = session is None or (abs(session) < CAROLS) is (self.numbers < CAROLS)
        if ours:
            super().carry_out(member, effect)
        else:
            self.beyond.carry_out(member, effect)


class Three(NamedTuple):
    """Alice, who lacks two lines, and a pair of hers with each of two who have all."""

    with_bob: DeltaPair
    with_carol: DeltaPair
    lines: list[values.StoredMessage]

    @property
    def alice(self) -> Member:
        return self.with_bob.one

    @property
    def lacking(self) -> set[bytes]:
        return {bytes.fromhex(self.lines[at].entry.message_id) for at in HOLES}

    def asked(self) -> list[bytes]:
        """Ids that Alice has asked for, of whomever."""
        said = [
            one
            for both in (self.with_bob, self.with_carol)
            for kind in (BloomFilter, Want)
            for one in both.said(kind, self.alice)
        ]
        ids = [one.wanted for one in said if isinstance(one, BloomFilter)]
        ids += [one.ids for one in said if isinstance(one, Want)]
        return [message_id for asked in ids for message_id in asked]


def three() -> Three:
    """Nobody leads for the next hour, so that both sessions may bring something at once."""
    alice, bob, carol = member("alice"), member("bob"), member("carol")
    lines = conversation(LINES)
    pairs = Side(alice, bob), Side(alice, carol, numbers=CAROLS)
    pairs[0].beyond, pairs[1].beyond = pairs[1], pairs[0]
    pairs[0].hear(alice, lines, HOLES)
    for both in pairs:
        both.hear(both.other, lines)
        both.now = pairs[0].now
    alice.group.sessions._fetching.shares._plain_until = pairs[0].now + HOUR
    return Three(*pairs, lines)


def begin(both: DeltaPair) -> None:
    """Let Alice begin a session, up to the moment when her first turn is about to arrive."""
    start = values.StartSession(both.number(), both.other.peer_id, "test", None, "delta")
    both.queue.append((both.one, start))
    while not _is_asked(both):
        both.step(both.now)


def _is_asked(both: DeltaPair) -> bool:
    return bool(both.one.group.sessions.running) and any(
        session.peer == both.other.peer_id and (session.asked or session.put_off)
        for session in both.one.group.sessions.running.values()
    )


def wanted(one: Member) -> set[MessageId]:
    return set(one.group.loading.on_its_way.messages)


def requested(effects: Sequence[values.Effect]) -> set[bytes]:
    """Ids that broadcasts ask everybody for."""
    frames = [wire.decode(one.payload) for one in only(values.Broadcast, effects)]
    return {bytes.fromhex(entry.message_id) for one in frames for entry in _requests(one)}


def _requests(one: sds.Message) -> tuple[HistoryEntry, ...]:
    return one.repair_request


def advance(one: Member, now: Nanos, span: Nanos) -> set[bytes]:
    """Let the clock run; return what was asked of everybody."""
    one.advance(now)
    return requested(one.advance(now + span))


def test_two_sessions_at_once_ask_for_each_message_once() -> None:
    scene = three()
    begin(scene.with_bob)
    begin(scene.with_carol)

    while scene.with_bob.queue or scene.with_carol.queue:
        for both in (scene.with_bob, scene.with_carol):
            if both.queue:
                both.step(both.now)

    assert sorted(scene.asked()) == sorted(scene.lacking)
    assert scene.with_bob.converged
    assert scene.with_carol.converged, "what came from Bob counts as held"
    assert not wanted(scene.alice)


def test_what_a_session_that_ended_did_not_bring_the_other_one_asks_for() -> None:
    scene = three()
    begin(scene.with_bob)
    begin(scene.with_carol)
    scene.with_carol.run(scene.with_carol.now)
    before = scene.with_carol.entries

    scene.with_carol.queue.append((scene.alice, values.PeerGone(scene.with_bob.other.peer_id)))
    scene.with_carol.run(scene.with_carol.now)

    assert not before, "Carol waits for what Bob brings"
    assert set(scene.asked()) == scene.lacking
    assert scene.with_carol.converged
    assert not wanted(scene.alice)


def test_what_the_other_session_is_slow_to_bring_is_asked_for_in_the_end() -> None:
    scene = three()
    both = scene.with_carol
    begin(scene.with_bob)
    begin(both)
    both.run(both.now)
    before = both.entries

    for due in (PUT_OFF_MAX - 1, PUT_OFF_MAX):
        both.queue.append((scene.alice, Tick()))
        both.run(both.now + due)

    assert not before
    assert both.converged
    assert scene.with_carol.entries == len(HOLES)
    assert scene.alice.group.sessions.running, "Bob's goes on"


def test_nobody_is_asked_by_broadcast_for_what_a_session_brings() -> None:
    scene = three()
    now = scene.with_bob.now
    apart = three().alice
    begin(scene.with_bob)

    during = advance(scene.alice, now, STALLED_AFTER - 1)
    without = advance(apart, now, STALLED_AFTER - 1)

    assert wanted(scene.alice)
    assert not during & scene.lacking
    assert without & scene.lacking, "else it would be asked for now"


def test_a_session_that_brings_nothing_gives_back_what_it_asked_for() -> None:
    scene = three()
    now = scene.with_bob.now
    begin(scene.with_bob)

    after = advance(scene.alice, now + STALLED_AFTER, MINUTE)

    assert not wanted(scene.alice)
    assert scene.lacking <= after


def test_a_peer_that_leaves_gives_back_what_it_was_asked_for() -> None:
    scene = three()
    now = scene.with_bob.now
    begin(scene.with_bob)
    asked = wanted(scene.alice)

    scene.alice.tell(values.PeerGone(scene.with_bob.other.peer_id), now)

    assert {bytes.fromhex(one) for one in asked} == scene.lacking
    assert not wanted(scene.alice)
    assert scene.lacking <= advance(scene.alice, now, MINUTE)


def test_what_a_cut_session_left_is_hoped_for_but_brought_by_nobody() -> None:
    loading, one = Loading(), numbered(1)
    entry = _named(one)
    loading.want([one])
    during = loading.is_brought(entry)

    loading.unwant([one], 0)

    assert during
    assert loading.on_its_way.brings(entry)
    assert not loading.is_brought(entry)


def test_two_sessions_that_want_the_same_both_have_to_give_it_back() -> None:
    loading, entry = Loading(), _named(numbered(1))
    loading.want_messages([entry.message_id])
    loading.want_messages([entry.message_id])

    loading.unwant_messages([entry.message_id])
    between = loading.on_its_way.is_asked_for(entry)
    loading.unwant_messages([entry.message_id])

    assert between
    assert not loading.on_its_way.is_asked_for(entry)
    assert not loading.on_its_way.messages


def _named(one: SyncId) -> HistoryEntry:
    return HistoryEntry(MessageId(one.hash.hex()), one.hash, None)
