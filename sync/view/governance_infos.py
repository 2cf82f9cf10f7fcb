"""Parts of a snapshot and of lines that tell who is in a governed channel, and who did what.

Nicks and reasons are other people's bytes: sanitise to render. A nick is empty if it is unknown.
"""

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec import Struct

from sync.group.governance_values import (
    OPEN_POLICY,
    Access,
    Dropped,
    Lateness,
    Policy,
    Reason,
    Role,
)
from sync.machine import ChannelId, MessageId, Nanos, PeerId

if TYPE_CHECKING:
    from sync.view.view import Line

__all__ = [  # what is only passed on
    "OPEN_POLICY",
    "Access",
    "Dropped",
    "Lateness",
    "Policy",
    "Reason",
    "Role",
]


NickOf: TypeAlias = Callable[[PeerId], str]
"""Returns what somebody is called, in their own bytes; empty if that is unknown."""


def nameless(_peer: PeerId) -> str:
    """Return that nothing is known of what somebody is called."""
    return ""


class Person(NamedTuple):
    """Somebody, and what they are called as far as is known."""

    peer: PeerId
    nick: str = ""


class Right(Enum):
    """Things that somebody may do in a governed channel."""

    WRITE = "write"
    REACT = "react"
    HIDE = "hide others' lines"
    INVITE = "invite"
    TOPIC = "set the topic"
    PIN = "pin"
    MEMBERS = "add and remove members and readers, and set which of the two they are"
    ADMINS = "add, remove, make and lower admins"
    POLICY = "set the policy"
    ROTATE = "change the secret and end all codes"
    LEAVE = "leave"


class Entered(Enum):
    """Way in which somebody came in last."""

    FOUNDED = "founded"
    """An owner, by the genesis."""
    ADDED = "added"
    JOINED = "joined"
    """By a code."""


class MemberInfo(Struct, frozen=True):
    """Somebody who is in."""

    peer: PeerId
    nick: str
    role: Role
    since_ns: Nanos
    """Time at which they came in last, by the clock of who signed that."""
    entered: Entered
    by: Person | None
    """The one who added them, or made the code that they came in by; None for owners."""
    role_by: Person | None
    """The one who gave them their role; None if they came in with it."""
    forked: bool = False
    """Whether they signed two ops with one number: a copied profile, or two faces."""


class AskingInfo(Struct, frozen=True):
    """Somebody who asks to be let in, or whose entry came to nothing; `/add` lets them in."""

    peer: PeerId
    nick: str
    reason: Reason
    op_id: str
    """The op by which they ask or had come."""


class DepartureInfo(Struct, frozen=True):
    """The end of somebody's membership."""

    peer: PeerId
    nick: str
    by: Person
    """The one who removed them; themselves, if they left."""
    left: bool
    reason: str
    at_ns: Nanos
    """Time of it, by the clock of who signed it."""
    op_id: str
    crowded: bool = False
    """Whether they are out only because as many are in as can be."""


class EpochInfo(Struct, frozen=True):
    """A secret of the channel, by its number; the secret itself is in no snapshot."""

    number: int
    op_id: str
    """The op that began it; the genesis began the first."""
    by: Person
    begun_ns: Nanos
    counts: bool
    """Whether its op counts; the epoch of one that does not still proves members."""
    newest: bool


class OpInfo(Struct, frozen=True):
    """An op of governance, for those who look at the protocol."""

    op_id: str
    kind: "ActKind"
    by: Person
    people: tuple[Person, ...]
    """People whose membership or role it is about."""
    lamport: int
    nonce: int
    rank: int
    """Rank of its signer at its own parents: 0 owners, 1 admins, 2 all others."""
    head: bool
    counts: bool
    reason: Reason | None
    """Reason why it came to nothing for what happened at once."""
    because: str = ""
    """Id of the op that did it, if one did."""


class CatchUpInfo(Struct, frozen=True):
    """A pull of ops; see `sync.group.catch_ups.CatchUp`."""

    peer: PeerId
    asked: bool
    began_at: Nanos
    ended_at: Nanos | None
    pages: int
    ops: int
    new: int
    size: int


