"""Shapes of a mesh where not everybody reaches everybody: rooms in a row, one link to the next."""

from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise


def line(peers: int) -> tuple[int, ...]:
    """Return the rooms of a line: each peer reaches its neighbours alone."""
    return (1,) * peers


def unlinked(rooms: Sequence[int]) -> set[tuple[int, int]]:
    """Return the pairs without a link, the smaller number first.

    Within a room each reaches each; the last one of a room reaches the first one of the next.

    Args:
        rooms: how many peers each has, in the order of their numbers.
    """
    firsts = [0, *accumulate(rooms)]
    room_of = [number for number, size in enumerate(rooms) for _ in range(size)]
    bridges = {(first - 1, first) for first in firsts[1:-1]}
    assert all(one < other for one, other in pairwise(firsts)), "each room has a peer"
    return {
        (one, other)
        for one, other in combinations(range(len(room_of)), 2)
        if room_of[one] != room_of[other] and (one, other) not in bridges
    }
