"""Reading: how long a sentence takes, and which one is the sentence of now. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from chat_tui.demo.cast import Said
from sync.machine import MILLISECOND, SECOND, Nanos

CHARACTER: Final[Nanos] = 45 * MILLISECOND
"""Of the viewer's time for one: some 240 words a minute."""

READ_LEAST: Final[Nanos] = 1500 * MILLISECOND
READ_MOST: Final[Nanos] = 7 * SECOND

LOOK_BACK: Final = 40
"""Newest sentences among which the one of now is."""


def time_to_read(said: Said) -> Nanos:
    """Return the viewer's time that a sentence takes to be read."""
    return min(READ_MOST, max(READ_LEAST, len(said.plain) * CHARACTER))


def sentence_of_now(said: Sequence[Said], now: Nanos, viewed: Callable[[Nanos], Nanos]) -> int:
    """Return the place of the sentence that is read now: of the weightiest the newest.

    One that nobody has had time to read gives way only to one that weighs as much. Without any,
    it is the newest of all. `viewed` maps simulated times to the viewer's.
    """
    seen = viewed(now)
    best = len(said) - 1
    for place in range(len(said) - 1, max(-1, len(said) - 1 - LOOK_BACK), -1):
        one = said[place]
        unread = seen - viewed(one.at) < time_to_read(one)
        if unread and one.weight > said[best].weight:
            best = place
    return best
