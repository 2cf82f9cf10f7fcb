"""A channel this profile is in: what its disk remembers and its machines are told."""

from msgspec import Struct

from sync.machine import ChannelId, Nanos, PeerId


class Membership(Struct, frozen=True):
    """A channel this profile is in. `secret` never leaves the profile but in an invite."""

    channel: ChannelId
    name: str
    secret: bytes
    open: bool
    profile: str
    """Name of the SDS parameters: `lan` or `waku`."""
    joined_ns: Nanos
    direct: PeerId | None = None
    """The other one, if it is a channel of two."""
    genesis: bytes | None = None
    """Id of the op that founded it, 32 bytes, if it is governed: the channel's id begins it."""

    @property
    def title(self) -> str:
        """Its name with the sign that tells a channel of two from all others."""
        return f"{'#' if self.direct is None else '@'}{self.name}"

    @property
    def governed(self) -> bool:
        """True if a signed history says who is in."""
        return self.genesis is not None

    def __repr__(self) -> str:
        return f"Membership({self.name!r}, {self.channel})"
