"""Takes the frames that arrive at nodes: those that get through are noted, and handed on.

The counterpart of `sync.sim.outlet`.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sync.machine import ChannelId, MessageId
from sync.runner.input_queue import Addressed
from sync.sds.message import Delivery, Message
from sync.sim.governance.levels import Levels
from sync.sim.links import Links
from sync.sim.measure import Meter
from sync.sim.network import Network
from sync.sim.node import Node
from sync.sim.outlet import Frame
from sync.sim.timeline import Timeline
from sync.sim.turning import Turning
from sync.sim.watch import Watch
from sync.view.view import FrameKind

HINT_CHANCES_MAX: Final = 64
"""Lines that wait for an acknowledgement, up to which it is looked up which of them the sender of a
filter holds; of more, all count as chances of a false "possibly"."""


@dataclass(slots=True)
class Inlet:
    """Of all nodes of a world.

    Attributes:
        levels: of the governed channel, where there is one.
        hostile_from: the number of the first hostile node.
        overhear: is given what hostile nodes get.
    """

    nodes: Sequence[Node]
    network: Network
    timeline: Timeline
    links: Links
    turning: Turning
    meter: Meter
    levels: Levels | None = None
    watch: Watch | None = None
    hostile_from: int = sys.maxsize
    overhear: Callable[[Node, bytes], None] | None = None

    def arrive(self, node: Node, frame: Frame) -> None:
        """A frame is at a node, which may be down by now, or have no link to its sender."""
        sender, event = frame.sender, frame.event
        if self.watch is not None:
            self.watch.arrived(sender, node, self.timeline.now)
        if node.runner is None or not self.links.carries(sender, node):
            if self.watch is not None:
                self.watch.unheard(sender, node, event)
            return
        self.network.frames_received += 1
        channel, levels = frame.room.channel, self.levels
        if (
            levels is not None
            and channel == levels.channel
            and not levels.are_full(node, self.nodes[sender])
        ):
            return  # it is not in, as far as is known here
        if node.tap is not None:
            now = self.timeline.now
            node.tapped(now, channel, event.peer, FrameKind.SDS, event.payload, sent=False)
        if node.number >= self.hostile_from:
            assert self.overhear is not None
            self.overhear(node, event.payload)
        elif frame.message is not None:
            self._note_evidence(node, frame, frame.message)
        overrun = self.turning.arrive(node, sender, len(event.payload), Addressed(channel, event))
        if overrun:
            self.links.overrun(sender, node)

    def _note_evidence(self, node: Node, frame: Frame, message: Message) -> None:
        """Note what a frame proves to who gets it, before it says what it makes of that."""
        assert node.runner is not None
        channel = frame.room.channel
        if message.repair_request and frame.sender < self.hostile_from:
            rows = node.disks[channel].rows
            asked = [one for one in message.repair_request if one.message_id in rows]
            self.meter.requests_heard += bool(asked)
        pending = _pending(node, channel)
        if not pending or message.lamport is None:
            return
        witness = frame.room.witness
        if not message.content and message.sender_id == frame.event.peer:
            witness.heard(node.number, message, frame.sender, pending)
        if frame.sender < self.hostile_from and message.bloom_filter is not None:
            held = self.nodes[frame.sender].disks[channel].rows
            many = len(pending) > HINT_CHANCES_MAX
            lacks = len(pending) if many else sum([one not in held for one in pending])
            witness.hint_chances += lacks


def _pending(node: Node, channel: ChannelId) -> Collection[MessageId]:
    """Return which lines of a node wait for an acknowledgement, by its disk until it has loaded."""
    assert node.runner is not None
    if not node.loading:
        return node.runner.groups[channel].sds.outgoing.pending
    me, rows = node.identity.peer_id, node.disks[channel].rows
    return {
        one
        for one, row in rows.items()
        if row.message.entry.header.author == me and row.delivery is not Delivery.ACKNOWLEDGED
    }
