"""Inputs and effects of the sessions of a channel.

Most are between them and whoever has streams; the last four effects are for the group alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from sync.machine import Nanos, PeerId, Tick
from sync.structures.ordered_set import SyncId
from sync.waku.message import RECONCILIATION, WakuMessage

PAGE: Final = 256
"""Messages of a page: some 200 kB, 17 MB if all are of the largest size."""

SHARE: Final = "a share of what is missing"
PUT_OFF: Final = "put off while another session brought what is missing"
"""Why sessions are begun that a channel asks for itself (`Sought`)."""

SessionId: TypeAlias = int
"""Number of one reconciliation session, unique within a run of a node."""


@dataclass(frozen=True, slots=True)
class PeerJoined:
    """A link to `peer` is up and has proved this channel.

    Where it does not say at which port it `accepts` connections, sessions are its to begin.
    """

    peer: PeerId
    accepts: bool = True


@dataclass(frozen=True, slots=True)
class PeerGone:
    """The last link to `peer` is down."""

    peer: PeerId


@dataclass(frozen=True, slots=True)
class StartSession:
    """Reconcile with `peer`, because of `why`: everything, or what is at most `span` old."""

    session: SessionId
    peer: PeerId
    why: str
    span: Nanos | None = None


@dataclass(frozen=True, slots=True)
class SessionOffered:
    """`peer` opened a stream to us, to reconcile, or to check what was reconciled."""

    session: SessionId
    peer: PeerId
    protocol: str = RECONCILIATION


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The stream that `OpenSession` asked for is there."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class SessionPayload:
    """A payload came on a reconciliation stream."""

    session: SessionId
    payload: bytes


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """A reconciliation stream ended, or could not be opened; `reason` is empty at a plain end."""

    session: SessionId
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Transferred:
    """A message came on the transfer stream of `peer`."""

    peer: PeerId
    payload: bytes


@dataclass(frozen=True, slots=True)
class TransferEnded:
    """The transfer stream of `peer` ended."""

    peer: PeerId


@dataclass(frozen=True, slots=True)
class Here:
    """A message is here now, whichever way it came."""

    sync_id: SyncId


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Open a stream to `peer`; answer with `SessionOpened` or `SessionClosed`.

    The stream of a check has the number of its session, negative.
    """

    session: SessionId
    peer: PeerId
    protocol: str = RECONCILIATION


@dataclass(frozen=True, slots=True)
class SendPayload:
    """Send a payload on a reconciliation stream."""

    session: SessionId
    payload: bytes


@dataclass(frozen=True, slots=True)
class CloseSession:
    """Close a reconciliation stream, after what was sent on it."""

    session: SessionId


@dataclass(frozen=True, slots=True)
class Push:
    """Load messages by their Waku hashes and send them on a transfer stream to `peer`.

    In pages of `PAGE` hashes: the newest page first, each with its oldest message first.
    """

    peer: PeerId
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CloseTransfer:
    """Close what `peer` pushes: others have brought the rest, or are about to."""

    peer: PeerId


@dataclass(frozen=True, slots=True)
class Sought:
    """Sessions with these peers are to begin now, because of `why`."""

    peers: tuple[PeerId, ...]
    why: str
    once: bool = False
    """Whether they are of a part only, and it will be said what follows."""


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session is over, with what it did; `result` says how it ended.

    `converged`: both sides have proved to hold the same once each has what it lacked. We have ours;
    what we push may be on its way. Where it does not arrive, the peer sees that, and begins anew.
    """

    session: SessionId
    peer: PeerId
    why: str
    result: str
    converged: bool
    rounds: int
    have: int
    need: int
    got: int
    put_off: bool = False
    """Whether it is to begin anew once another one is over, which will be told."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something of a peer's was declined without blame worth closing the link for."""

    peer: PeerId
    reason: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """A transferred message that a session wants; the group checks and stores it."""

    peer: PeerId
    sync_id: SyncId
    waku: WakuMessage
    topic: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Ids a session has found missing: they are on their way."""

    ids: tuple[SyncId, ...]


@dataclass(frozen=True, slots=True)
class Unwanted:
    """Of the ids found missing, those that do not come: the session is over, or its peer stalls."""

    ids: tuple[SyncId, ...]
    stalled: bool = False


@dataclass(frozen=True, slots=True)
class Proved:
    """The peer has proved what it holds of what we held: from `floor` on, what `holds` says."""

    peer: PeerId
    floor: Nanos
    whole: bool
    """Whether everything was compared that we take from others."""
    holds: Callable[[SyncId], bool]


Input: TypeAlias = (
    StartSession
    | SessionOffered
    | SessionOpened
    | SessionPayload
    | SessionClosed
    | Transferred
    | TransferEnded
    | Here
    | PeerJoined
    | PeerGone
    | Tick
)
Effect: TypeAlias = (
    OpenSession
    | SendPayload
    | CloseSession
    | Push
    | CloseTransfer
    | Sought
    | SessionEnded
    | Refused
    | Accepted
    | Wanted
    | Unwanted
    | Proved
)
