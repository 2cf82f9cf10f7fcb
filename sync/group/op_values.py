"""Inputs and effects about governance: ops, catching up on them, and what waits for them."""

from dataclasses import dataclass

from sync.calimero.governance.cross_check import Divergence
from sync.calimero.governance.ops import Op, OpId
from sync.calimero.governance.pending import Dropped
from sync.entries.entry import Entry
from sync.machine import MessageId, PeerId


@dataclass(frozen=True, slots=True)
class OpsArrived:
    """Signed ops of governance came from `peer`; from ourselves, as a genesis of ours does."""

    peer: PeerId
    contents: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class HeartbeatArrived:
    """A peer tells the heads of governance that it has (GroupStateHeartbeat)."""

    peer: PeerId
    payload: bytes


@dataclass(frozen=True, slots=True)
class OpsRequested:
    """A peer asks for ops that it lacks (GroupDeltaRequest).

    `newest`: its link has proved the newest epoch, so it may have all though it is not in (yet).
    """

    peer: PeerId
    payload: bytes
    newest: bool = False


@dataclass(frozen=True, slots=True)
class OpsLoaded:
    """Answer to `LoadOps`: the bytes of these ops, in that order."""

    peer: PeerId
    contents: tuple[bytes, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class OpsAnswered:
    """A page of ops came from a peer that was asked (GroupDeltaResponse)."""

    peer: PeerId
    payload: bytes


@dataclass(frozen=True, slots=True)
class OpsUnanswered:
    """A peer that was asked for ops gives none: its stream ended, or it has nothing yet."""

    peer: PeerId


@dataclass(frozen=True, slots=True)
class OpsOffered:
    """A peer says that it has ops which concern us: we are out, perhaps."""

    peer: PeerId


@dataclass(frozen=True, slots=True)
class GovernanceLinked:
    """A peer with whom ops are exchanged, and nothing else of the channel: came, or went."""

    peer: PeerId
    here: bool


@dataclass(frozen=True, slots=True)
class Act:
    """The person governs. `token` comes back in `Acted`, or in a failure.

    Secrets are drawn and wrapped before: an epoch here holds none.
    """

    token: int
    op: Op


@dataclass(frozen=True, slots=True)
class AnswersChecked:
    """The definition was asked about answers of governance that were decisive.

    `skipped`: those that there was no time or room for.
    """

    checked: int
    skipped: int = 0
    divergences: tuple[Divergence, ...] = ()


@dataclass(frozen=True, slots=True)
class Acted:
    """Our op exists now: it is committed when this is released."""

    token: int
    op: OpId


@dataclass(frozen=True, slots=True)
class SendOp:
    """Send a signed op to every link of the channel at once (`publish_group_op`)."""

    content: bytes


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    """Tell these peers the heads of governance that we have."""

    peers: tuple[PeerId, ...]
    payload: bytes


@dataclass(frozen=True, slots=True)
class RequestOps:
    """Ask a peer for ops that we lack, on a stream of its own."""

    peer: PeerId
    payload: bytes


@dataclass(frozen=True, slots=True)
class LoadOps:
    """Load the bytes of these ops for a peer (`OpsLoaded`); `more`: it lacks others, too."""

    peer: PeerId
    ops: tuple[OpId, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class AnswerOps:
    """Send a page of ops to a peer that asked."""

    peer: PeerId
    payload: bytes


@dataclass(frozen=True, slots=True)
class Governed:
    """Ops were taken in: membership, roles, policy or keys may be others now.

    None are named where the disk's were taken up.
    """

    ops: tuple[OpId, ...]


@dataclass(frozen=True, slots=True)
class LackingOps:
    """Ops that others name are not here; `peer`, if any, should have them."""

    peer: PeerId | None
    ops: tuple[OpId, ...]


@dataclass(frozen=True, slots=True)
class Pends:
    """Show an entry, dim: it waits for ops that say whether its author might write it."""

    message_id: MessageId
    entry: Entry


@dataclass(frozen=True, slots=True)
class PendingEnded:
    """Entries that waited are not let in: they were dropped, or forgotten (no label)."""

    message_ids: tuple[MessageId, ...]
    label: Dropped | None


@dataclass(frozen=True, slots=True)
class Observed:
    """An entry of `peer` was let in, the first of this run: it is in, and worth asking."""

    peer: PeerId


@dataclass(frozen=True, slots=True)
class Diverged:
    """Governance answered what its definition does not: a fault of the program, not of a peer."""

    divergence: Divergence