class GovernanceInfo(Struct, frozen=True):
    """Members of a governed channel, and the state of its history of governance, at our heads."""

    founded: bool
    """Whether the op that founded it is here: without it nobody is known to be in."""
    role: Role = Role.NONE
    """Our own role."""
    rights: tuple[Right, ...] = ()
    """Rights that we have now."""
    departure: DepartureInfo | None = None
    """The end of our own membership; None while we are in, or if we never were."""
    name: str = ""
    """Name that its founder gave it."""
    predecessor: ChannelId | None = None
    """The channel that it succeeds."""
    policy: Policy = OPEN_POLICY
    members: tuple[MemberInfo, ...] = ()
    """Everybody who is in: owners, admins, members, readers, and of each the longest in first."""
    asking: tuple[AskingInfo, ...] = ()
    """People who ask to be let in, the first in the transcript first; a hundred at most."""
    asking_count: int = 0
    gone: tuple[DepartureInfo, ...] = ()
    """People who were in once, the last to go first; a hundred at most."""
    gone_count: int = 0
    only_owner: PeerId | None = None
    """The owner on whom all depends: one owner is in, and no admin."""
    owners_gone: bool = False
    """Whether no owner is in: nobody can make or lower admins any more."""
    heads: tuple[str, ...] = ()
    """Ids of the ops that no other has seen."""
    ops: int = 0
    waiting_ops: int = 0
    """Ops that wait for their parents."""
    refused_ops: int = 0
    void_ops: int = 0
    """Ops that came to nothing for what happened at once."""
    pending: int = 0
    """Entries that wait for ops."""
    drains: tuple[tuple[str, int], ...] = ()
    """Entries that waited and do not any more, in this run, by outcome: `applied`, a label of
    those dropped, or `forgotten`."""
    dropped: tuple[tuple[str, int], ...] = ()
    """Entries that are remembered as dropped, by label."""
    epochs: tuple[EpochInfo, ...] = ()
    """Secrets of the channel, the newest first; a hundred at most."""
    epochs_count: int = 0
    rotation_wanted: str = ""
    """Reason why an admin's node is about to change the secret; empty if nothing asks for that."""
    latest: tuple[OpInfo, ...] = ()
    """Ops that were taken in last, the last first; twenty at most."""
    levels: tuple[tuple[PeerId, str], ...] = ()
    """Levels of the channel on links, by peer: `full`, `governance`, `notice`, `stub`."""
    catch_ups: tuple[CatchUpInfo, ...] = ()
    """Pulls of ops of this run, the newest first; eight at most."""
    divergences: tuple[tuple[str, int], ...] = ()
    """Disagreements of the projection with the definition, by plane; there should be none."""
    answers_checked: int = 0
    """Decisive answers that the definition was asked about."""
    answers_skipped: int = 0
    """Answers it was not asked about, for want of time or of room."""

    read: bool = True
    """Whether our disk was read; before that nothing is known, and nothing is refused."""

    def may(self, right: Right) -> bool:
        """Return whether we may do something now."""
        return right in self.rights

    def member(self, peer: PeerId) -> MemberInfo | None:
        """Return somebody who is in; None for everybody else."""
        return next((one for one in self.members if one.peer == peer), None)


UNREAD: Final = GovernanceInfo(founded=False, read=False)
"""State of a channel whose ops are not read from the disk yet."""


class ActKind(Enum):
    """Kinds of acts, as lines of the transcript tell them."""

    FOUNDED = "founded"
    INVITED = "invited"
    REVOKED = "revoked"
    JOINED = "joined"
    ASKED = "asked"
    """Somebody who was removed asks to be let in again."""
    ADDED = "added"
    REMOVED = "removed"
    LEFT = "left"
    ROLE = "role"
    POLICY = "policy"
    ROTATED = "rotated"


class BecauseInfo(Struct, frozen=True):
    """The act for which another one came to nothing."""

    op_id: str
    kind: ActKind
    by: Person
    people: tuple[Person, ...] = ()
    role: Role | None = None
    """The role it gave."""


class LossInfo(Struct, frozen=True):
    """The reason why an act came to nothing."""

    reason: Reason
    because: BecauseInfo | None = None
    """The act that did it, if it was one."""


class ActInfo(Struct, frozen=True):
    """An act of governance; the line that has it tells who signed it, and when."""

    kind: ActKind
    people: tuple[Person, ...] = ()
    """People whom it is about; of a join and of the end of one code, whoever made the code."""
    role: Role | None = None
    """The role it gives; of an invitation, the one its code gives."""
    lowers: bool = False
    """Whether the role it gives is less than the one they had."""
    policy: tuple[tuple[str, Access], ...] = ()
    """Fields of the policy that it changes: `write`, `invite`, `topic`, `pins`."""
    reason: str = ""
    name: str = ""
    """Name of the channel, of what founds it."""
    epoch: int | None = None
    """Number of the secret that it begins."""
    loss: LossInfo | None = None
    """Reason why it came to nothing; None while it counts."""


class RoleChange(Struct, frozen=True):
    """Somebody has another role than before; `Role.NONE` is out."""

    peer: PeerId
    nick: str
    before: Role
    after: Role


# --- Events ------------------------------------------------------------------------------------


class OpShown(Struct, frozen=True):
    """An act of governance was taken in (`line.act`), or counts now where it did not, or ceased to.

    Attributes:
        line: the act as it stands in the transcript, at its place.
        again: whether it was shown before, and counts or does not, other than then.
    """

    line: "Line"
    again: bool = False


class MembershipShown(Struct, frozen=True):
    """People have other roles than before in a governed channel."""

    channel: ChannelId
    changes: tuple[RoleChange, ...]


class PendingShown(Struct, frozen=True):
    """An entry waits for ops that say whether its author might write it (`line.pending`)."""

    line: "Line"


class PendingEndedShown(Struct, frozen=True):
    """Entries that waited are not let in: dropped by `label`, or forgotten without one."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]
    label: Dropped | None
