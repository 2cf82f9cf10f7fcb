"""Checks what governance of a channel answered, in short steps that any thread may take."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from sync.calimero.governance import limits
from sync.calimero.governance.cross_check import Answer, CrossCheck, Divergence
from sync.calimero.governance.ops import OpId
from sync.calimero.governance.wire import decode
from sync.group.governing import Governing

Step: TypeAlias = Callable[[], Divergence | None]


class Checking:
    """The definition beside one running channel, over ops as the disk has them."""

    def __init__(self) -> None:
        self._check = CrossCheck()

    def lacking(self, governing: Governing) -> tuple[OpId, ...] | None:
        """Return the ops that are to be read from the disk; None if there are too many to check."""
        acts = governing.governance.dag.acts
        if len(acts) > limits.OPS_CHECKED_MAX:
            self._check = CrossCheck()
            return None
        return tuple([act.id for act in acts if act.id not in self._check])

    def steps(self, contents: Sequence[bytes], answers: Sequence[Answer]) -> list[Step]:
        """Return the steps of a check, in order: first each op, ancestors first, then each answer.

        An op's own cut is worked out with it, so that no step takes long.
        """
        learnt: list[Step] = [partial(self._learn, content) for content in contents]
        return [*learnt, *[partial(self._check.check, answer) for answer in answers]]

    def _learn(self, content: bytes) -> None:
        op = decode(content)
        self._check.add(op)
        self._check.view((op.id,))
