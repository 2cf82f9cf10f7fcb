"""Answers at a cut: whether somebody was in there, and whether they might do what they did."""

from enum import Enum
from typing import Final, NamedTuple

from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Key, Policy, Role, Verdict
from sync.calimero.governance.projection import Heads, State


class Doing(Enum):
    """Things that members do beside governing; readers react and have their read marks."""

    WRITE = "write"
    REACT = "react"
    HIDE = "hide a line of somebody else"
    TOPIC = "set the topic"
    PIN = "pin"


class Plane(Enum):
    """Place where projection and definition disagreed (`unified_projection_divergence`)."""

    CUT = "membership-cut"
    """The projection denied, the definition grants."""
    CUT_GRANT = "membership-cut-grant"
    """The projection granted, the definition denies: the dangerous one."""
    SYNC = "membership-sync"
    """The same of a peer that wants to sync, either way."""


class Fold(NamedTuple):
    """The projection at a cut; not `complete` if ops that the cut names are not here."""

    state: State | None
    complete: bool


FIXED: Final = {Doing.REACT: Role.READER, Doing.HIDE: Role.ADMIN}
"""Roles from which on something is allowed, whatever the policy."""


def may(role: Role, policy: Policy, doing: Doing) -> bool:
    """Return whether a role is enough under a policy."""
    if role is Role.NONE:
        return False
    match doing:
        case Doing.WRITE:
            return role >= policy.write.least
        case Doing.TOPIC:
            return role >= policy.topic.least
        case Doing.PIN:
            return role >= policy.pins.least
        case Doing.REACT | Doing.HIDE:
            return role >= FIXED[doing]


def refresh_projection_for_cut(governance: Governance, heads: Heads) -> Fold:
    """Return the projection at a cut, or at the part of it that is here."""
    state = governance.projection.at(heads)
    if state is not None:
        return Fold(state, complete=True)
    here = tuple(head for head in heads if head in governance.dag.numbers)
    return Fold(governance.projection.at(here), complete=False)


def projection_member_at_cut(governance: Governance, key: Key, heads: Heads) -> bool | None:
    """Return whether somebody is in at the part of a cut that is here: the deny arm."""
    state = refresh_projection_for_cut(governance, heads).state
    return None if state is None else state.role(key) is not Role.NONE


def projection_member_at_cut_authoritative(
    governance: Governance, key: Key, heads: Heads
) -> bool | None:
    """Return whether somebody is in at a cut all of which is here: the grant arm."""
    state, complete = refresh_projection_for_cut(governance, heads)
    return None if state is None or not complete else state.role(key) is not Role.NONE


def peer_is_group_member(governance: Governance, key: Key) -> bool:
    """Return whether a peer is in at our heads: never at a cut that the peer names."""
    return projection_member_at_cut(governance, key, governance.heads) is True


def verdict_at_cut(governance: Governance, key: Key, heads: Heads, doing: Doing) -> Verdict:
    """Return whether somebody might do something at the cut that they name, the same for ever."""
    state, complete = refresh_projection_for_cut(governance, heads)
    if state is None or not complete:
        return Verdict.UNKNOWN
    return Verdict.YES if may(state.role(key), state.policy, doing) else Verdict.NO
