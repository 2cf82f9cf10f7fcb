"""Epochs of a channel's secret: those directly before a new one, and why a new one is wanted."""

from enum import Enum

from sync.calimero.governance import limits
from sync.calimero.governance.dag import Act, bits
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import Staying, tag_of
from sync.calimero.governance.ops import Add, Join, Key, Role
from sync.calimero.governance.projection import State


class Wanted(Enum):
    """Reason for another rotation; an admin's node does it, unless another one did."""

    TWO_ENDS = "two rotations at once"
    FOR_ONE_REMOVED = "somebody who is out has the newest secret"
    WRAP_MISSING = "somebody who was in then has none"


def epochs_before(governance: Governance, cut: int) -> tuple[Act, ...]:
    """Return the ops whose epochs are directly before the next one; the genesis for the first.

    Args:
        governance: of the channel.
        cut: bits of the ops that the next one stands on.

    A void op's epoch is among them: it never is the newest, but members prove it. The newest come
    first, and no more than an op wraps.
    """
    last = _last_epochs(governance, cut)
    last.sort(key=lambda act: (act.epoch.number if act.epoch else 0, act.id), reverse=True)
    return tuple(last[: limits.PREVIOUS_EPOCHS_MAX]) or (governance.dag.acts[0],)


def _last_epochs(governance: Governance, among: int) -> list[Act]:
    """Return the ops that begin an epoch no other one of `among` has seen."""
    acts = governance.dag.acts
    begun = [
        acts[number] for number in governance.projection.relations.epochs if among >> number & 1
    ]
    last: list[Act] = []
    for act in reversed(begun):
        if not any(other.knew(act.number) for other in last):
            last.append(act)
    return last


def next_number(governance: Governance, state: State) -> int:
    """Return the number of the epoch that an op at this cut begins."""
    epoch = governance.dag.acts[state.epoch].epoch
    return 1 + (epoch.number if epoch else 0)


def staying(governance: Governance, state: State, without: frozenset[Key]) -> tuple[Staying, ...]:
    """Return all who get a new secret, by their keys, if `without` go."""
    return tuple(
        Staying(key, noise_of(governance, key, standing.since))
        for key, standing in sorted(state.people.items())
        if standing.member and key not in without
    )


def noise_of(governance: Governance, key: Key, since: int) -> bytes:
    """Return the Noise key that somebody came in with, or that the genesis names."""
    acts = governance.dag.acts
    op = acts[since].op
    if isinstance(op, Add | Join):
        return op.noise
    owners = governance.projection.folds.noise
    if key in owners:
        return owners[key]
    # Their entry came to nothing and a later op about them stands: the newest entry tells.
    about = governance.projection.relations.about[key] & governance.projection.relations.entries
    entries = [acts[number] for number in bits(about)]
    newest = max(entries, key=lambda act: act.place).op
    assert isinstance(newest, Add | Join)
    return newest.noise


def rotation_wanted(governance: Governance, state: State) -> Wanted | None:
    """Return why an admin should rotate; None while the newest secret is whose it should be.

    An epoch of a void op asks for nothing: otherwise somebody removed could have the channel rotate
    for ever.
    """
    if len(_last_epochs(governance, state.counting)) > 1:
        return Wanted.TWO_ENDS
    act = governance.dag.acts[state.epoch]
    if act.epoch is None:
        return None
    tags = governance.dag.tags_of(act)
    then = governance.projection.state(act.before | act.bit)
    if any(
        standing.role is Role.NONE and tag_of(key) in tags for key, standing in state.people.items()
    ):
        return Wanted.FOR_ONE_REMOVED
    stayed = (key for key, standing in then.people.items() if standing.member and state.role(key))
    return Wanted.WRAP_MISSING if any(tag_of(key) not in tags for key in stayed) else None
