"""Checks what governance of a channel answered, in short parts that any thread may do."""

from collections import deque
from collections.abc import Generator, Sequence
from typing import Final, NamedTuple

from sync.calimero.governance import limits
from sync.calimero.governance.acl_view import Facts
from sync.calimero.governance.cross_check import Answer, CrossCheck, Divergence
from sync.calimero.governance.dag import Judgement
from sync.calimero.governance.ops import OpId
from sync.calimero.governance.wire import decode_stored
from sync.group.governing import Governing

READ_AT_ONCE: Final = 64
"""Ops that are read from the disk together: 2 MB of the largest."""


class Checked(NamedTuple):
    """One answer was checked; `divergence` is where the definition differs from it."""

    divergence: Divergence | None


Checks = Generator[Checked | None, None, None]
"""Answers that were checked, one after the other, and None wherever it may rest."""


class Checking:
    """The definition beside one running channel, over ops as the disk has them.

    Answers are checked first, by what the projection made of each op, and then that, op by op at
    its own cut: a cut of 10,000 ops takes a tenth of a second, so all of theirs take hours.
    """

    def __init__(self) -> None:
        self._check = CrossCheck()
        self._answers: deque[Answer] = deque()
        self._checks: Checks | None = None
        self._compared = 0
        """Ops whose own cuts were checked."""

    def __len__(self) -> int:
        return len(self._check)

    @property
    def is_idle(self) -> bool:
        """True once everything that is known here was checked."""
        return not self._answers and self._compared == len(self._check)

    def ask(self, answers: Sequence[Answer]) -> int:
        """Have answers checked; returns how many older ones are skipped for want of time."""
        self._answers += answers
        skipped = max(0, len(self._answers) - limits.ANSWERS_UNCHECKED_MAX)
        for _ in range(skipped):
            self._answers.popleft()
        return skipped

    def give_up(self) -> int:
        """Forget the answers, for ops are lacking; returns how many that skips."""
        skipped = len(self._answers)
        self._answers.clear()
        return skipped

    def lacking(self, governing: Governing) -> tuple[OpId, ...]:
        """Return the next ops that are to be read from the disk."""
        first = len(self._check)
        return tuple(
            [act.id for act in governing.governance.dag.acts[first : first + READ_AT_ONCE]]
        )

    def learn(self, contents: Sequence[bytes], governing: Governing) -> None:
        """Take in ops that were read; what the projection made of them is told, not believed."""
        for content in contents:
            op = decode_stored(content)
            self._check.add(op, told(governing.governance.act(op.id).judgement))

    def forget(self) -> None:
        """Let go of the ops; those that were checked are not checked again."""
        self._check, self._checks = CrossCheck(), None

    def checks(self) -> Checks:
        """Return the checks that are under way, or those of all that waits."""
        if self._checks is None:
            self._checks = self._all()
        return self._checks

    def _all(self) -> Checks:
        while not self.is_idle:
            if self._answers:
                divergence = yield from self._check.check_in_parts(self._answers.popleft())
            else:
                divergence = yield from self._check.check_op_in_parts(self._compared)
                self._compared += 1
            yield Checked(divergence)
        self._checks = None


def told(judgement: Judgement) -> Facts:
    """Return what the projection made of an op, as the definition says it."""
    return Facts(judgement.rank, judgement.lowers, judgement.touched, judgement.asks)
