"""I8 and I9: everything that governance answers in a world, against its definition."""

from collections.abc import Sequence

from sync.calimero.governance.cross_check import Answer, CrossCheck, Divergence, allowed
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Key, OpId
from sync.calimero.governance.verdicts import Plane
from sync.calimero.governance.wire import decode
from sync.entries.entry import Header
from sync.group.governing import Governing, doing
from sync.group.records import StoreOp
from sync.machine import PeerId


class GovernanceWitness:
    """Sees all ops of a governed channel, and asks the definition what each node was told.

    One definition serves all nodes: what it says of a cut does not depend on what else is there.
    """

    def __init__(self, founded: Sequence[StoreOp]) -> None:
        self.check = CrossCheck()
        self.answers = 0
        """Answers of all nodes that the definition was asked about."""
        self.taken(founded)

    def taken(self, records: Sequence[StoreOp]) -> None:
        """A node took ops in, ancestors first."""
        for record in records:
            op = decode(record.content)
            if op.id not in self.check:
                self.check.add(op)

    def turned(self, node: int, governing: Governing) -> None:
        """I9: no answer of the projection differs from the definition's."""
        for answer in governing.answers.take():
            self.answers += 1
            divergence = self.check.check(answer)
            assert divergence is None, f"I9: node {node}: {told(divergence)}"

    def delivered(self, node: int, header: Header) -> None:
        """I8: whoever wrote what is shown might write it at the cut that they named."""
        heads = tuple([OpId(head) for head in header.governance])
        author = Key(bytes.fromhex(header.author))
        there = allowed(self.check.view(heads), author, doing(header.kind))
        assert there, f"I8: node {node} shows a line of {header.author}, who might not write it"

    def check_end(self, node: int, governance: Governance) -> None:
        """I9: the projection at a node's heads is the definition's view of them."""
        view, state = self.check.view(governance.heads), governance.now
        roles = {key: one.role for key, one in state.people.items() if one.member}
        assert roles == view.roles, f"I9: node {node}: {Plane.SYNC.value}, roles differ at the end"
        assert state.policy == view.policy, f"I9: node {node}: another policy at the end"


def told(divergence: Divergence) -> str:
    """Return a divergence in words."""
    plane, answer = divergence
    return (
        f"unified_projection_divergence on {plane.value}: the projection "
        f"{'grants' if answer.granted else 'denies'} {_short(answer)}"
    )


def _short(answer: Answer) -> str:
    asked = "to sync" if answer.doing is None else f"to {answer.doing.value}"
    return f"{PeerId(answer.key.hex())[:8]} {asked}"
