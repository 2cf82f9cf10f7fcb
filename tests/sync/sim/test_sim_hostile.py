"""Hostile members: whatever they do, the others come to one log and every invariant holds."""

import random

import pytest
from msgspec.structs import replace

from sync.machine import MINUTE, SECOND
from sync.sim.hostile.acts import ACTS
from sync.sim.scenario import Crash, FullDisk, Outcome, Partition, Scenario, Trouble, run
from sync.sim.world import Terms, World
from tests.support.sync.scenarios import lossy

PEERS, HOSTILE = 8, 2
SAMPLE = range(2)
LARGER_SAMPLE = range(100, 104)
"""Each trouble once, with comparing and without; 200 seeds are in the whole grid."""
CELL = 25
CELLS = range(8)

LASTING = {"history that is not there", "invented names", "invented parents", "floods of lines"}
"""Acts whose effects last for minutes of a world, and a second or two of ours."""

HELD_UP_MS = 30_000.0
"""Of an honest line, while somebody claims what is not there; 2 to 20 s are lost frames."""

CONVERGED_WITHIN = 300.0
"""Seconds from the last line and the last hostile act to equal logs."""


def besieged(seed: int) -> Scenario:
    """Forty seconds of lines among six, whatever else goes wrong, and two who act all the time."""
    dice = random.Random(seed)
    troubles: list[Trouble] = []
    if seed % 4 == 1:
        troubles.append(Partition(5 * SECOND, 18 * SECOND, side=3, first=dice.randrange(PEERS)))
    if seed % 4 == 2:
        troubles.append(Crash(dice.randrange(30) * SECOND, 4 * SECOND, dice.randrange(6)))
    if seed % 4 == 3:
        troubles.append(FullDisk(15 * SECOND, 4 * SECOND, dice.randrange(6)))
    return Scenario(
        PEERS,
        40,
        lossy(dice.choice([0.0, 0.05, 0.2])),
        seed,
        every=SECOND,
        troubles=tuple(troubles),
        within=15 * MINUTE,
        reconcile=seed % 3 != 0,
        hostile=HOSTILE,
        work=dice.choice([0, SECOND // 1000]),
    )


def check_besieged(scenario: Scenario) -> Outcome:
    """The run itself asserts I1 to I7 among the honest; here is that they come together."""
    outcome = run(scenario)
    told = f"seed {scenario.seed}: {outcome}"
    assert outcome.converged, told
    assert outcome.written > scenario.messages // 2, told
    assert outcome.seconds_to_converge <= CONVERGED_WITHIN, told
    assert sum(outcome.hostile_acts.values()) > 20, told
    return outcome


def quick(seed: int) -> Scenario:
    """The same in twelve seconds: there is time for a few acts of each."""
    return replace(besieged(seed), messages=12, work=0, troubles=())


@pytest.mark.parametrize("seed", SAMPLE)
def test_honest_people_converge_among_hostile_ones(seed: int) -> None:
    outcome = run(quick(seed))

    assert outcome.converged, f"seed {seed}: {outcome}"
    assert outcome.written == 12
    assert sum(outcome.hostile_acts.values()) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", LARGER_SAMPLE)
def test_more_honest_people_converge_among_hostile_ones(seed: int) -> None:
    check_besieged(besieged(seed))


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("cell", CELLS)
def test_the_whole_grid_of_hostile_runs_converges(cell: int) -> None:
    outcomes = [check_besieged(besieged(seed)) for seed in range(cell * CELL, (cell + 1) * CELL)]

    acts = sum(sum(outcome.hostile_acts.values()) for outcome in outcomes)
    seconds = sorted(outcome.seconds_to_converge for outcome in outcomes)
    print(
        f"\nhostile seeds {cell * CELL} to {(cell + 1) * CELL - 1}: {len(outcomes)} runs, all "
        f"converged, p50 {seconds[len(seconds) // 2]:.1f} s, at most {seconds[-1]:.1f} s; "
        f"{acts} hostile acts, "
        f"{sum(outcome.deliveries for outcome in outcomes)} deliveries, "
        f"{sum(outcome.gaps for outcome in outcomes)} gaps, "
        f"{sum(sum(outcome.refused_for.values()) for outcome in outcomes)} refused"
    )


@pytest.mark.parametrize(
    "act",
    [pytest.param(act, marks=[pytest.mark.slow] if act in LASTING else []) for act in sorted(ACTS)],
)
def test_each_act_alone_is_survived(act: str) -> None:
    world = World(5, 3, terms=Terms(hostile=2))
    assert world.hostiles is not None
    world.run(6 * SECOND)
    world.write_text(0, "before")
    world.run(3 * SECOND)
    for number in range(3):
        for member in world.hostiles.members:
            world.hostiles.act(member, act)
        world.write_text(number, f"line {number}")
        world.run(3 * SECOND)

    for _ in range(20):
        world.run(15 * SECOND)
        if world.converged():
            break

    assert world.hostiles.done[act] == 6
    assert world.converged()
    assert len(world.witness.sent) == 4
    world.check()


@pytest.mark.slow
def test_history_that_is_not_there_holds_up_no_honest_line() -> None:
    outcome = run(besieged(7))

    assert outcome.hostile_acts["history that is not there"] > 0
    assert outcome.converged
    assert outcome.latency_ms.p99 < HELD_UP_MS, outcome


def test_the_same_seed_gives_the_same_hostile_run() -> None:
    assert run(quick(6)) == run(quick(6))
