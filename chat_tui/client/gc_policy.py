"""Tunes the cyclic garbage collector, whose full passes stall the event loop."""

import gc
from typing import Final

YOUNG_MAX: Final = 5_000
"""New objects until the youngest are looked through: 0.2 ms. Python's 700 looks through whatever a
burst of messages has just made, and finds nothing."""

MIDDLE_EVERY: Final = 2
"""Times that, from one through all that is new since the last such one to the next. Python's own
number is 10: each takes 10 ms then while a history arrives, and all of them no less."""

FULL_EVERY: Final = 550
"""Middle collections from one through everything to the next; Python's own number is 10. Taking in
100,000 messages is 60 of them. Going through everything then takes 110 ms, more for every message
that is on its way, and found 54 objects in all that: what we make holds no cycles, but for what
belongs to a connection or a task."""


def put_off() -> None:
    """Look for nothing until `settle`: what a start makes is there to stay."""
    gc.disable()


def take_up() -> None:
    """Look as Python does, until somebody says otherwise."""
    gc.enable()


def clear_away() -> None:
    """Free what hangs together in cycles, as a simulated network does that nobody shows any more.

    It takes 20 ms and more, 0.2 s after one of hundreds of people; other full collections are rare.
    """
    gc.collect()


def settle() -> None:
    """The start is over: leave what it made alone, which stays for good, and look seldom."""
    gc.freeze()
    gc.set_threshold(YOUNG_MAX, MIDDLE_EVERY, FULL_EVERY)
    gc.enable()
