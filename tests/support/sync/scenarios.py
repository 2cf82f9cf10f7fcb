"""Scenarios that several tests play, and what must come of them."""

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.sim.network import Link
from sync.sim.scenario import (
    ClockJump,
    Crash,
    FullDisk,
    Outcome,
    Partition,
    Scenario,
    Trouble,
)

SETTLED_WITHIN = 3 * HOUR
"""At 30 % loss the mark of a line may take this long: what is possibly acknowledged is sent again
ever more slowly, and most answers get lost."""

YEAR: Nanos = 8766 * HOUR
JUMPS: tuple[Nanos, ...] = (-10 * MINUTE, 10 * MINUTE, -(55 * YEAR), 75 * YEAR)
"""Ten minutes either way, and from November 2025 to 1970 and to 2100."""


def lossy(loss: float) -> Link:
    return Link(loss=loss, duplicate=0.05, reorder=0.05)


def troubled(peers: int, loss: float, seed: int, *, reconcile: bool = True) -> Scenario:
    """A minute with lines from everybody, a partition, a power cut and a full disk."""
    return Scenario(
        peers,
        messages=60,
        link=lossy(loss),
        seed=seed,
        every=SECOND,
        troubles=(
            Partition(5 * SECOND, 20 * SECOND, side=max(1, peers // 2)),
            Crash((8 + seed % 20) * SECOND + 3 * MILLISECOND, 5 * SECOND, peers - 1),
            FullDisk(40 * SECOND, 5 * SECOND, 0),
        ),
        within=SETTLED_WITHIN,
        settle=True,
        reconcile=reconcile,
    )


def hard(peers: int, loss: float, seed: int) -> Scenario:
    """A minute in which all goes wrong, with nothing but SDS and SDS-R to mend it.

    Two cuts, of which the links notice the first; two power cuts, one in the midst of a commit; a
    full disk; and in groups of three or more a clock that jumps. Whoever has a wrong clock is then
    connected to the others: a clock of three or more is outvoted.
    """
    shift = seed * 137 % 1000 * MILLISECOND
    troubles: list[Trouble] = [
        Partition(3 * SECOND + shift, 17 * SECOND, side=max(1, peers // 2), first=seed % peers),
        Crash(28 * SECOND + shift, 3 * SECOND, (seed + 1) % peers),
        Crash(54 * SECOND + shift, 2 * SECOND, (seed + 2) % peers, in_commit=True),
        FullDisk(56 * SECOND, 2 * SECOND, (seed + 3) % peers),
        Partition(58 * SECOND + shift, 4 * SECOND, side=1, first=seed % peers),
    ]
    if peers >= 3:
        offset = JUMPS[seed % len(JUMPS)]
        troubles.append(ClockJump(38 * SECOND + shift, 14 * SECOND, seed % peers, offset))
    return Scenario(
        peers,
        messages=30,
        link=lossy(loss),
        seed=seed,
        every=2 * SECOND,
        troubles=tuple(troubles),
        within=HOUR,
    )


def check(scenario: Scenario, outcome: Outcome) -> None:
    """Everybody has every line, once, and nobody refused anything."""
    told = f"seed {scenario.seed}: {outcome} of {scenario}"
    assert outcome.converged, told
    assert outcome.settled or not scenario.settle, told
    assert outcome.written > scenario.messages // 2, told
    assert outcome.deliveries == outcome.written * scenario.peers, told
    assert outcome.refused == 0, told
