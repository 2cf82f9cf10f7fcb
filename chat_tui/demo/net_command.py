"""`/net loss=20 delay=40 duplicate=10`: what the demo's network does, in words."""

from collections.abc import Callable
from typing import Final

from chat_tui.demo.acts import DELAY_MAX_MS, Act, Delay, Duplicate, Loss
from sync.errors import LocalError

COMMAND: Final = "/net"

PERCENT_MAX: Final = 100

USAGE: Final = "as in /net loss=20 delay=40 duplicate=10 (percent, milliseconds, percent)"

_ACTS: Final[dict[str, tuple[Callable[[int], Act], int]]] = {
    "loss": (Loss, PERCENT_MAX),
    "delay": (Delay, DELAY_MAX_MS),
    "duplicate": (Duplicate, PERCENT_MAX),
}
"""Values that can be set, and the highest of each."""


def acts_of(line: str) -> tuple[Act, ...]:
    """Return what a line that begins with a slash does to the demo's network.

    Raises:
        LocalError: it is another command, or names what there is not; says what to write.
    """
    command, *wishes = line.split()
    if command.casefold() != COMMAND:
        raise LocalError(
            f"Of the commands the demo has {COMMAND} alone, {USAGE}; // begins a line with a slash."
        )
    if not wishes:
        raise LocalError(f"Say what the network does, {USAGE}.")
    return tuple(_act_of(wish) for wish in wishes)


def _act_of(wish: str) -> Act:
    name, _, value = wish.casefold().partition("=")
    if name not in _ACTS:
        raise LocalError(f"Unknown setting {name!r}. Use loss, delay or duplicate, {USAGE}.")
    act, highest = _ACTS[name]
    number = value.rstrip("%ms")
    if not (number.isascii() and number.isdecimal()) or int(number[:9]) > highest:
        raise LocalError(f"{name} is a number from 0 to {highest:,}, {USAGE}.")
    return act(int(number))
