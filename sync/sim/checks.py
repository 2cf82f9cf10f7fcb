"""Comparisons between the nodes of a world, and what is asserted of all of them.

What a node lets out is checked at once, by the witness of its channel (`sync.sim.invariants`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sync.calimero.governance.ops import Key, Role
from sync.machine import SECOND, ChannelId, Nanos
from sync.runner.runner import Runner
from sync.sim.bounds import check_bounds
from sync.sim.governance.witness import GovernanceWitness
from sync.sim.invariants import check_hints, check_wanted
from sync.sim.measure import Meter
from sync.sim.node import Node
from sync.sim.rooms import Room, Rooms
from sync.sim.timeline import EPOCH, Timeline

LOOKED_OVER: Final[Nanos] = 30 * SECOND
"""Between two looks at how full everybody's buffers are (I7), in the first ten minutes."""

LOOKS_SHARE: Final = 20
"""Afterwards a twentieth of the time so far lies between two looks: a day of silence would be spent
on looking. All are looked at once more at the end."""

LOOKED_AT: Final = 2
"""At so many nodes each time, in turn: it takes 2 ms for each, and much more in large groups."""

LOOKED_AT_END: Final = 32
"""At so many nodes at the end, one as far from the next as the other: in a crowd all are alike."""


@dataclass(slots=True)
class Checks:
    """Of one world.

    Attributes:
        honest: those of whom the invariants are asked.
        governed: the channel that is governed, if one is.
        error_rate: of the filters.
    """

    honest: Sequence[Node]
    rooms: Rooms
    governed: ChannelId | None
    timeline: Timeline
    meter: Meter
    error_rate: float
    _looks: int = 0

    # --- What nodes have -----------------------------------------------------------------------

    def converged(self) -> bool:
        """Return whether all nodes delivered the same messages; `check` compares logs (I2)."""
        return not any(
            room.witness.partial
            for channel, room in self.rooms.items()
            if channel != self.governed or not self._agree(channel, room)
        )

    def _agree(self, channel: ChannelId, room: Room) -> bool:
        """Return whether all who are in a governed channel hold the same: others need not."""
        there = [node for node in self._honest_in(room) if _is_in(node, channel)]
        held = [{message_id for _, message_id in node.disks[channel].log()} for node in there]
        return all(one == held[0] for one in held)

    def settled(self) -> bool:
        """Return whether no honest node waits for an acknowledgement or a missing message."""
        running = [node.runner for node in self.honest if node.runner is not None]
        channels = [group.sds for runner in running for group in runner.groups.values()]
        return not any(sds.outgoing.pending or sds.incoming.missing for sds in channels)

    def _honest_in(self, room: Room) -> list[Node]:
        return [node for node in self.honest if node.number in room.members]

    # --- At the end of a run -------------------------------------------------------------------

    def check(self) -> None:
        """Assert the invariants that hold at the end of a run."""
        for channel, room in self.rooms.items():
            there = [node for node in self._honest_in(room) if _is_in(node, channel)]
            disks = {node.number: node.disks[channel] for node in there}
            out = [node.disks[channel] for node in self._honest_in(room) if node not in there]
            room.witness.check_end(disks, out)
            if room.witness.governance is not None:
                self._check_governance(room, room.witness.governance)
        chances = sum(room.witness.hint_chances for room in self.rooms.values())
        check_hints(self.meter.false_hints, chances, self.error_rate)
        self.check_bounds()

    def _check_governance(self, room: Room, witness: GovernanceWitness) -> None:
        """I9 at the end: everybody's membership is that of the definition."""
        for node in self._honest_in(room):
            if node.runner is not None:
                governing = node.runner.groups[room.channel].governing
                assert governing is not None
                if not governing.governance.dag.acts:
                    continue
                witness.check_end(node.number, governing.governance)

    # --- At any time ---------------------------------------------------------------------------

    def check_bounds(self) -> None:
        """Assert the invariants that hold at any time and are not watched all the time (I7)."""
        for node in self.honest[:: max(1, len(self.honest) // LOOKED_AT_END)]:
            if node.runner is not None:
                _look_at(node.runner, node.number)

    def begin(self) -> None:
        """Look at how full the buffers are from now on, at a few nodes each time."""
        self.timeline.call(self.timeline.now + LOOKED_OVER, self._look_over)

    def _look_over(self) -> None:
        """Look at how full the buffers are of whose turn it is."""
        looked_at = [node for node in self.honest if node.runner is not None]
        first = self._looks * LOOKED_AT
        for number in range(min(LOOKED_AT, len(looked_at))):
            node = looked_at[(first + number) % len(looked_at)]
            assert node.runner is not None
            _look_at(node.runner, node.number)
        self._looks += 1
        now = self.timeline.now
        pause = max(LOOKED_OVER, (now - EPOCH) // LOOKS_SHARE)
        self.timeline.call(now + pause, self._look_over)


def _is_in(node: Node, channel: ChannelId) -> bool:
    """Return whether a node is in a channel by what it knows: who was removed hears no more."""
    governing = None if node.runner is None else node.runner.groups[channel].governing
    if governing is None:
        return True
    if not governing.governance.dag.acts:
        return False
    return governing.governance.now.role(Key(node.identity.public_key)) is not Role.NONE


def _look_at(one: Runner, node: int) -> None:
    """Assert what holds of the tables of a node at any time."""
    check_bounds(one, node)
    check_wanted(one, node)
