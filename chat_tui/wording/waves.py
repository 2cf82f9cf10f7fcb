"""Decoding of a sketch in signs and in words: which symbols became pure, and in which wave.

A symbol is pure if only one message that differs is in it. Taken out of its other symbols, that
message makes some of these pure: the next wave.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from chat_tui.text.times import count

ACROSS: Final = 32
"""Signs of one row."""

ROWS: Final = 2
"""Rows of one payload: the 64 symbols of an opening."""

DIGITS: Final = "123456789"
LATER: Final = "+"
NEVER: Final = "."
"""Of a symbol that never was pure: it was empty, or others told what is in it. Drawn as what is
equal in a payload of ranges."""

WAVES_TOLD: Final = 12
"""Waves that are counted in words."""


def wave_rows(waves: Sequence[int], across: int = ACROSS) -> list[str]:
    """Return the first symbols as rows of signs: the wave in which each became pure."""
    signs = "".join([_sign(one) for one in waves[: ACROSS * ROWS]])
    return [signs[at : at + across] for at in range(0, len(signs), across)]


def waves_said(waves: Sequence[int]) -> str:
    """Return how many of the first symbols became pure in each wave."""
    pure = Counter([one for one in waves if one])
    if not pure:
        return f"none of {count(len(waves), 'symbol')} was pure"
    told = [f"{pure[one]:,}" for one in range(1, max(pure) + 1)]
    more = ", …" if len(told) > WAVES_TOLD else ""
    of = count(len(waves), "symbol")
    words = f"{', '.join(told[:WAVES_TOLD])}{more} pure of {of}"
    return f"{count(max(pure), 'wave')}: {words}"


def waves_plainly(waves: Sequence[int]) -> str:
    """Return the same for who does not know the word pure."""
    found = Counter([one for one in waves if one])
    of = count(len(waves), "symbol")
    if not found:
        return f"none of {of} has a line that differs for itself"
    first, *others = [found[one] for one in range(1, max(found) + 1)][:WAVES_TOLD]
    words = f"{first:,} of {of} {'has' if first == 1 else 'have'} one line that differs alone"
    if others:
        more = ", then ".join([f"{one:,} more" for one in others])
        words += f"; with those lines taken out, {more}"
    return words


def _sign(wave: int) -> str:
    if not wave:
        return NEVER
    return DIGITS[wave - 1] if wave <= len(DIGITS) else LATER
