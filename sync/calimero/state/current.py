"""Folds of a channel's registers at our heads of governance, made once for each change of them."""

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Key
from sync.calimero.governance.verdicts import Doing, may
from sync.calimero.state import folds
from sync.calimero.state.contents import Profile, Read, StateKind
from sync.calimero.state.registers import Registers
from sync.machine import Nanos


class Current(Struct, frozen=True):
    """Topic, pins, appearances and read marks of a channel.

    Those with a right now set topic and pins; where nobody governs everybody has it. Appearances,
    with the times at which they were set, are told of whoever said one; read marks of who is in.
    """

    topic: tuple[str, folds.SetBy] | None = None
    pins: tuple[tuple[bytes, folds.SetBy], ...] = ()
    profiles: Mapping[Key, tuple[Profile, Nanos]] = field(default_factory=dict)
    reads: Mapping[Key, Read] = field(default_factory=dict)


class CurrentState:
    """Folds of registers, kept until these or their channel's governance change.

    A snapshot is made many times a second, and a fold sorts what everybody has set.
    """

    def __init__(self) -> None:
        self._of: tuple[bytes, tuple[bytes, ...]] | None = None
        self._folded = Current()

    def now(self, registers: Registers, governance: Governance | None) -> Current:
        """Return the fold of registers, made anew if they changed."""
        heads = () if governance is None else governance.heads
        of = (registers.tree.root, tuple(heads))
        if of != self._of:
            self._folded = fold(registers, governance)
            self._of = of
        return self._folded


def fold(registers: Registers, governance: Governance | None) -> Current:
    """Return what registers come to; without `governance` nobody governs."""
    marks = folds.read_marks(registers)
    reacts = _allowed(governance, Doing.REACT)
    return Current(
        topic=folds.topic(registers, _allowed(governance, Doing.TOPIC)),
        pins=folds.pins(registers, _allowed(governance, Doing.PIN)),
        profiles={
            entry.author: (entry.says, entry.stamped)
            for entry in registers.of_kind(StateKind.PROFILE).values()
            if isinstance(entry.says, Profile)
        },
        reads={key: read for key, read in marks.items() if reacts(key)},
    )


def _allowed(governance: Governance | None, doing: Doing) -> Callable[[Key], bool]:
    """Return who may do something now."""
    if governance is None:
        return lambda _key: True
    if not governance.dag.acts:
        return lambda _key: False
    state = governance.now
    return lambda key: may(state.role(key), state.policy, doing)
