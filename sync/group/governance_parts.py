"""Parts of governance that are passed on, to whoever shows what a channel's ops come to."""

from sync.calimero.governance.dag import Act, bits
from sync.calimero.governance.epochs import rotation_wanted
from sync.calimero.governance.governance import Governance, TakenOp
from sync.calimero.governance.late import Lateness, lateness, removals_since
from sync.calimero.governance.ops import (
    OPEN_POLICY,
    Access,
    Add,
    Genesis,
    Invite,
    Join,
    Key,
    Leave,
    OpId,
    Policy,
    Remove,
    Revoke,
    Role,
    Rotate,
    SetPolicy,
    SetRole,
)
from sync.calimero.governance.pending import Dropped
from sync.calimero.governance.projection import Loss, Reason, State
from sync.calimero.governance.standing import Standing
from sync.calimero.governance.verdicts import Doing, may

__all__ = [
    "OPEN_POLICY",
    "Access",
    "Act",
    "Add",
    "Doing",
    "Dropped",
    "Genesis",
    "Governance",
    "Invite",
    "Join",
    "Key",
    "Lateness",
    "Leave",
    "Loss",
    "OpId",
    "Policy",
    "Reason",
    "Remove",
    "Revoke",
    "Role",
    "Rotate",
    "SetPolicy",
    "SetRole",
    "Standing",
    "State",
    "TakenOp",
    "bits",
    "lateness",
    "may",
    "removals_since",
    "rotation_wanted",
]
