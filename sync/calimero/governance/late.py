"""Entries of somebody removed, with a cut from before: delivered in every order, and marked."""

from collections.abc import Callable, Iterable

from sync.calimero.governance.dag import Act
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Key, Remove
from sync.calimero.governance.outcomes import Lateness
from sync.calimero.governance.projection import Heads, State

__all__ = ["Lateness"]  # what is only passed on


def removals_since(governance: Governance, state: State, author: Key, heads: Heads) -> list[Act]:
    """Return the removals that put somebody out and that a cut does not know."""
    cut = governance.dag.closure(heads)
    assert cut is not None, "an entry without a verdict"
    return [act for act in removals(governance, state, author) if not cut & act.bit]


def removals(governance: Governance, state: State, author: Key) -> list[Act]:
    """Return the removals that put somebody out, whatever came of it later."""
    projection = governance.projection
    return projection.folds.removals(projection.relations.about.get(author, 0) & state.counting)


def lateness(
    removals: Iterable[Act],
    author: Key,
    parent_cuts: Iterable[int],
    within: Callable[[bytes], bool],
) -> Lateness:
    """Return how late an entry is.

    Args:
        removals: removals of its author that its cut does not know.
        author: who signed it.
        parent_cuts: bits of the cuts that its parents name.
        within: whether it is the entry of an id, or an ancestor of it by backlinks.
    """
    unknown = list(removals)
    if not unknown:
        return Lateness.IN_TIME
    if any(cut & act.bit for cut in parent_cuts for act in unknown):
        return Lateness.FOLDED
    if all(_sealed(act, author, within) for act in unknown):
        return Lateness.SEALED
    return Lateness.BEYOND


def cut_goes_back(governance: Governance, earlier: Heads, later: Heads) -> bool | None:
    """Return whether a log's later entry knows less than an earlier one; None if ops are missing.

    Its author signs as if they had not seen what they saw: they are flagged.
    """
    seen, named = governance.dag.closure(earlier), governance.dag.closure(later)
    if seen is None or named is None:
        return None
    return bool(seen & ~named)


def _sealed(removal: Act, author: Key, within: Callable[[bytes], bool]) -> bool:
    assert isinstance(removal.op, Remove)
    return any(seal.author == author and within(seal.entry) for seal in removal.op.seals)
