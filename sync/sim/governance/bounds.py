"""Bounds of the tables of governance (I7), by class and attribute."""

from typing import Final

from sync.calimero.governance import act_pages, limits
from sync.calimero.governance.pending import Dropped
from sync.entries.entry import GOVERNANCE_MAX
from sync.group import catch_ups, governing
from sync.group.records import DROPPED_MAX
from sync.sim.scale import Bound, Scale

JUDGEMENTS_MAX: Final = 3 * 2 * 16 * 2
"""Ranks, lowering or not, fields of the policy touched, asking or not."""


def _ops(scale: Scale) -> int:
    return min(scale.ops, scale.channels * limits.OPS_MAX)


def _people(scale: Scale) -> int:
    """Everybody who was ever in: each op lets in one at most."""
    return _ops(scale) + scale.channels * limits.OWNERS_MAX


def _links(scale: Scale) -> int:
    return scale.links + 1


GOVERNANCE_BOUNDS: Final[dict[str, Bound]] = {
    "ActPages._given": act_pages.PULLS_MAX,
    "Answers._waiting": limits.ANSWERS_UNCHECKED_MAX,
    "Answers.divergences": 3,  # one for each plane
    "CatchUps._latest": catch_ups.SHOWN_MAX,
    "Dag._judgements": JUDGEMENTS_MAX,
    "Dag.acts": _ops,
    "Dag.by_signer": _people,
    "Dag.forked": _people,
    "Dag.heads": _ops,
    "Dag.numbers": _ops,
    "Dag.tags": _people,
    "Folds._known": limits.FOLDS_CACHED,
    "Folds._noise": _people,
    "Governing._observed": limits.MEMBERS_MAX,
    "Governing._verdicts": governing.VERDICTS_CACHED,
    "Governing._waiting": limits.PENDING_MAX,
    "Governing.dropped": DROPPED_MAX,
    "Governing.nearby": _links,
    "Governing.outcomes": len(Dropped) + 2,  # let in, and forgotten
    "Heartbeats._heads": _links,
    "Heartbeats._pulls": _links,
    "Heartbeats._offers": _links,
    "Heartbeats._vain": _links,
    "Pending._by_head": limits.PENDING_MAX * GOVERNANCE_MAX,
    "Pending._held": limits.PENDING_MAX,
    "Pending._of_author": limits.PENDING_MAX,
    "Pending._pulls": limits.PENDING_MAX,
    "Pending._sizes": limits.PENDING_MAX,
    "Pending.entries": limits.PENDING_MAX,
    "Projection._named": limits.STATES_CACHED,
    "Projection._states": limits.STATES_CACHED,
    "RefusedOps.reasons": limits.REFUSED_REMEMBERED_MAX,
    "Relations._given_by_owners": _people,
    "Relations._lowered": _people,
    "Relations.about": _people,
    "Relations.admins_contested": _ops,
    "Relations.asking": _ops,
    "Relations.enders": _ops,
    "Relations.epochs": _ops,
    "Relations.of_others": _ops,
    "Relations.overrides": lambda scale: _ops(scale) * limits.MEMBERS_MAX,  # who one op removes
    "Relations.setters": 4,  # fields of the policy
    "Relations.threats": _ops,
    "Relations.touches": _ops,
    "Room.folded": _people,
    "Room.joined": _people,
    "Room.people": _people,
    "State.voids": _ops,
    "Waiting._children": limits.WAITING_MAX * limits.PARENTS_MAX,
    "Waiting._of_signer": limits.WAITING_MAX,
    "Waiting.ops": limits.WAITING_MAX,
}
