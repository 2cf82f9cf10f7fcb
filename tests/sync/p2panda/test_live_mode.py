"""Live mode: what is stored goes on at once, each once, until either side has enough."""

import pytest

from sync.errors import RemoteError
from sync.group import values
from sync.machine import HOUR, SECOND
from sync.manager.registry import LOG_HEIGHT, SETS
from sync.p2panda.entries import entry_message
from sync.p2panda.messages import Entry, Have, Message, SyncDone, decode, encode
from sync.p2panda.sending import LOOSE_MAX, Sending
from sync.p2panda.session import FIRST_WITHIN, TOO_FAR, Exchange
from sync.p2panda.session import Mode as Comparing
from sync.sessions import table
from sync.sessions.protocol import Brings, Finished, Load, Protocols, Send
from sync.sessions.session import Session, Stage
from sync.sessions.values import RELAY, LoadedEntry, Mode, Outcome, Stored
from sync.structures.differences import Role
from sync.structures.ordered_set import SyncId
from sync.waku.session import WAKU_SYNC
from tests.support.sync.groups import NOW, Member
from tests.support.sync.intruder import opening
from tests.support.sync.pairs import Pair

ALL = Protocols((WAKU_SYNC, LOG_HEIGHT, SETS))
BOTH_MODES = pytest.mark.parametrize("protocol", ["logheight", "sets"])


def together(protocol: str = "logheight", *, live: bool = True) -> Pair:
    """Two members after a session that the first one wanted to stay."""
    names = ("alice", "bob")
    one, other = sorted(
        [Member(name, protocols=ALL) for name in names], key=lambda member: member.peer_id
    )
    both = Pair(one, other)
    start(both, protocol, live=live)
    return both


def start(both: Pair, protocol: str = "logheight", *, live: bool = True) -> None:
    asked = values.StartSession(both.number(), both.other.peer_id, RELAY, None, protocol, live=live)
    both.queue.append((both.one, asked))
    both.run()


def live(member: Member) -> list[Session]:
    return [one for one in member.group.sessions.running.values() if one.stage is Stage.LIVE]


def passed(both: Pair) -> list[Message]:
    """Return the messages that were sent, without those of checks."""
    found = []
    for one in both.carried:
        if isinstance(one, values.SendPayload) and one.session > 0:
            try:
                found.append(decode(one.payload))
            except RemoteError:
                continue
    return found


def hear(both: Pair, member: Member, stored: values.StoredMessage) -> None:
    """Have a member take in a line of somebody who is no end of the session."""
    for effect in member.hear(stored):
        both.carry_out(member, effect)
    both.run()


@BOTH_MODES
def test_it_stays_where_both_want_it_and_passes_on_what_a_third_one_writes(protocol: str) -> None:
    both, carol = together(protocol), Member("carol")
    lines = [carol.write(f"line {number}") for number in range(3)]
    both.carried.clear()

    for one in lines:
        hear(both, both.one, one)

    assert [session.peer for session in live(both.one)] == [both.other.peer_id]
    assert len(live(both.other)) == 1
    assert both.other.shown() == both.one.shown() == [one.entry.message_id for one in lines]
    sent = [one for one in passed(both) if isinstance(one, Entry)]
    assert len(sent) == len(lines), "each once, and none back"


def test_who_is_asked_without_a_reason_does_not_stay() -> None:
    both = together(live=False)

    assert live(both.one) == live(both.other) == []
    assert {one.outcome for one in both.ended} == {Outcome.CONVERGED}
    assert [one.live for one in passed(both) if isinstance(one, SyncDone)] == [True, False]


def test_who_has_no_place_says_so_and_both_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LIVE_MAX", 0)

    both = together()

    assert live(both.one) == live(both.other) == []
    assert {one.outcome for one in both.ended} == {Outcome.CONVERGED}


def test_a_second_one_with_the_same_peer_does_not_stay() -> None:
    both = together()
    first = [one.number for one in live(both.one)]

    start(both)

    assert [one.number for one in live(both.one)] == first
    assert len(both.ended) == 4


def test_what_is_stored_during_the_session_follows_it() -> None:
    names = ("alice", "bob")
    one, other = sorted(
        [Member(name, protocols=ALL) for name in names], key=lambda member: member.peer_id
    )
    both, carol = Pair(one, other), Member("carol")
    asked = values.StartSession(
        both.number(), both.other.peer_id, RELAY, None, "logheight", live=True
    )
    both.queue.append((both.one, asked))
    for _ in range(4):  # heights are frozen
        both.step()

    hear(both, both.one, carol.write("meanwhile"))

    assert both.other.shown() == both.one.shown() != []


