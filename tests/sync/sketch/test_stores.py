"""Two stores that a sketch brings together: whatever differs, both end with the same bytes.

What comes during the session is the next one's; what waits aside, or is older than a floor, is in
no session.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.group import values
from sync.group.status import Status
from sync.group.values import StoredMessage
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.structures.set_digest import LEAF_BITS
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.meetings.pasts import keep_symbols
from tests.support.sync.sketch.pairs import SketchPair, from_few

NOBODY, ONE, OTHER, BOTH = range(4)
BUCKET: Nanos = 1 << LEAF_BITS


@pytest.fixture(autouse=True, scope="module")
def _symbols_of_few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        from_few(patch, 0)
        yield


@dataclass(frozen=True, slots=True)
class Line:
    """A line, who of the two has it, when it was written, and whether it waits aside.

    Attributes:
        holders: as bits.
        during: who hears it while the session runs.
        age: buckets of the digest before now.
        ahead: whether its author's clock is ahead.
    """

    holders: int
    during: int = NOBODY
    age: int = 0
    ahead: bool = False


lines = st.builds(
    Line,
    st.sampled_from([NOBODY, ONE, OTHER, BOTH, BOTH]),
    st.sampled_from([NOBODY, NOBODY, NOBODY, ONE, OTHER, BOTH]),
    st.integers(0, 6),
    st.sampled_from([False] * 7 + [True]),
)


def written(told: list[Line]) -> list[StoredMessage]:
    """Return the lines of three writers, each of one age after the other."""
    people = [Author(f"writer {at}") for at in range(3)]
    stored = []
    for at, line in enumerate(told):
        stamp = NOW_MS - line.age * BUCKET // MILLISECOND + at
        if line.ahead:
            stamp = NOW_MS + 20 * MINUTE // MILLISECOND + at
        stored.append(people[at % 3].write(f"line {at}", lamport=stamp))
    return stored


def held(member: Member, floor: Nanos = 0) -> dict[str, bytes]:
    """Return the bytes of what counts as held, and is no older than a floor."""
    return {
        one: row.message.payload
        for one, row in member.disk.rows.items()
        if row.status is not Status.PARKED and row.message.entry.header.created_ns >= floor
    }


def met(told: list[Line], floors: tuple[int, int]) -> SketchPair:
    """Return two that have heard their lines, each with a retention of so many buckets, or all."""
    keeps = [floor * BUCKET + SECOND if floor else None for floor in floors]
    made = [Member(name, retention=keep) for name, keep in zip(("a", "b"), keeps, strict=True)]
    first, second = sorted(made, key=lambda one: one.peer_id)
    pair = SketchPair(first, second)
    for line, stored in zip(told, written(told), strict=True):
        for bit, member in ((ONE, pair.one), (OTHER, pair.other)):
            if line.holders & bit:
                member.hear(stored)
    return pair


def meet(pair: SketchPair, told: list[Line]) -> None:
    """Let them meet while some lines come."""
    keep_symbols(pair.one, pair.other)
    pair.ended.clear()
    start = values.StartSession(pair.number(), pair.other.peer_id, "test", None, "sketch")
    pair.queue.append((pair.one, start))
    during = [
        (member, stored)
        for line, stored in zip(told, written(told), strict=True)
        for bit, member in ((ONE, pair.one), (OTHER, pair.other))
        if line.during & bit and not line.ahead
    ]
    steps = 0
    while pair.queue:
        pair.step(NOW)
        steps += 1
        if steps > 5 and during:  # both have frozen what they hold
            member, stored = during.pop()
            member.hear(stored)
    for member, stored in during:
        member.hear(stored)


@settings(max_examples=40)
@given(
    st.lists(lines, min_size=1, max_size=40),
    st.tuples(st.sampled_from([0, 0, 2, 3, 5]), st.sampled_from([0, 0, 2, 4])),
)
def test_two_stores_end_equal(told: list[Line], floors: tuple[int, int]) -> None:
    told = [Line(BOTH), *told, Line(BOTH)]
    pair = met(told, floors)
    floor = max([0, *[NOW - one * BUCKET - SECOND for one in floors if one]])
    before = held(pair.one, floor) | held(pair.other, floor)

    meet(pair, told)

    ours, theirs = held(pair.one, floor), held(pair.other, floor)
    assert before.keys() <= ours.keys() & theirs.keys(), "what both had frozen is everywhere"
    assert pair.converged
    assert {one.protocol for one in pair.ended} <= {"sketch", "log"}

    meet(pair, [])
    assert held(pair.one, floor) == held(pair.other, floor)
    assert pair.converged
    assert {one.protocol for one in pair.ended} <= {"sketch", "log"}


@settings(max_examples=10)
@given(st.lists(lines, min_size=1, max_size=20))
def test_what_waited_aside_is_brought_once_its_time_has_come(told: list[Line]) -> None:
    told = [Line(BOTH), *told, Line(BOTH)]
    pair = met(told, (0, 0))
    for member in (pair.one, pair.other):
        member.advance(NOW + HOUR)

    keep_symbols(pair.one, pair.other)
    pair.meet(now=NOW + HOUR)

    assert held(pair.one) == held(pair.other)
    assert pair.same
    assert pair.converged


def test_what_is_below_the_floor_of_the_one_that_has_it_is_not_hoped_for() -> None:
    keeps = Member("keeps", retention=3 * BUCKET)
    one, other = sorted([keeps, Member("whole")], key=lambda made: made.peer_id)
    pair = SketchPair(one, other)
    start = (NOW + SECOND - 3 * BUCKET) >> LEAF_BITS << LEAF_BITS
    author = Author("author")
    below = [author.write(f"below {at}", lamport=start // MILLISECOND + 1 + at) for at in range(9)]
    above = [author.write(f"above {at}", lamport=NOW_MS + at) for at in range(5)]
    for line in [*below, *above]:
        pair.beside(keeps).hear(line)
    for line in above[1:]:
        keeps.hear(line)
    keep_symbols(one, other)

    pair.meet()

    assert pair.converged
    assert len(held(keeps)) == len(above)
    assert not keeps.group.loading.on_its_way
    assert not keeps.group.loading.left
