"""Ops whose parents are not here yet, and ids of those that were refused."""

from collections import Counter, OrderedDict, defaultdict

from sync.calimero.governance import limits
from sync.calimero.governance.ops import Key, OpId, SignedGroupOp
from sync.calimero.governance.refusal import Refusal


class Waiting:
    """Waiting ops of a channel, bounded in number and bytes.

    Over the bound, the oldest op of the signer with the most of them is forgotten: who floods
    drives out none but their own.
    """

    def __init__(self) -> None:
        self.ops: OrderedDict[OpId, SignedGroupOp] = OrderedDict()
        self.size = 0
        """Bytes of all of them."""
        self.forgotten = 0
        """Ops that were forgotten for want of room."""
        self._children: dict[OpId, set[OpId]] = defaultdict(set)
        self._of_signer: Counter[Key] = Counter()

    def add(self, op: SignedGroupOp, missing: tuple[OpId, ...]) -> None:
        """Keep an op until `missing` have come."""
        if op.id in self.ops:
            return
        self.ops[op.id] = op
        self.size += len(op.content)
        self._of_signer[op.signed.signer] += 1
        for parent in missing:
            self._children[parent].add(op.id)
        while len(self.ops) > limits.WAITING_MAX or self.size > limits.WAITING_SIZE_MAX:
            self._forget_one()

    def children(self, parent: OpId) -> list[SignedGroupOp]:
        """Return the ops that wait for `parent`, by their place in the transcript."""
        ops = [self.ops[child] for child in self._children.get(parent, ())]
        return sorted(ops, key=lambda op: (op.signed.lamport, op.id))

    def take(self, op: SignedGroupOp) -> None:
        """Let go of an op that waits no longer."""
        del self.ops[op.id]
        self.size -= len(op.content)
        self._of_signer[op.signed.signer] -= 1
        if not self._of_signer[op.signed.signer]:
            del self._of_signer[op.signed.signer]
        for parent in op.signed.parents:
            if (children := self._children.get(parent)) is not None:
                children.discard(op.id)
                if not children:
                    del self._children[parent]

    def wanted(self) -> tuple[OpId, ...]:
        """Return the ids of ops that others wait for and that do not wait themselves."""
        return tuple(sorted(parent for parent in self._children if parent not in self.ops))

    def _forget_one(self) -> None:
        signer, _ = max(self._of_signer.items(), key=lambda one: (one[1], one[0]))
        oldest = next(op for op in self.ops.values() if op.signed.signer == signer)
        self.take(oldest)
        self.forgotten += 1


class RefusedOps:
    """Ids of refused ops and why, the latest ones: what stands on them is refused too."""

    def __init__(self) -> None:
        self.reasons: OrderedDict[OpId, Refusal] = OrderedDict()

    def add(self, op: OpId, refusal: Refusal) -> None:
        """Remember a refused op."""
        self.reasons[op] = refusal
        if len(self.reasons) > limits.REFUSED_REMEMBERED_MAX:
            self.reasons.popitem(last=False)

    def __contains__(self, op: OpId) -> bool:
        return op in self.reasons
