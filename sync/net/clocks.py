"""Tells the channels about clocks: ours, and those of their members.

They are told at the start, when a member joins, when a pong brings something else, and when our
clock jumps; never by a tick. A channel hears only of members that have proved it.
"""

from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from sync.group.clock_policy import Policy
from sync.group.clock_values import Follows, MemberClock, OwnClock
from sync.group.reference import END
from sync.machine import MILLISECOND, SECOND, ChannelId, Nanos, PeerId
from sync.net.clock import Clock
from sync.net.engine.engine import Engine
from sync.net.links.mesh import Mesh
from sync.release import RELEASED_NS

CLOCK_STEP: Final[Nanos] = 50 * MILLISECOND
"""Changes of a clock smaller than this are told to nobody: a LAN's delays vary by less."""

LOOKED_EVERY: Final[Nanos] = SECOND
"""Interval at which we look at our own clock, however many pongs come."""


def is_clock(wall: Nanos) -> bool:
    """Return whether a wall time is plausible: after this program's release and before 2100."""
    return RELEASED_NS <= wall < END


@dataclass(slots=True)
class Clocks:
    """Tells the machines of clocks.

    Attributes:
        clock: of this computer.
        mesh: whose peers tell theirs.
        engine: of the channels; has their machines look at what they were told.
        policy: who answers when it is asked whose clock is right.
    """

    clock: Clock
    mesh: Mesh
    engine: Engine
    policy: Policy
    _own: OwnClock | None = None
    _looked_at: Nanos = 0
    _told: dict[tuple[PeerId, ChannelId], MemberClock] = field(default_factory=dict)

    def tell_own(self, *, was_set: bool = False) -> None:
        """Tell every channel of our clock, if there is anything new to tell."""
        now = self._looked_at = self.clock.now()
        offset = self.clock.wall() - now
        before = self._own
        if before is not None and abs(offset - before.offset) < CLOCK_STEP:
            offset = before.offset
        synchronised = self.clock.synchronised()
        own = OwnClock(offset, synchronised, self.policy, was_set, RELEASED_NS)
        if not was_set and own == before:
            return
        self._own = replace(own, was_set=False)
        self.engine.runner.feed_all(own)
        self.engine.wake()

    def tell_policy(self, policy: Policy) -> None:
        """Another one answers from now on."""
        self.policy = policy
        self.tell_own()

    def heard(self, peer: PeerId) -> None:
        """A pong of `peer` came."""
        if self.clock.now() - self._looked_at >= LOOKED_EVERY:
            self.tell_own()
        for channel in self.mesh.peers.shared_with(peer):
            self.joined(peer, channel)

    def joined(self, peer: PeerId, channel: ChannelId) -> None:
        """Tell a channel of a member's clock, if that is known and differs from what was told."""
        link = self.mesh.peers.link_to(peer, channel)
        if link is None or link.wall_offset is None or channel not in self.engine.runner.groups:
            return
        standing = peer in self.mesh.peers.verified or peer in self.mesh.peers.met
        host = link.stream.remote_address[0]
        member = MemberClock(peer, link.wall_offset, host, standing, link.follows)
        before = self._told.get((peer, channel))
        if before is not None and abs(member.offset - before.offset) < CLOCK_STEP:
            member = replace(member, offset=before.offset)
        if member != before:
            self._told[peer, channel] = member
            self.engine.queue_input(channel, member)

    def gone(self, peer: PeerId, channel: ChannelId) -> None:
        """`peer` is no member of `channel` any more that we know of."""
        self._told.pop((peer, channel), None)

    def left(self, channel: ChannelId) -> None:
        """We are no longer in `channel`."""
        self._told = {key: member for key, member in self._told.items() if key[1] != channel}

    def follows(self, peer: PeerId) -> Follows:
        """Return by whose clock we go, as `peer` is told."""
        told = Follows.NOBODY
        for channel in self.mesh.peers.shared_with(peer):
            group = self.engine.runner.groups.get(channel)
            if group is not None:
                told = max(told, group.aside.reference.follows(peer), key=lambda one: one.value)
        return told
