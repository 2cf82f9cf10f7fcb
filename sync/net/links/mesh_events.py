"""The events that the mesh reports to the node, and the questions it asks of it."""

from typing import Protocol

from sync.calimero.governance.keys import EpochSecret
from sync.group.clock_values import Follows
from sync.machine import ChannelId, PeerId
from sync.net.links.frames import Open, RootFrame, StateFrame, Told
from sync.net.links.listener import Serve
from sync.net.links.stream import SecureStream


class GovernanceEvents(Protocol):
    """The node's part that knows of governed channels."""

    def is_in(self, peer: PeerId, channel: ChannelId) -> bool | None:
        """Return whether somebody, ourselves perhaps, is in a governed channel.

        False: was in, and is out. None: not as far as is known here.
        """

    def governs(self, peer: PeerId, channel: ChannelId, *, here: bool) -> None:
        """Ops of a governed channel are exchanged with `peer`, which gets nothing else of it."""

    def op_came(self, peer: PeerId, channel: ChannelId, content: bytes) -> None:
        """A signed op of a governed channel came."""

    def heartbeat_came(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """A peer tells the heads of governance that it has."""

    def is_unaware(self, peer: PeerId, channel: ChannelId, payload: bytes) -> bool:
        """Return whether somebody who is out does not know that, by the heads that it tells."""

    def secret_came(self, peer: PeerId, channel: ChannelId, given: EpochSecret) -> None:
        """A member hands over the secret of an epoch, to be believed once it opens older ones."""

    def told(self, peer: PeerId, channel: ChannelId, told: Told) -> None:
        """A peer says why we get no entries of a governed channel."""


class Events(Protocol):
    """The way into the node: `sync.net.inlet`."""

    @property
    def governance(self) -> GovernanceEvents:
        """Hears of governed channels, and knows who is in."""

    def joined(self, peer: PeerId, channel: ChannelId) -> None:
        """`peer` has proved `channel` over a link."""

    def gone(self, peer: PeerId, channel: ChannelId) -> None:
        """No link carries `channel` to `peer` any more."""

    def announced(self, peer: PeerId, channel: ChannelId, protocols: tuple[str, ...]) -> None:
        """`peer` says which protocols of sessions it speaks; once for each link and channel.

        None are told only where we speak others than everybody does.
        """

    def takes_part(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """`peer`, which has proved `channel` and maybe others, announces its author logs."""

    def stated(self, peer: PeerId, frame: StateFrame | RootFrame) -> None:
        """State entries of `peer` came, or its root."""

    def arrived(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """An SDS message came."""

    def renamed(self, peer: PeerId) -> None:
        """`peer` came, told its nick, or went."""

    def knocked(self, peer: PeerId) -> None:
        """`peer` has proved a channel that none of ours is: a channel of two, perhaps."""

    def ponged(self, peer: PeerId) -> None:
        """A pong of `peer` came: its clock is known anew."""

    def timed(self, peer: PeerId) -> None:
        """A pong of `peer` came: it is known anew how long its links take."""

    def follows(self, peer: PeerId) -> Follows:
        """Return by whose clock we go, as a pong to `peer` says it."""

    def refused(self, who: str, reason: str) -> None:
        """Somebody sent or did something that it must not."""

    def twin(self, host: str, port: int) -> None:
        """Another program answers at an address with our own key: this profile runs twice."""

    def skipped(self, who: str, size: int) -> None:
        """Somebody sent a frame of `size` bytes, of a kind unknown here, that was passed over."""

    async def offered(self, stream: SecureStream, opened: Open) -> Serve:
        """A peer opens a connection for a session; raises `RemoteError` if it must not."""

    async def breathe(self, peer: PeerId) -> None:
        """Return when there is room for more from `peer`."""
