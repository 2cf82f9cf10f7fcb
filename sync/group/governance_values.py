"""Words of governance that are passed on, to whoever shows a channel: light to import."""

from sync.calimero.governance.outcomes import Dropped, Lateness, Reason
from sync.calimero.governance.roles import OPEN_POLICY, Access, Policy, Role

__all__ = ["OPEN_POLICY", "Access", "Dropped", "Lateness", "Policy", "Reason", "Role"]
