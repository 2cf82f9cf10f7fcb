"""Costs of an act of a hostile peer, by counts that are the same on every machine."""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Final

CALLS_MAX: Final = 3_000
"""Python calls that refusing a message may take, and ending its session: nothing grows with it."""

MEMORY_MAX: Final = 256 * 1024
"""Bytes allocated meanwhile; of what is well formed up to a point, that part is read."""


def calls_of(act: Callable[[], object]) -> int:
    """Return how many Python functions are called in an act."""
    count = 0

    def note(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def peak_of(act: Callable[[], object]) -> int:
    """Return the most bytes that are allocated in an act."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
