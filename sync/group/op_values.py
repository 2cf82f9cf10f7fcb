"""Inputs and effects about governance: ops, catching up on them, and what waits for them."""

from msgspec import Struct

from sync.calimero.governance.cross_check import Divergence
from sync.calimero.governance.ops import Op, OpId
from sync.calimero.governance.pending import Dropped
from sync.entries.entry import Entry
from sync.machine import MessageId, PeerId


class OpsArrived(Struct, frozen=True):
    """Signed ops of governance came from `peer`; from ourselves, as a genesis of ours does."""

    peer: PeerId
    contents: tuple[bytes, ...]


class HeartbeatArrived(Struct, frozen=True):
    """A peer tells the heads of governance that it has (GroupStateHeartbeat)."""

    peer: PeerId
    payload: bytes


class OpsRequested(Struct, frozen=True):
    """A peer asks for ops that it lacks (GroupDeltaRequest).

    `newest`: its link has proved the newest epoch, so it may have all though it is not in (yet).
    """

    peer: PeerId
    payload: bytes
    newest: bool = False


class OpsLoaded(Struct, frozen=True):
    """Answer to `LoadOps`: the bytes of these ops, in that order."""

    peer: PeerId
    contents: tuple[bytes, ...]
    more: bool


class OpsAnswered(Struct, frozen=True):
    """A page of ops came from a peer that was asked (GroupDeltaResponse)."""

    peer: PeerId
    payload: bytes


class OpsUnanswered(Struct, frozen=True):
    """A peer that was asked for ops gives none: its stream ended, or it has nothing yet."""

    peer: PeerId


class OpsOffered(Struct, frozen=True):
    """A peer says that it has ops which concern us: we are out, perhaps."""

    peer: PeerId


class GovernanceLinked(Struct, frozen=True):
    """A peer with whom ops are exchanged, and nothing else of the channel: came, or went."""

    peer: PeerId
    here: bool


class Act(Struct, frozen=True):
    """The person governs. `token` comes back in `Acted`, or in a failure.

    Secrets are drawn and wrapped before: an epoch here holds none.
    """

    token: int
    op: Op


class AnswersChecked(Struct, frozen=True):
    """The definition was asked about answers of governance that were decisive.

    `skipped`: those that there was no time or room for.
    """

    checked: int
    skipped: int = 0
    divergences: tuple[Divergence, ...] = ()


class Acted(Struct, frozen=True):
    """Our op exists now: it is committed when this is released."""

    token: int
    op: OpId


class SendOp(Struct, frozen=True):
    """Send a signed op to every link of the channel at once (`publish_group_op`)."""

    content: bytes


class SendHeartbeat(Struct, frozen=True):
    """Tell these peers the heads of governance that we have."""

    peers: tuple[PeerId, ...]
    payload: bytes


class RequestOps(Struct, frozen=True):
    """Ask a peer for ops that we lack, on a stream of its own."""

    peer: PeerId
    payload: bytes


class LoadOps(Struct, frozen=True):
    """Load the bytes of these ops for a peer (`OpsLoaded`); `more`: it lacks others, too."""

    peer: PeerId
    ops: tuple[OpId, ...]
    more: bool


class AnswerOps(Struct, frozen=True):
    """Send a page of ops to a peer that asked."""

    peer: PeerId
    payload: bytes


class Governed(Struct, frozen=True):
    """Ops were taken in: membership, roles, policy or keys may be others now.

    None are named where the disk's were taken up.
    """

    ops: tuple[OpId, ...]


class LackingOps(Struct, frozen=True):
    """Ops that others name are not here; `peer`, if any, should have them."""

    peer: PeerId | None
    ops: tuple[OpId, ...]


class Pends(Struct, frozen=True):
    """Show an entry, dim: it waits for ops that say whether its author might write it."""

    message_id: MessageId
    entry: Entry


class PendingEnded(Struct, frozen=True):
    """Entries that waited are not let in: they were dropped, or forgotten (no label)."""

    message_ids: tuple[MessageId, ...]
    label: Dropped | None


class Observed(Struct, frozen=True):
    """An entry of `peer` was let in, the first of this run: it is in, and worth asking."""

    peer: PeerId


class Diverged(Struct, frozen=True):
    """Governance answered what its definition does not: a fault of the program, not of a peer."""

    divergence: Divergence
