"""Stretches of the `seq` of a log: what exports were taken of it, and what lies between.

A log forgets its oldest rows. Where it was exported before and after, rows between may be in
neither export, and nothing went wrong.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, TypeAlias

Stretch: TypeAlias = tuple[int, int]
"""First and last, both inclusive."""

STRETCHES_MAX: Final = 1000
"""Of one start in a note; the oldest go."""


def together(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the same rows in as few stretches as there can be, in their order."""
    found: list[Stretch] = []
    for first, last in sorted(stretches):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def between(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return what lies between them."""
    return [(one[1] + 1, other[0] - 1) for one, other in pairwise(together(stretches))]
