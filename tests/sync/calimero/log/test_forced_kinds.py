"""Kinds that a person asks for by name: each is used, or says why not, and what to do."""

import pytest

from sync.calimero.log.session import LEAVE_OUT
from sync.group import values
from sync.machine import SECOND
from tests.support.sync.groups import NOW, Member
from tests.support.sync.pairs import Pair
from tests.support.sync.sketch.pairs import lines

HOLES = ["delta", "waku", "log"]
"""Kinds that find holes, which those by heights of author logs do not."""


def apart() -> Pair:
    """Return two of whom each has a line that the other lacks, and some that both have."""
    one, other = sorted((Member("alice"), Member("bob")), key=lambda made: made.peer_id)
    told = lines(12)
    for at, line in enumerate(told):
        for member, lacks in ((one, 3), (other, 7)):
            if at != lacks:
                member.hear(line)
    return Pair(one, other)


def ask(pair: Pair, kind: str) -> values.SessionEnded:
    """Have one ask for a kind; return how the session ended there."""
    start = values.StartSession(pair.number(), pair.other.peer_id, "test", None, kind)
    pair.queue.append((pair.one, start))
    pair.run(NOW + SECOND)
    [ours] = [one for one in pair.ended if one.why == "test"]
    return ours


@pytest.mark.parametrize("kind", HOLES)
def test_a_kind_that_suits_is_used_and_proved(kind: str) -> None:
    pair = apart()
    ended = ask(pair, kind)
    assert ended.converged or ended.then, ended.result
    if not ended.then:
        assert pair.one.disk.rows.keys() == pair.other.disk.rows.keys()


@pytest.mark.parametrize(
    ("kind", "why"), [("snapshot", "the channel is not empty here"), ("sketch", "over 1,000")]
)
def test_a_kind_that_does_not_suit_says_why_and_what_to_do(kind: str, why: str) -> None:
    pair = apart()
    before = set(pair.one.disk.rows)
    ended = ask(pair, kind)
    assert ended.result.startswith(f"{kind} does not suit: ")
    assert why in ended.result
    assert ended.result.endswith(LEAVE_OUT)
    assert set(pair.one.disk.rows) == before
