"""Topic, pins and names of a channel: folds over its registers.

Anybody's topic and pins lie in registers of their own. What counts is the newest of those who have
the right to set them now, so nobody who was removed leaves a topic behind.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from sync.calimero.governance.ops import Key
from sync.calimero.state.contents import Held, Pin, Profile, Read, StateKind, Topic
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.registers import Registers

Allowed: TypeAlias = Callable[[Key], bool]
"""Returns whether somebody may do something now."""


class SetBy(NamedTuple):
    """Something that somebody has set: who, and the entry."""

    by: Key
    entry: StateEntry


def topic(registers: Registers, allowed: Allowed) -> tuple[str, SetBy] | None:
    """Return the topic, and who set it; None if there is none."""
    newest = _newest(registers, StateKind.TOPIC, allowed)
    for entry in newest:
        says = entry.says
        return None if not isinstance(says, Topic) else (says.text, SetBy(entry.author, entry))
    return None


def pins(registers: Registers, allowed: Allowed) -> tuple[tuple[bytes, SetBy], ...]:
    """Return the lines that are pinned, by their ids, and by whom; the pin set last comes first.

    Of a line what counts is the newest word of anybody who may: a pin, or its end.
    """
    decided: dict[bytes, SetBy | None] = {}
    for entry in _newest(registers, StateKind.PIN, allowed):
        pinned = isinstance(entry.says, Pin)
        decided.setdefault(entry.signed.name, SetBy(entry.author, entry) if pinned else None)
    return tuple([(name, by) for name, by in decided.items() if by is not None])


def profile(registers: Registers, author: Key) -> Profile | None:
    """Return how somebody wants to be shown; None if they have not said."""
    entry = registers.of(author, StateKind.PROFILE)
    says = None if entry is None else entry.says
    return says if isinstance(says, Profile) else None


def read_marks(registers: Registers) -> dict[Key, Read]:
    """Return up to where each who tells it has read."""
    marks = registers.of_kind(StateKind.READ).values()
    return {entry.author: says for entry in marks if isinstance(says := entry.says, Read)}


def held_marks(registers: Registers) -> dict[Key, Held]:
    """Return what each who tells it has on disk."""
    marks = registers.of_kind(StateKind.HELD).values()
    return {entry.author: says for entry in marks if isinstance(says := entry.says, Held)}


def _newest(registers: Registers, kind: StateKind, allowed: Allowed) -> list[StateEntry]:
    entries = [one for one in registers.of_kind(kind).values() if allowed(one.author)]
    return sorted(entries, key=lambda one: one.rank, reverse=True)
