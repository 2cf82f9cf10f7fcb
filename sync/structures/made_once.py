"""Results kept of large objects, for whoever asks for the same again.

Objects are told apart by identity: to compare or hash the heights of ten thousand logs would take
as long as what is made of them. So they must not change, which tuples of values do not.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar

From = TypeVar("From")
Made = TypeVar("Made")

KEPT: Final = 8
"""Objects of which the result is kept: a channel has one at a time."""


def made_once(make: Callable[[From], Made]) -> Callable[[From], Made]:
    """Return a function that makes the same, once for each of the last `KEPT` objects."""
    kept: deque[tuple[From, Made]] = deque(maxlen=KEPT)

    def made(source: From) -> Made:
        for known, result in kept:
            if known is source:
                return result
        result = make(source)
        kept.append((source, result))
        return result

    return made
