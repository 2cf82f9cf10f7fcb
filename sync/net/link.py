"""One link to one peer: its channel proofs, its pings, its frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.net.frames import (
    Frame,
    Goodbye,
    Open,
    Ping,
    Pong,
    Proof,
    decode,
    encode,
)
from sync.net.membership import Membership
from sync.net.noise import Role
from sync.net.stream import SecureStream

PROTOCOL = "/chat-tui/link/1.0.0"
"""What a dialler opens a link with."""

CONTEST_MAX: Nanos = 3 * SECOND
"""How long duplicate links may stay undecided; then the silent ones go."""


@dataclass(slots=True)
class Link:
    """See the module docstring. Times are the machines' clock."""

    stream: SecureStream
    membership: Membership
    address: tuple[str, int]
    """Where the peer accepts connections; port 0 where it does not."""
    opened_at: Nanos
    heard_at: Nanos
    answered_at: Nanos = 0
    """When the answer to our last ping came; 0 if none came yet."""
    pinged_at: Nanos = 0
    nonce: int = 0
    rtt: Nanos | None = None
    clock_offset: Nanos | None = None
    """How far the peer's wall clock is ahead of ours."""
    nick: str | None = None
    """What the peer wants to be called; None until it has said so in a channel of ours."""
    away: str = ""
    """Why the peer says it is away; empty while it does not."""
    outbox: list[bytes] = field(default_factory=list)

    @classmethod
    def over(
        cls,
        stream: SecureStream,
        address: tuple[str, int],
        secrets: Mapping[ChannelId, bytes],
        now: Nanos,
    ) -> "Link":
        """Return the link over a stream whose `Open` has been exchanged."""
        membership = Membership(stream.role, stream.handshake_hash, secrets)
        return cls(stream, membership, address, opened_at=now, heard_at=now)

    @property
    def peer(self) -> PeerId:
        """Who is at the other end."""
        return self.stream.peer

    @property
    def dialled(self) -> bool:
        """Whether we dialled."""
        return self.stream.role is Role.INITIATOR

    @property
    def shared(self) -> frozenset[ChannelId]:
        """Our channels that the peer has proved to know."""
        return self.membership.shared

    def send(self, *frames: Frame) -> None:
        """Send frames at once."""
        self.stream.send_batch([encode(frame) for frame in frames])

    def queue(self, frame: bytes) -> None:
        """Send an encoded frame with the next `flush`, packed with others."""
        self.outbox.append(frame)

    def flush(self) -> None:
        """Send what is queued, in as few records as it fits in."""
        if self.outbox:
            self.stream.send_batch(self.outbox)
            self.outbox = []

    def ping(self, now: Nanos, wall: Nanos) -> None:
        """Ask whether the peer is there; tells it our wall clock."""
        self.nonce += 1
        self.pinged_at = now
        self.send(Ping(self.nonce, wall))

    def ponged(self, pong: Pong, now: Nanos, wall: Nanos) -> None:
        """Learn round-trip time and clock offset from the answer to our last ping."""
        if pong.nonce == self.nonce:
            self.answered_at = now
            self.rtt = now - self.pinged_at
            self.clock_offset = pong.wall + self.rtt // 2 - wall

    def close(self, reason: str) -> None:
        """Say why and close."""
        self.flush()
        self.send(Goodbye(reason))
        self.stream.close()


def superfluous(links: Sequence[Link], me: PeerId, now: Nanos) -> list[Link]:
    """Return which of several links to one peer must go: none while that is not clear yet.

    It is clear once all have answered a ping since the newest of them opened; who has not after
    `CONTEST_MAX` goes. An answer comes after the answers to our proofs, so the link that stays
    carries all channels by then.
    """
    if len(links) == 1:  # nearly always
        return []
    rivals = [link for link in links if not link.stream.closed]
    newest = max([link.opened_at for link in rivals], default=now)
    alive = [link for link in rivals if link.answered_at > newest]
    if not alive or (len(alive) < len(rivals) and now - newest <= CONTEST_MAX):
        return []
    chosen = keep(alive, me)
    return [link for link in rivals if link is not chosen]


def keep(links: Sequence[Link], me: PeerId) -> Link:
    """Return which of several answering links to one peer to keep; both ends decide alike.

    It is one that the smaller key dialled, if there is one. Of several, the order in which they
    opened may differ between the ends; the handshake hash does not.
    """
    ours_wins = me < links[0].peer
    return max(links, key=lambda link: (link.dialled == ours_wins, link.stream.handshake_hash))


async def read_open(stream: SecureStream) -> Open:
    """Return what the dialler opened the connection for.

    Raises:
        RemoteError: it sent something else, or nothing.
    """
    frame = await _read(stream)
    if not isinstance(frame, Open):
        raise RemoteError("the first frame does not say what the connection is for")
    return frame


async def read_proof(stream: SecureStream) -> Proof:
    """Return the channel proof that a session's connection begins with.

    Raises:
        RemoteError: it sent something else, or nothing.
    """
    frame = await _read(stream)
    if not isinstance(frame, Proof):
        raise RemoteError("a session's connection does not prove a channel")
    return frame


async def _read(stream: SecureStream) -> Frame:
    data = await stream.receive()
    if data is None:
        raise RemoteError("the peer closed the connection before saying what for")
    return decode(data)
