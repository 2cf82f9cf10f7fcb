"""Two pasts that overlap, and members that bring them together by one protocol.

Both have what the other lacks, logs have holes and forks, lines miss what they answer, and some
wait aside because their author's clock is ahead.
"""

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from sync.group.status import Status
from sync.group.values import SessionEnded, StartSession, StoredMessage
from sync.machine import HOUR, MILLISECOND, MINUTE, PeerId
from sync.manager.registry import PROTOCOLS
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.pairs import Pair

WRITERS: Final = ("carol", "dave", "erin", "frank")
LAST: Final = 3
"""Writer of the newest line, of whom there are no others."""
AHEAD_MS: Final = 20 * MINUTE // MILLISECOND
BEYOND_HEIGHTS: Final = {"hole", "fork"}
"""Differences that heights do not tell: the check of the first session finds and pushes them, and
only the next session can prove that they came."""

NOBODY, ONE, OTHER, BOTH = range(4)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that somebody writes before the two meet.

    Attributes:
        writer: index of its author.
        twin: whether the author's second device writes it, which began from a copy of the first.
        holders: who of the two got it, as bits.
        ahead: whether the author's clock is ahead, so that it waits aside.
        answers: how many lines before this one the answered line was written; 0 for none.
    """

    writer: int
    twin: bool = False
    holders: int = BOTH
    ahead: bool = False
    answers: int = 0


lines = st.builds(
    Line,
    st.integers(0, LAST - 1),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([NOBODY, ONE, OTHER, BOTH, BOTH]),
    st.sampled_from([False] * 7 + [True]),
    st.integers(0, 4),
)
pasts = st.lists(lines, min_size=1, max_size=24)


def met(past: list[Line], own: tuple[int, int]) -> Pair:
    """Return two members with these pasts, who also wrote `own` lines each."""
    members = [Member(name, protocols=PROTOCOLS) for name in ("alice", "bob")]
    one, other = sorted(members, key=lambda member: member.peer_id)
    both = Pair(one, other)
    devices: dict[tuple[int, bool], Author] = {}
    written: list[StoredMessage] = []
    for number, line in enumerate(past):
        first = devices.setdefault((line.writer, False), Author(WRITERS[line.writer]))
        twin = devices.setdefault((line.writer, True), first.fork()) if line.twin else None
        device = twin or first
        after = written[-line.answers :][:1] if line.answers else []
        known = [told.entry.header.lamport for told in (*device.entries[-1:], *after)]
        clock = NOW_MS + number + (AHEAD_MS if line.ahead else 0)
        lamport = max([clock, *(told + 1 for told in known)])
        written.append(device.write(f"line {number}", after=after, lamport=lamport))
        for bit, member in ((ONE, one), (OTHER, other)):
            if line.holders & bit:
                member.hear(written[-1])
    for member, count in zip((one, other), own, strict=True):
        for number in range(count):
            member.write(f"{member.name} {number}")
    return both


def meet(both: Pair, protocol: str, now: int) -> None:
    """Let the one side begin as many sessions as it takes until one is proved to end equal."""
    if protocol == "sketch":
        keep_symbols(both.one, both.other)
    beyond = protocol not in {"waku", "sketch"} and features(both) & BEYOND_HEIGHTS
    for _ in range(2 if beyond or protocol == "delta" else 1):
        both.ended.clear()
        start = StartSession(both.number(), both.other.peer_id, "test", None, protocol)
        both.queue.append((both.one, start))
        both.run(now)


def keep_symbols(*members: Member) -> None:
    """Have symbols ready of what members hold."""
    for member in members:
        prefix = member.group.prefix
        while (due := prefix.deadline()) is not None:
            prefix.tick(due)


def held(member: Member) -> dict[str, bytes]:
    """Return the bytes of what counts as held, by id: what waits aside does not."""
    rows = member.disk.rows.items()
    return {one: row.message.payload for one, row in rows if row.status is not Status.PARKED}


def everything(member: Member) -> dict[str, bytes]:
    return {one: row.message.payload for one, row in member.disk.rows.items()}


def brought_together(past: list[Line], own: tuple[int, int], by: str) -> list[dict[str, bytes]]:
    """Return what both hold after they met, and after they met again when nothing waits aside."""
    both = met(past, own)
    started = [held(both.one), held(both.other)]
    meet(both, by, NOW)
    assert held(both.one) == held(both.other) == started[0] | started[1]
    assert proved(both.ended, by)
    soon = held(both.one)
    for member in (both.one, both.other):
        member.advance(NOW + HOUR)
    meet(both, by, NOW + HOUR)
    assert everything(both.one) == everything(both.other) == held(both.one)
    assert proved(both.ended, by)
    for member in (both.one, both.other):
        member.advance(NOW + 2 * HOUR)
    assert both.one.shown() == both.other.shown()
    return [soon, held(both.one)]


def features(both: Pair) -> set[str]:
    """Return what makes the two pasts hard to bring together."""
    one, other = held(both.one), held(both.other)
    found = {
        "overlap": bool(one.keys() & other.keys()) and one != other,
        "both-sided": bool(one.keys() - other.keys() and other.keys() - one.keys()),
        "fork": len(places(both.one, both.other)) < len(one | other),
    }
    for member in (both.one, both.other):
        here = held(member).keys()
        headers = [r.message.entry.header for one, r in member.disk.rows.items() if one in here]
        below = {header.backlink for header in headers if header.backlink is not None}
        statuses = {row.status for row in member.disk.rows.values()}
        found["hole"] = found.get("hole", False) or not below <= here
        found["aside"] = found.get("aside", False) or Status.PARKED in statuses
        found["answer"] = found.get("answer", False) or Status.WAITING in statuses
    return {name for name, there in found.items() if there}


def places(*members: Member) -> set[tuple[PeerId, int, int]]:
    """Return author, log and number of all that counts as held by any of these."""
    rows = [row for member in members for row in member.disk.rows.values()]
    headers = [row.message.entry.header for row in rows if row.status is not Status.PARKED]
    return {(header.author, header.log, header.seq) for header in headers}


def proved(ended: list[SessionEnded], protocol: str) -> bool:
    """Return whether both ends were proved equal, by no other protocol than was asked for.

    Where a handshake shows that they are, nobody has learnt which one that was.
    """
    names = {one.protocol for one in ended}
    return len(ended) == 2 and all(one.converged for one in ended) and names <= {protocol, "log"}


PASTS: Final[dict[str, list[Line]]] = {
    "overlap": [Line(0), Line(1), Line(0, holders=ONE)],
    "both-sided": [Line(0), Line(0), Line(1, holders=ONE), Line(0, holders=OTHER)],
    "hole": [Line(0), Line(0, holders=NOBODY), Line(0, holders=ONE), Line(0, holders=OTHER)],
    "fork": [
        Line(0),
        *[Line(0, twin=True, holders=who) for who in (ONE, BOTH)],
        *[Line(0, holders=who) for who in (BOTH, OTHER)],
    ],
    "aside": [
        Line(0),
        Line(0, ahead=True, holders=ONE),
        Line(0, ahead=True),
        Line(1, ahead=True, holders=OTHER),
        Line(2, holders=OTHER),
    ],
    "answer": [Line(0, holders=OTHER), Line(1, holders=ONE, answers=1), Line(0, holders=OTHER)],
}
"""A past for each feature that makes two of them hard to bring together."""
