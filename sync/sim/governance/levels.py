"""Levels of a governed channel on the links of a world: what each node gives each other one.

The live ones are `sync.net.links.levels`. No secret is made here: members prove all epochs, and
somebody with a code the one that was the newest when the code was made.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import NamedTuple

from sync.calimero.governance.ops import OpId
from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.group import values
from sync.group.governing import Governing
from sync.machine import ChannelId
from sync.sim.node import Node


class Code(NamedTuple):
    """A code that was given out: its ticket, and the op that began the epoch it proves."""

    ticket: Identity
    epoch: OpId


class Level(IntEnum):
    """Level of the channel on a link, as one end of it sees the other, rising."""

    NONE = 0
    STUB = 1
    GOVERNANCE = 2
    FULL = 3


class Levels:
    """Levels between all nodes.

    Args:
        channel: the governed channel.
        nodes: all nodes.
        strangers: nodes that were not in when the channel was founded.
        feed: gives a node an input of a channel.
        later: does something after a trip over the network.
    """

    def __init__(
        self,
        channel: ChannelId,
        nodes: Sequence[Node],
        strangers: frozenset[int],
        feed: Callable[[Node, values.Input, ChannelId], None],
        later: Callable[[Callable[[], None]], None],
    ) -> None:
        self.channel = channel
        self.codes: dict[int, OpId] = {}
        """By node that has a code: the op that began the epoch of it."""
        self.given: list[Code] = []
        """Codes that were made, the newest last."""
        self._nodes, self._strangers = nodes, strangers
        self._feed, self._later = feed, later
        self._levels: dict[tuple[int, int], Level] = {}
        self.ended: Callable[[Node, Node], None] = lambda one, other: None
        """Ends all streams between two nodes, of which the first gives the other no more."""
        self.joined: Callable[[Node, Node], None] = lambda one, other: None
        """Told that the first of two nodes gives the other everything from now on."""

    def level(self, node: Node, other: Node) -> Level:
        """Return the level of `other` at `node`."""
        return self._levels.get((node.number, other.number), Level.NONE)

    def are_full(self, node: Node, other: Node) -> bool:
        """Return whether a node gives another one everything."""
        return self.level(node, other) is Level.FULL

    def takes_ops(self, node: Node, sender: Node) -> bool:
        """Return whether a node takes ops that another one pushes."""
        level = self.level(node, sender)
        return level >= Level.GOVERNANCE or (level is Level.STUB and self.has_newest(node, sender))

    def has_newest(self, node: Node, other: Node) -> bool:
        """Return whether `other` has a code of the epoch that is the newest at `node`."""
        governance = _governing(node, self.channel).governance
        if not governance.dag.acts:
            return False
        return self.codes.get(other.number) == governance.dag.acts[governance.now.epoch].id

    def linked(self, one: Node, other: Node) -> None:
        """There is a link between two nodes."""
        self._weigh(one, other)
        self._weigh(other, one)

    def gone(self, one: Node, other: Node) -> None:
        """There is none any more."""
        self._change(one, other, Level.NONE)
        self._change(other, one, Level.NONE)

    def stopped(self, node: Node) -> None:
        """A node has no link any more, and nobody has noticed."""
        for pair in [pair for pair in self._levels if pair[0] == node.number]:
            del self._levels[pair]

    def weigh_all(self, node: Node) -> None:
        """Find the levels at a node anew: others may be in now, or out."""
        for number in sorted(node.joined):
            self._weigh(node, self._nodes[number])

    def got_code(self, node: Node, epoch: OpId) -> None:
        """A stranger has a code now, and proves its epoch on all links."""
        self.codes[node.number] = epoch
        for number in sorted(node.joined):
            self.linked(node, self._nodes[number])

    def _weigh(self, node: Node, other: Node) -> None:
        if node.runner is not None:
            self._change(node, other, self._found(node, other))

    def _found(self, node: Node, other: Node) -> Level:
        if not (self._knows(node) and self._knows(other)):
            return Level.NONE
        governing = _governing(node, self.channel)
        is_in = governing.is_in(other.identity.peer_id)
        if is_in is False:
            return Level.STUB
        if governing.is_in(node.identity.peer_id) is not True:
            return Level.GOVERNANCE
        if is_in:
            return Level.FULL
        return Level.GOVERNANCE if self.has_newest(node, other) else Level.NONE

    def _knows(self, node: Node) -> bool:
        return node.number not in self._strangers or node.number in self.codes

    def _change(self, node: Node, other: Node, level: Level) -> None:
        before, peer = self.level(node, other), other.identity.peer_id
        if level is before:
            return
        self._levels[node.number, other.number] = level
        if before is Level.FULL:
            self._feed(node, values.PeerGone(peer), self.channel)
            self.ended(node, other)
        if before is Level.GOVERNANCE:
            self._feed(node, values.GovernanceLinked(peer, here=False), self.channel)
        if level is Level.FULL:
            self._join(node, other)
        elif level is Level.GOVERNANCE:
            self._feed(node, values.GovernanceLinked(peer, here=True), self.channel)
        elif level is Level.STUB:
            self._tell_out(node, other)

    def hears_beat(self, node: Node, other: Node, payload: bytes) -> bool:
        """Return whether a node hears the heads that another one tells.

        One who is out is told so, once more, if they do not show that it is aware. With the newest
        epoch they are heard all the same, since it may have come in again.
        """
        level = self.level(node, other)
        if level is not Level.STUB:
            return level >= Level.GOVERNANCE
        with suppress(RemoteError):  # a hostile member's: nothing comes of it
            if _governing(node, self.channel).is_unaware(other.identity.peer_id, payload):
                self._tell_out(node, other)
        return self.has_newest(node, other)

    def _tell_out(self, node: Node, other: Node) -> None:
        offered = values.OpsOffered(node.identity.peer_id)
        self._later(lambda: self._feed(other, offered, self.channel))

    def _join(self, node: Node, other: Node) -> None:
        peer = other.identity.peer_id
        self._feed(node, values.PeerJoined(peer), self.channel)
        spoken = other.runner.protocols.announced if other.runner is not None else ()
        if spoken:
            self._feed(node, values.PeerAnnounced(peer, frozenset(spoken)), self.channel)
        self.joined(node, other)


def _governing(node: Node, channel: ChannelId) -> Governing:
    assert node.runner is not None
    governing = node.runner.groups[channel].governing
    assert governing is not None
    return governing
