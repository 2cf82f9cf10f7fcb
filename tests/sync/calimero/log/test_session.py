"""Sessions over messages between two members: a handshake each way, then what the rule picks."""

from functools import partial

import pytest

from sync.calimero.handshake import decode_handshake, encode_handshake
from sync.calimero.log.session import STREAM
from sync.group import values
from sync.manager.registry import LOG, WITH_CALIMERO
from sync.sessions.handshake import HEADS_MAX, NOTHING, SyncHandshake, SyncKind
from sync.sessions.values import GOVERNANCE, Outcome, SessionEnded, StartSession
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.pairs import Pair

LOGS: frozenset[SyncKind] = frozenset({SyncKind.LOG_HEIGHT, SyncKind.SETS})


def pair(*, governed: bool = False) -> Pair:
    """Two members that speak it, the one with the smaller key first."""
    names = ("alice", "bob")
    members = [Member(name, protocols=WITH_CALIMERO, governed=governed) for name in names]
    one, other = sorted(members, key=lambda member: member.peer_id)
    return Pair(one, other)


def run(
    both: Pair,
    protocol: str = LOG.name,
    *,
    offered: bool = True,
    failed: frozenset[SyncKind] = frozenset(),
) -> list[SessionEnded]:
    """Run a session that the first one begins; returns both ends, its own first."""
    both.ended.clear()
    start = StartSession(
        both.number(),
        both.other.peer_id,
        "test",
        protocol=protocol,
        offered=offered,
        failed=failed,
    )
    both.queue.append((both.one, start))
    both.run()
    return sorted(both.ended, key=lambda one: one.peer != both.other.peer_id)


def told(both: Pair) -> list[SyncHandshake]:
    """Return the handshakes that went over the streams, in order."""
    sent = only(values.SendPayload, both.carried)
    return [decode_handshake(one.payload) for one in sent[:2]]


def test_equal_messages_are_proved_and_nothing_else_happens() -> None:
    both = pair()
    both.one.write("hello")
    run(both, protocol="waku")

    ended = run(both)

    assert {one.result for one in ended} == {"both have the same"}
    assert {one.outcome for one in ended} == {Outcome.CONVERGED}
    assert [one.then for one in ended] == ["", ""]
    assert not both.one.group.sds.outgoing.pending, "the check has acknowledged the line"


def test_without_holes_both_pick_heights_and_who_began_is_told_how_to_go_on() -> None:
    both = pair()
    both.one.write("mine")
    both.other.write("theirs")

    ours, theirs = run(both)

    assert (ours.then, ours.then_why) == ("logheight", "no log has a hole")
    assert (theirs.then, theirs.then_why) == (ours.then, ours.then_why)
    assert ours.outcome is theirs.outcome is Outcome.BENIGN
    assert ours.then_estimate == theirs.then_estimate > 0
    assert len(only(values.SendPayload, both.carried)) == 2, "a handshake each way"


@pytest.mark.parametrize(
    ("offered", "announced"), [(False, True), (True, False)], ids=["not to us", "not by us"]
)
def test_logs_that_are_not_announced_are_not_compared_by_heights(
    *, offered: bool, announced: bool
) -> None:
    both = pair()
    both.announced = announced
    both.one.write("mine")
    both.other.write("theirs")

    ours, _ = run(both, offered=offered)

    assert (ours.then, ours.then_why) == ("waku", "no head is known to both")


@pytest.mark.parametrize("kind", sorted(LOGS))
def test_a_kind_that_failed_is_not_picked_again_by_either_end(kind: SyncKind) -> None:
    both = pair()
    both.one.write("mine")
    both.other.write("theirs")

    ours, theirs = run(both, failed=frozenset({kind}))

    assert ours.then == theirs.then == "waku"
    assert [one.speaks(SyncKind.LOG_HEIGHT) for one in told(both)] == [False, True]


def test_a_handshake_tells_the_newest_heads_the_holes_and_the_logs() -> None:
    both = pair()
    both.one.write("hello")
    lines = [both.other.write(f"line {number}") for number in range(HEADS_MAX + 2)]
    both.one.hear(lines[-1])

    run(both)
    ours, theirs = told(both)

    assert (ours.log.count, ours.log.logs) == (2, 1), "what waits has no height yet"
    assert ours.log.holes == len(lines[-1].entry.header.parents)
    assert bytes.fromhex(lines[-1].entry.message_id) in ours.log.heads
    newest = sorted(bytes.fromhex(one.entry.message_id) for one in lines[-HEADS_MAX:])
    assert list(theirs.log.heads) == newest
    assert (theirs.log.count, theirs.log.holes) == (len(lines), 0)
    assert NOTHING != ours.log.heights != theirs.log.heights != NOTHING
    assert ours.speaks(SyncKind.WAKU)


def test_where_governance_differs_it_comes_first() -> None:
    both = pair()

    [ours, theirs] = run(both)
    assert ours.then == theirs.then == ""

    both.one.write("hello")
    for member, scope in ((both.one, b"\x07" * 32), (both.other, b"\x08" * 32)):
        member.group.stating.scope = partial(bytes, scope)  # type: ignore[method-assign]

    [ours, theirs] = run(both)
    assert ours.then == theirs.then == GOVERNANCE
    assert ours.outcome is Outcome.BENIGN


def lied_to(handshake: bytes) -> list[values.Effect]:
    """Begin a session with a peer that answers with this; returns what comes of it."""
    both = pair()
    both.one.write("hello")
    start = StartSession(1, both.other.peer_id, "test", protocol=LOG.name)
    both.one.tell(start)
    both.one.tell(values.SessionOpened(1))
    return both.one.tell(values.SessionPayload(1, handshake))


@pytest.mark.parametrize("garbage", [b"", b"\x09", bytes(400)])
def test_garbage_in_place_of_a_handshake_ends_the_session_with_the_reason(garbage: bytes) -> None:
    effects = lied_to(garbage)

    [ended] = only(SessionEnded, effects)
    assert ended.result.startswith("refused: ")
    assert ended.outcome is Outcome.NOT_CONVERGED


def test_a_message_after_the_end_of_a_session_is_refused() -> None:
    both = pair()
    both.one.write("hello")
    run(both)
    handshake = encode_handshake(told(both)[1])
    both.other.tell(values.SessionOffered(99, both.one.peer_id, STREAM))
    both.other.tell(values.SessionPayload(99, handshake))

    [ended] = only(SessionEnded, both.other.tell(values.SessionPayload(99, handshake)))

    assert ended.result == "refused: a message after the end of a session"


def test_silence_ends_a_session_in_time() -> None:
    both = pair()
    both.one.tell(StartSession(1, both.other.peer_id, "test", protocol=LOG.name))
    both.one.tell(values.SessionOpened(1))
    due = both.one.group.sessions.deadline()
    assert due is not None

    ended = only(SessionEnded, both.one.advance(due))

    assert [one.result for one in ended] == ["nothing came in time"]
    assert due > NOW
