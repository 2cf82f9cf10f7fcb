"""Folds of a channel's registers at our heads, made once for each change of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sync.calimero.governance.ops import Key
from sync.calimero.governance.verdicts import Doing, may
from sync.calimero.state import folds
from sync.calimero.state.contents import Profile, Read, StateKind
from sync.group.governing import Governing
from sync.group.stating import Stating
from sync.machine import Nanos


@dataclass(frozen=True, slots=True)
class Folded:
    """Topic, pins, appearances and read marks of a channel.

    Those with a right now set topic and pins; where nobody governs everybody has it. Appearances,
    with the times at which they were set, are told of whoever said one; read marks of who is in.
    """

    topic: tuple[str, folds.SetBy] | None = None
    pins: tuple[tuple[bytes, folds.SetBy], ...] = ()
    profiles: Mapping[Key, tuple[Profile, Nanos]] = field(default_factory=dict)
    reads: Mapping[Key, Read] = field(default_factory=dict)


class StateFolds:
    """Folds of a channel's registers, kept until these or its governance change.

    A snapshot is made many times a second, and a fold sorts what everybody has set.
    """

    def __init__(self) -> None:
        self._of: tuple[bytes, tuple[bytes, ...]] | None = None
        self._folded = Folded()

    def now(self, stating: Stating, governing: Governing | None) -> Folded:
        """Return what the registers come to at our heads of governance."""
        heads = () if governing is None else governing.governance.heads
        of = (stating.registers.tree.root, tuple(heads))
        if of != self._of:
            self._folded = _fold(stating, governing)
            self._of = of
        return self._folded


def _fold(stating: Stating, governing: Governing | None) -> Folded:
    registers = stating.registers
    marks = folds.read_marks(registers)
    return Folded(
        topic=folds.topic(registers, _allowed(governing, Doing.TOPIC)),
        pins=folds.pins(registers, _allowed(governing, Doing.PIN)),
        profiles={
            entry.author: (entry.says, entry.stamped)
            for entry in registers.of_kind(StateKind.PROFILE).values()
            if isinstance(entry.says, Profile)
        },
        reads={key: read for key, read in marks.items() if _allowed(governing, Doing.REACT)(key)},
    )


def _allowed(governing: Governing | None, doing: Doing) -> Callable[[Key], bool]:
    """Return who may do something now."""
    if governing is None:
        return lambda _key: True
    if not governing.governance.dag.acts:
        return lambda _key: False
    state = governing.governance.now
    return lambda key: may(state.role(key), state.policy, doing)