def advance(both: Pair, member: Member) -> None:
    """Let a member see that nobody is heard through the other alone."""
    for effect in member.advance(NOW + SECOND):
        both.carry_out(member, effect)


def test_who_does_not_need_it_ends_it_and_the_other_answers() -> None:
    both = together()
    both.ended.clear()
    both.carried.clear()

    advance(both, both.one)
    both.run()

    assert live(both.one) == live(both.other) == []
    assert {(one.mode, one.outcome) for one in both.ended} == {(Mode.LIVE, Outcome.BENIGN)}
    assert passed(both) == [SyncDone(0, live=False)] * 2


def test_who_answered_it_leaves_that_to_who_began_it() -> None:
    both = together()

    advance(both, both.other)
    both.run()

    assert len(live(both.one)) == len(live(both.other)) == 1


def test_who_does_not_answer_the_end_is_left() -> None:
    both = together()
    [session] = live(both.one)
    advance(both, both.one)

    both.one.advance(NOW + SECOND + FIRST_WITHIN)

    assert live(both.one) == []
    assert session.result == "timed out"


# --- The exchange alone ------------------------------------------------------------------------


def staying() -> Exchange:
    """Return an exchange over nothing that has gone live."""
    exchange = Exchange(opening(Role.INITIATOR), Comparing.LOG_HEIGHT)
    exchange.open(NOW)
    exchange.payload(encode(Have(0, ())), NOW)
    [finished] = exchange.payload(encode(SyncDone(0, live=True)), NOW)
    assert isinstance(finished, Finished)
    assert finished.live
    return exchange


def stored(seq: int, author: str = "carol") -> Stored:
    return Stored(Member(author).peer_id, 7, seq, SyncId(seq, bytes(31) + bytes([seq % 256])), None)


def test_it_never_ends_by_itself() -> None:
    assert staying().deadline() is None


def test_one_page_is_on_its_way_and_the_next_has_all_that_came_meanwhile() -> None:
    exchange = staying()

    [first] = exchange.stored(stored(1), NOW, known=False)
    waiting = [exchange.stored(stored(seq), NOW, known=False) for seq in range(2, 900)]
    effects = exchange.loaded((), NOW, more=False)

    assert isinstance(first, Load)
    assert waiting == [[]] * 898
    [page] = effects
    assert isinstance(page, Load)
    assert [(one.after, one.height) for one in page.spans] == [(1, 899)]


def test_what_the_peer_knows_is_not_sent_to_it() -> None:
    assert staying().stored(stored(1), NOW, known=True) == []


def test_what_continues_no_log_is_sent_by_its_id_and_of_too_much_the_session_ends() -> None:
    exchange = staying()
    exchange.stored(stored(2), NOW, known=False)  # and a page is on its way

    for seq in range(LOOSE_MAX):
        assert exchange.stored(stored(10 + 2 * seq), NOW, known=False) == []
    [over] = exchange.stored(stored(9_999), NOW, known=False)

    assert isinstance(over, Finished)
    assert over.result == TOO_FAR


def test_loose_ones_follow_the_spans_a_page_at_a_time() -> None:
    sending = Sending()
    assert sending.add(stored(5))
    for seq in (9, 7, 5):
        assert sending.add(stored(seq))

    first = sending.ask()
    sending.loaded((), more=False)
    second = sending.ask()
    sending.loaded((), more=False)

    assert first is not None
    assert second is not None
    assert (len(first.spans), first.ids) == (1, ())
    assert [one.timestamp for one in second.ids] == [9, 7, 5]
    assert sending.ask() is None


@pytest.mark.parametrize(
    "message", [Have(0, ()), SyncDone(0, live=True)], ids=lambda one: type(one).__name__
)
def test_nothing_else_may_come(message: Message) -> None:
    with pytest.raises(RemoteError, match="in live mode"):
        staying().payload(encode(message), NOW)


def test_an_entry_of_the_channel_is_brought_however_late() -> None:
    exchange, carol = staying(), Member("carol")
    entry = carol.write("a line").entry

    [brought] = exchange.payload(encode(entry_message(0, entry)), NOW + HOUR)

    assert brought == Brings(entry)


def test_a_page_leaves_at_once() -> None:
    exchange, carol = staying(), Member("carol")
    entry = carol.write("a line").entry
    one = SyncId(entry.header.created_ns, bytes(32))
    exchange.stored(
        Stored(carol.peer_id, entry.header.log, entry.header.seq, one, None), NOW, known=False
    )

    [sent] = exchange.loaded((LoadedEntry(entry, one),), NOW + SECOND, more=False)

    assert isinstance(sent, Send)
