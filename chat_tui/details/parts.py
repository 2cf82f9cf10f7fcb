"""Labelled parts of a message's details, and the lines that a part consists of."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

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


def listed(names: Sequence[str]) -> str:
    """Return names as `alice, bob and carol`; of a crowd the first."""
    if len(names) > NAMES_SHOWN:
        return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN:,} more"
    return " and ".join([part for part in (", ".join(names[:-1]), names[-1]) if part])
