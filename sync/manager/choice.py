"""Choice of a protocol: which one suits a session that is to begin, and why.

A pure function of what is known: the protocols registered, what the peer has announced, why the
session is wanted. Each protocol says itself how well it suits (`SyncProtocol.suits`).
"""

from collections.abc import Iterable

from msgspec import Struct

from sync.sessions.protocol import Situation, SyncProtocol, told_as


class Choice(Struct, frozen=True):
    """The protocol of a session, and why that one; `cost` is its estimate in bytes."""

    protocol: str
    why: str
    cost: int


def choose(
    protocols: Iterable[SyncProtocol], situation: Situation, wanted: str = ""
) -> Choice | None:
    """Return the cheapest protocol that suits; None where there is none.

    Args:
        protocols: those that we speak; of equals the first is taken.
        situation: what is known.
        wanted: the name of the only one that is asked for; empty for any.
    """
    fits = [
        Choice(one.name, fit.why, fit.cost)
        for one in protocols
        if one.plane is situation.plane
        and wanted in {"", one.name}
        and (one.usual or told_as(one) in situation.spoken)
        and (fit := one.suits(situation)) is not None
    ]
    return min(fits, key=lambda one: one.cost, default=None)
