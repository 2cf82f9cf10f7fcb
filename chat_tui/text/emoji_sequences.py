"""Emoji of several characters: families, tones of skin, and signs drawn in colour.

Terminals do not agree on how many cells these have, so they are kept only where the terminal of
this run says that each kind has the two cells that we count (`chat_tui.terminal.driver` asks).

Rules:
1. A sequence is kept whole, or loses what joins it, as everywhere else.
2. At most four emoji are joined; what is longer no font has, and terminals count it differently.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache
from typing import Final

from rich.cells import cell_len

CELLS: Final = 2

JOINER: Final = "\u200d"
SELECTOR: Final = "\ufe0f"
TONES: Final = "\U0001f3fb-\U0001f3ff"

MEMBERS_MAX: Final = 4


class Joined(Enum):
    """Kind of a sequence; the value is a sample, which a terminal is asked about."""

    FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    TONE = "\U0001f44d\U0001f3fd"
    SELECTED = "\u2764\ufe0f"


_EMOJI: Final = (
    "\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f004-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
"""Places of emoji, without flags and tones; `cell_len` tells those that have two cells."""

_HAVE_TONES: Final = (
    "[\u26f9\u270a-\u270d\U0001f385\U0001f3c2-\U0001f3c4\U0001f3c7\U0001f3ca-\U0001f3cc"
    "\U0001f442\U0001f443\U0001f446-\U0001f450\U0001f466-\U0001f478\U0001f47c"
    "\U0001f481-\U0001f483\U0001f485-\U0001f487\U0001f48f\U0001f491\U0001f4aa"
    "\U0001f574\U0001f575\U0001f57a\U0001f590\U0001f595\U0001f596\U0001f645-\U0001f647"
    "\U0001f64b-\U0001f64f\U0001f6a3\U0001f6b4-\U0001f6b6\U0001f6c0\U0001f6cc\U0001f90c"
    "\U0001f90f\U0001f918-\U0001f91f\U0001f926\U0001f930-\U0001f939\U0001f93c-\U0001f93e"
    "\U0001f977\U0001f9b5\U0001f9b6\U0001f9b8\U0001f9b9\U0001f9bb\U0001f9cd-\U0001f9cf"
    "\U0001f9d1-\U0001f9dd\U0001fac3-\U0001fac5\U0001faf0-\U0001faf8]"
)
"""Emoji that tones are made for (Unicode's `Emoji_Modifier_Base`)."""

_TONED: Final = f"(.)[{TONES}]"

_ONE: Final = f"[{_EMOJI}][{SELECTOR}{TONES}]?"
_SEQUENCE: Final = f"{_ONE}(?:{JOINER}{_ONE})*"
"""Like the patterns above, compiled once a terminal has agreed: a first paint does without."""

_pattern = cache(re.compile)

_agreed: frozenset[Joined] = frozenset()


def keep(agreed: Iterable[Joined]) -> None:
    """Keep sequences of these kinds from now on, and no others."""
    global _agreed  # noqa: PLW0603  # a fact about the one terminal of this run
    _agreed = frozenset(agreed)


def kept_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where sequences stand in a text that are shown as they are."""
    if not _agreed:
        return
    for match in _pattern(_SEQUENCE).finditer(text):
        if len(match.group()) > 1 and _is_kept(match.group()):
            yield match.span()


def _is_kept(sequence: str) -> bool:
    members = sequence.split(JOINER)
    toned = _pattern(_TONED).findall(sequence)
    kinds = {Joined.FAMILY} if len(members) > 1 else set()
    if toned:
        kinds.add(Joined.TONE)
    if SELECTOR in sequence:
        kinds.add(Joined.SELECTED)
    return (
        kinds <= _agreed
        and len(members) <= MEMBERS_MAX
        and all(map(_pattern(_HAVE_TONES).match, toned))
        and cell_len(sequence) == CELLS
    )
