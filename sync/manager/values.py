"""Inputs and effects of the schedule of sessions, as values."""

from typing import NamedTuple, TypeAlias

from msgspec import Struct

from sync.machine import ChannelId, Nanos, PeerId, Tick
from sync.sessions.handshake import SyncKind
from sync.sessions.values import Mode, Outcome, Plane


class Joined(Struct, frozen=True):
    """A link to `peer` at `host` proved `channel`; whether we can dial it for sessions."""

    channel: ChannelId
    peer: PeerId
    accepts: bool = True
    host: str = ""
    logs: int = 0
    """Author logs that we hold there."""
    dialled: bool = False
    """True if we dialled the link: it may be that the peer cannot dial us."""


class Left(Struct, frozen=True):
    """The link to `peer` is down, or no longer carries `channel`."""

    channel: ChannelId
    peer: PeerId


class Announced(Struct, frozen=True):
    """`peer` says in `channel` which protocols it speaks beyond those that everybody does."""

    channel: ChannelId
    peer: PeerId
    protocols: frozenset[str]


class LogsOffered(Struct, frozen=True):
    """Author logs of these `channels` may be asked of `peer`, and of no others."""

    peer: PeerId
    channels: frozenset[ChannelId]


class Compared(Struct, frozen=True):
    """At the start: everything in `channel` was compared with these peers, and when."""

    channel: ChannelId
    peers: tuple[tuple[PeerId, Nanos], ...]


class LackingNow(Struct, frozen=True):
    """`channel` lacks `count` messages that others named; `peers` are connected."""

    channel: ChannelId
    count: int
    peers: tuple[PeerId, ...]


class Asked(Struct, frozen=True):
    """The person asks to reconcile with `peer` now, by the protocol named or any.

    A `live` session is over author logs, and then stays.
    """

    channel: ChannelId
    peer: PeerId
    protocol: str = ""
    live: bool = False


class Ended(Struct, frozen=True):
    """A session is over, with what came of it, `got` messages later.

    Benign: `Sought` tells when to try again.
    """

    channel: ChannelId
    peer: PeerId
    outcome: Outcome
    got: int = 0
    plane: Plane = Plane.LOG
    mode: Mode = Mode.CATCHING_UP
    protocol: str = ""
    whole: bool = False
    """Whether everything was compared."""
    logs: int = 0
    """Author logs that we hold there now."""
    then: str = ""
    """Protocol by which it goes on, for whoever began it; `governance` is pulled first."""
    then_why: str = ""
    estimate: int = 0
    """Why by that one, and bytes that it is expected to take."""
    answered: bool = True
    """False if nothing came of the peer: it was put off before anything was compared."""


class Sought(Struct, frozen=True):
    """A channel wants sessions with these peers now, because of `why`."""

    channel: ChannelId
    peers: tuple[PeerId, ...]
    why: str
    once: bool = False
    """Whether they are of a part only, and the channel itself says what follows."""


class StateDiffers(Struct, frozen=True):
    """`peer` has told another root of the channel's state, and it is for us to begin."""

    channel: ChannelId
    peer: PeerId


class Relayed(Struct, frozen=True):
    """`peer` brought a new message of somebody who has no link to us.

    `for_it`: we gave it one of somebody whom it does not hear.
    """

    channel: ChannelId
    peer: PeerId
    for_it: bool = False


class Observed(Struct, frozen=True):
    """`peer` wrote what was let in, in a channel that somebody governs: it is worth asking."""

    channel: ChannelId
    peer: PeerId


class WentLive(Struct, frozen=True):
    """A session with `peer` stays, and passes on what is new."""

    channel: ChannelId
    peer: PeerId


class Rebuilt(Struct, frozen=True):
    """The machines of `channel` were made anew: their sessions are gone.

    That follows on a failed commit, or on a snapshot that was `swapped` in.
    """

    channel: ChannelId
    swapped: bool = False


Input: TypeAlias = (
    Joined
    | Left
    | Announced
    | LogsOffered
    | Compared
    | LackingNow
    | Asked
    | Ended
    | Sought
    | StateDiffers
    | Relayed
    | Observed
    | WentLive
    | Rebuilt
    | Tick
)


class Expected(NamedTuple):
    """The history of `channel` is about to come from `peer`, or is no longer expected."""

    channel: ChannelId
    peer: PeerId
    comes: bool


class Start(Struct, frozen=True):
    """Begin a session."""

    channel: ChannelId
    peer: PeerId
    protocol: str
    why: str
    span: Nanos | None = None
    """Age up to which messages are compared; None for everything."""
    chosen: str = ""
    """Why that protocol."""
    cost: int = 0
    """Bytes that it is expected to take."""
    count: int = 0
    """Sessions over author logs that we began with this peer before, since it has a link."""
    to_now: bool = False
    live: bool = False
    offered: bool = False
    failed: frozenset[SyncKind] = frozenset()
    """See `StartSession` about these."""
