"""One link to one peer: its channel proofs, its pings, its frames."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sync.calimero.governance.keys import EpochSecret
from sync.errors import RemoteError
from sync.group.clock_values import Follows
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.net.links.channel_proofs import PROOFS_MAX, Membership
from sync.net.links.frames import (
    GOVERNANCE,
    Frame,
    Goodbye,
    Open,
    Ping,
    Pong,
    Presence,
    Proof,
    decode,
    encode,
)
from sync.net.links.levels import Level
from sync.net.links.noise import Role
from sync.net.links.stream import SecureStream, patience
from sync.structures.link_trips import step
from sync.structures.token_bucket import Buckets

PROTOCOL = "/chat-tui/link/1.0.0"
"""Protocol id with which a dialler opens a link."""

CONTEST_MAX: Nanos = 3 * SECOND
"""Time for which duplicate links may stay undecided; then the silent ones go."""

UNANSWERED_MAX: Nanos = 10 * SECOND
"""Time for which duplicates may stay of which none answers: a peer may be busy for a while."""

LINK_FRAME_MAX = 256 * 1024
"""Bytes of one frame on a link, twice the largest SDS message: there are many links."""

STRANGER_BYTES_MAX = 4 * 1024
"""Of a frame that a stranger has begun: its largest, a presence, has 700."""

PINGS_PER_SECOND = 1.0
PINGS_BURST = 16.0
"""Pings of one link that are answered: one every 5 s, and one of each link while duplicates are
being settled."""

STRAY_PER_SECOND = 2.0
STRAY_BURST = float(PROOFS_MAX + 100)
"""Frames of any kind before a proof: a proof of each channel, and pings both ways."""

NOTICES_PER_SECOND = 0.1
NOTICES_BURST = 8.0
"""Notices of one link that are believed: one a channel in which we are out, or came too late. So
many heartbeats of somebody who is out are looked into, too."""

HAND_OVER_AFTER: Nanos = SECOND
"""Time that a member has to prove the newest epoch, for it may just be opening its secret; then it
is handed that."""

RTTS_KEPT = 24
"""Round-trip times kept to be drawn: two minutes of pings, and a cell for each."""

PINGS_KEPT = 64
"""Pings whose answers may still come: of five minutes, longer than anything waits on a link."""

PRESENCES_PER_SECOND = 2.0
PRESENCES_BURST = 64.0
"""Presences of one link that are looked at as they come: one a channel; of more the last ones, as
often as links are looked after."""

PRESENCE_EVERY: Nanos = SECOND
"""A name that changes more often is told with the last of its changes."""


@dataclass(slots=True)
class Link:
    """See the module docstring. Times are the machines' clock."""

    stream: SecureStream
    membership: Membership
    address: tuple[str, int]
    """Where the peer accepts connections; port 0 where it does not."""
    opened_at: Nanos
    heard_at: Nanos
    is_read: bool = True
    """False while we take nothing from it, having too much to do."""
    answered_at: Nanos = 0
    """When the answer to our last ping came; 0 if none came yet."""
    pinged_at: Nanos = 0
    nonce: int = 0
    pings: deque[Nanos] = field(default_factory=lambda: deque(maxlen=PINGS_KEPT))
    """Times of the last pings that have no answer, nor has any after them; oldest first."""
    rtt: Nanos | None = None
    rtts: deque[Nanos] = field(default_factory=lambda: deque(maxlen=RTTS_KEPT))
    """Round-trip times of the last answered pings, to be drawn."""
    trip: Nanos | None = None
    """By these, whether the link is slow; see `sync.structures.link_trips.step`."""
    wall_offset: Nanos | None = None
    """Lead of the peer's wall clock over our machines' clock, which nobody sets."""
    follows: Follows = Follows.NOBODY
    """By whose clock the peer goes."""
    nick: str | None = None
    """Name of the peer; None until it has said so in a channel of ours."""
    away: str = ""
    """Why the peer says it is away; empty while it does not."""
    told_at: Nanos | None = None
    """When a change of these two was last told."""
    untold: bool = False
    """Whether they have changed since."""
    announced: set[ChannelId] = field(default_factory=set)
    """Channels in which the peer has said which protocols it speaks, which holds for this link."""
    presences: dict[ChannelId, Presence] = field(default_factory=dict)
    """The last presence of the peer in each governed channel of which it has proved an epoch."""
    levels: dict[ChannelId, Level] = field(default_factory=dict)
    """Levels of governed channels of which the peer has proved an epoch."""
    features: frozenset[str] = frozenset()
    """Names of what the peer speaks beyond the frames that everybody knows."""
    has_shown: bool = False
    """Whether governed channels were proved to who dialled us, after its own proofs."""
    unproved: dict[tuple[ChannelId, bytes], Nanos | None] = field(default_factory=dict)
    """Newest epochs that the peer had not proved, and since when; None once it has the secret."""
    outbox: list[bytes] = field(default_factory=list)
    _pings: Buckets = field(default_factory=lambda: Buckets(PINGS_PER_SECOND, PINGS_BURST))
    _strays: Buckets = field(default_factory=lambda: Buckets(STRAY_PER_SECOND, STRAY_BURST))
    _put_off: dict[ChannelId, Presence] = field(default_factory=dict)
    """Presences of channels that came too fast, the last of each."""
    _presences: Buckets = field(
        default_factory=lambda: Buckets(PRESENCES_PER_SECOND, PRESENCES_BURST)
    )
    _notices: Buckets = field(default_factory=lambda: Buckets(NOTICES_PER_SECOND, NOTICES_BURST))
    _reminders: Buckets = field(default_factory=lambda: Buckets(NOTICES_PER_SECOND, NOTICES_BURST))

    @classmethod
    def over(
        cls,
        stream: SecureStream,
        address: tuple[str, int],
        secrets: Mapping[ChannelId, Sequence[EpochSecret]],
        now: Nanos,
        hides: Callable[[ChannelId], bool] = lambda _: False,
    ) -> "Link":
        """Return the link over a stream whose `Open` has been exchanged."""
        membership = Membership(stream.role, stream.handshake_hash, secrets, hides)
        stream.limit_frames(LINK_FRAME_MAX, pending=STRANGER_BYTES_MAX)
        return cls(stream, membership, address, opened_at=now, heard_at=now)

    @property
    def peer(self) -> PeerId:
        """The peer at the other end."""
        return self.stream.peer

    @property
    def dialled(self) -> bool:
        """True if we dialled."""
        return self.stream.role is Role.INITIATOR

    @property
    def shared(self) -> frozenset[ChannelId]:
        """Our channels that the peer has proved to know."""
        return self.membership.shared

    @property
    def governs(self) -> frozenset[ChannelId]:
        """Governed channels whose ops are exchanged with the peer."""
        if not self.levels or GOVERNANCE not in self.features:
            return frozenset()
        return frozenset([one for one, at in self.levels.items() if at >= Level.GOVERNANCE])

    def admit(self, frame: Frame, now: Nanos) -> None:
        """Count a frame of the peer; strangers may send few.

        Raises:
            RemoteError: a stranger sent more than it has a reason to.
        """
        if self.shared or self.governs:
            return
        if not self._strays.take_token("", now):
            raise RemoteError("too many frames before any proof of a channel")
        if isinstance(frame, Ping) and not self._pings.take_token("", now):
            raise RemoteError("over one ping a second before any proof of a channel")

    def may_be_answered(self, now: Nanos) -> bool:
        """Return whether to answer a ping: not if pings exceed the rate of any program."""
        return not self.shared or self._pings.take_token("", now)

    def proved(self) -> None:
        """The peer has proved a channel: it may send what is said there."""
        self.stream.limit_frames(LINK_FRAME_MAX)

    def believes_notice(self, now: Nanos) -> bool:
        """Return whether to look into a notice: whoever sends many is not believed."""
        return self._notices.take_token("", now)

    def reminds(self, now: Nanos) -> bool:
        """Return whether to see if a peer who is out knows it: not for each of many heartbeats."""
        return self._reminders.take_token("", now)

    def owes_secret(self, channel: ChannelId, epoch: EpochSecret, now: Nanos) -> bool:
        """Return whether to hand over a secret now; then it counts as handed over."""
        key = channel, epoch.op
        since = self.unproved.setdefault(key, now)
        if since is None:
            return False
        has = self.membership.has_heard(epoch.secret)
        if has or now - since >= HAND_OVER_AFTER:
            self.unproved[key] = None
            return not has
        return False

    def hears_presence(self, presence: Presence) -> bool:
        """Return whether to look at a presence at once; else it is put off."""
        if presence.channel not in self._put_off and self._presences.take_token("", self.heard_at):
            return True
        self._put_off[presence.channel] = presence
        return False

    def presences_put_off(self) -> list[Presence]:
        """Return the last presences that were put off, of channels that are proved still."""
        if not self._put_off:
            return []
        waiting = [one for one in self._put_off.values() if one.channel in self.membership.proved]
        self._put_off.clear()
        return waiting

    def presented(self, presence: Presence) -> None:
        """Take note of what the peer wants to be called."""
        if (self.nick, self.away) != (presence.nick, presence.away):
            self.nick, self.away = presence.nick, presence.away
            self.untold = True

    def tells_presence(self, now: Nanos) -> bool:
        """Return whether to report a change of the peer's name now; then it counts as reported."""
        if not self.untold or (self.told_at is not None and now - self.told_at < PRESENCE_EVERY):
            return False
        self.untold, self.told_at = False, now
        return True

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

    @property
    def unanswered(self) -> bool:
        """True while our last ping has no answer: one more would be another vote on the time."""
        return bool(self.pings)

    def ping(self, now: Nanos, wall: Nanos) -> None:
        """Ask whether the peer is there; tells it our wall clock."""
        self.nonce += 1
        self.pinged_at = now
        self.pings.append(now)
        self.send(Ping(self.nonce, wall))

    def ponged(self, pong: Pong, now: Nanos) -> bool:
        """Learn round-trip time and clock from the answer to our last ping, if this is it.

        Where trips take longer than we wait with the next ping, an earlier one is answered, which
        tells the time of a trip alone.
        """
        older = self.nonce - pong.nonce
        if not 0 <= older < len(self.pings):
            return False
        while len(self.pings) > older + 1:
            self.pings.popleft()
        self.rtt = now - self.pings.popleft()
        self.rtts.append(self.rtt)
        self.trip = step(self.rtts)
        if older:
            return False
        self.answered_at = now
        self.wall_offset = pong.wall + self.rtt // 2 - now
        self.follows = pong.follows
        return True

    def remember(self, trips: Sequence[Nanos]) -> None:
        """Begin with the round-trip times of an earlier link, until there are some of its own."""
        self.rtts.extend(trips)
        self.trip = step(self.rtts)

    def patience(self, seconds: float) -> float:
        """Return how many seconds to wait where a peer on a fast link is waited for so long."""
        return patience(seconds, self.trip or 0)

    def close(self, reason: str) -> None:
        """Say why and close."""
        self.flush()
        self.send(Goodbye(reason))
        self.stream.close()


def superfluous(links: Sequence[Link], me: PeerId, now: Nanos) -> list[Link]:
    """Return which of several links to one peer must go: none while that is not clear yet.

    It is clear once all have answered a ping since the newest of them opened; who has not after
    `CONTEST_MAX` goes; where none has after `UNANSWERED_MAX`, all but the newest. An answer comes
    after the answers to our proofs, so the link that stays carries all channels by then.
    """
    if len(links) == 1:  # nearly always
        return []
    rivals = [link for link in links if not link.stream.closed]
    newest = max([link.opened_at for link in rivals], default=now)
    alive = [link for link in rivals if link.answered_at > newest]
    if len(alive) < len(rivals) and now - newest <= (CONTEST_MAX if alive else UNANSWERED_MAX):
        return []
    chosen = (
        keep(alive, me) if alive else max(rivals, key=lambda link: link.opened_at, default=None)
    )
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
