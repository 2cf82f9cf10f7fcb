"""Labelled parts of a message's details, and the lines that a part consists of."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from chat_tui.text.listing import listed

NAMES_SHOWN: Final = 12
"""Names in one line; a crowd is counted."""


class Said(Struct, frozen=True):
    """One line before it is wrapped; `quiet` for what is a formula, or only beside the point."""

    text: str
    quiet: bool = False


class Part(Struct, frozen=True):
    """One part, under a label; the first has none."""

    label: str
    lines: tuple[Said, ...]


def single(label: str, text: str) -> Part:
    """Return a part of one line."""
    return Part(label, (Said(text),))


def some_of(names: Sequence[str]) -> str:
    """Return names as `alice, bob and carol`; of a crowd the first."""
    more = len(names) - NAMES_SHOWN
    return listed(names[:NAMES_SHOWN], f"{more:,} more" if more > 0 else "")
