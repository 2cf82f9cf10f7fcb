"""Whole groups on a virtual clock: through loss, partitions, crashes and full disks to one log.

Here nodes also compare what they hold; `test_sim_grid` has what SDS and SDS-R do alone.
"""

import statistics
import subprocess
import sys
from collections.abc import Sequence

import pytest

from sync.group.future_entries import CLOCK_AHEAD_MAX
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.sds.parameters import WAKU
from sync.sim.scenario import Crash, Outcome, Partition, Scenario, run
from sync.sim.world import World
from tests.support.grids import with_grid
from tests.support.sync.scenarios import SETTLED_WITHIN, check, lossy, troubled

PEERS = (2, 3, 5, 8)
LOSSES = (0.0, 0.05, 0.1, 0.3)
SAMPLE = with_grid([0], [1])
WHOLE_GRID = range(50)

CONVERGED_WITHIN = 60.0
"""Seconds from the last line and trouble to equal logs: the worst of 800 runs took 39, one in which
both answers to a request were lost, and the next one took under 16. What is lost
is sent again after 5 s or missed at the next sync message, and asked for 1.5 s later."""


def check_soon(scenario: Scenario, outcome: Outcome) -> None:
    check(scenario, outcome)
    assert outcome.seconds_to_converge <= CONVERGED_WITHIN, f"seed {scenario.seed}: {outcome}"


@pytest.mark.parametrize("seed", SAMPLE)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("peers", PEERS)
def test_every_group_converges_whatever_happens(peers: int, loss: float, seed: int) -> None:
    scenario = troubled(peers, loss, seed)

    outcome = run(scenario)

    check_soon(scenario, outcome)


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("peers", PEERS)
def test_the_whole_grid_converges(peers: int, loss: float) -> None:
    outcomes = []
    for seed in WHOLE_GRID:
        scenario = troubled(peers, loss, seed)
        outcomes.append(run(scenario))
        check_soon(scenario, outcomes[-1])

    print(cell(peers, loss, outcomes))


def cell(peers: int, loss: float, outcomes: Sequence[Outcome]) -> str:
    """One line of the grid."""
    seconds = sorted(outcome.seconds_to_converge for outcome in outcomes)
    converged = sum(outcome.converged for outcome in outcomes)
    worst = seconds[min(len(seconds) - 1, round(0.99 * len(seconds)))]
    return (
        f"\n{peers} peers, {loss:.0%} loss: {len(outcomes)} runs, {converged} converged, "
        f"p50 {statistics.median(seconds):.2f} s, p99 {worst:.2f} s, "
        f"{sum(outcome.deliveries for outcome in outcomes)} deliveries"
    )


def test_a_quiet_network_needs_no_gap_no_resend_and_no_wait() -> None:
    outcome = run(Scenario(5, messages=50, seed=1, settle=True))

    assert outcome.converged
    assert outcome.seconds_to_converge <= 0.25
    assert outcome.seconds_to_settle <= 5
    assert (outcome.gaps, outcome.failed, outcome.refused) == (0, 0, 0)
    assert outcome.deliveries == 5 * 50


@pytest.mark.parametrize("seed", SAMPLE)
def test_the_same_seed_gives_the_same_run(seed: int) -> None:
    first, second = run(troubled(3, 0.1, seed)), run(troubled(3, 0.1, seed))

    assert first == second


def test_another_seed_gives_another_run() -> None:
    assert run(troubled(3, 0.1, 0)).digest != run(troubled(3, 0.1, 1)).digest


def test_the_same_seed_gives_the_same_run_in_every_process() -> None:
    program = (
        "from sync.sim.network import Link\n"
        "from sync.sim.scenario import Scenario, run\n"
        "link = Link(loss=0.1, duplicate=0.05, reorder=0.05)\n"
        "print(run(Scenario(3, 10, link, seed=4)).digest)"
    )

    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }

    assert len(digests) == 1


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_cut_that_nobody_notices_is_mended_as_well(seed: int) -> None:
    scenario = Scenario(
        3,
        30,
        seed=seed,
        every=SECOND,
        troubles=(Partition(5 * SECOND, 8 * SECOND, side=1),),
        settle=True,
        reconcile=True,
    )

    check_soon(scenario, run(scenario))


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_long_partition_loses_nothing_and_heals_within_ten_seconds(seed: int) -> None:
    trouble = Partition(5 * SECOND, 10 * MINUTE, side=2)
    scenario = Scenario(
        5, 100, seed=seed, every=5 * SECOND, troubles=(trouble,), settle=True, reconcile=True
    )

    outcome = run(scenario)

    check_soon(scenario, outcome)
    assert outcome.seconds_to_converge <= 10, f"seed {seed}: {outcome}"


@pytest.mark.parametrize("seed", SAMPLE)
def test_power_cuts_while_writing_lose_nothing_that_was_shown(seed: int) -> None:
    crashes = tuple(
        Crash((2 + 4 * number) * SECOND + number * MILLISECOND, SECOND, number % 3)
        for number in range(12)
    )
    scenario = Scenario(
        3,
        500,
        lossy(0.1),
        seed,
        every=100 * MILLISECOND,
        troubles=crashes,
        within=SETTLED_WITHIN,
        settle=True,
        reconcile=True,
    )

    check_soon(scenario, run(scenario))


def test_a_full_disk_shows_nothing_and_catches_up_when_there_is_room() -> None:
    world = World(3, seed=5)
    world.run(6 * SECOND)
    world.fill_disk(0)
    for number in range(3):
        world.write_text(number, "while node 0 is full")
    world.run(30 * SECOND)
    full, logs = world.nodes[0].disk.log(), world.logs()

    world.free_disk(0)
    world.write_text(0, "room again")
    world.run(30 * SECOND)

    assert full == []
    assert [len(log) for log in logs] == [0, 2, 2]
    assert [len(log) for log in world.logs()] == [3, 3, 3]
    world.check()


def test_who_joins_late_gets_the_whole_past() -> None:
    world = World(4, seed=3)
    world.crash(3)
    world.run(6 * SECOND)
    for number in range(300):
        world.write_text(number % 3, f"line {number}")
        world.run(50 * MILLISECOND)

    world.restart(3)
    world.run(15 * SECOND)

    assert world.converged()
    assert len(world.logs()[3]) == 300
    world.check()


def test_what_was_written_alone_goes_out_when_somebody_comes() -> None:
    world = World(2, seed=2)
    world.crash(1)
    world.run(6 * SECOND)
    for number in range(100):
        world.write_text(0, f"line {number}")
    world.run(HOUR)

    world.restart(1)
    world.run(30 * SECOND)

    assert len(world.logs()[1]) == 100
    assert world.settled()
    assert world.witness.marks
    world.check()


@pytest.mark.parametrize("ahead", [-10 * MINUTE, 10 * MINUTE])
def test_one_wrong_clock_among_three_changes_nothing_for_the_others(ahead: Nanos) -> None:
    scenario = Scenario(
        3,
        30,
        seed=7,
        every=SECOND,
        clocks=(ahead, 0, 0),
        within=20 * MINUTE,
        settle=True,
        reconcile=True,
    )

    outcome = run(scenario)

    check_soon(scenario, outcome)


def test_between_two_a_clock_ahead_is_waited_for() -> None:
    ahead = 10 * MINUTE
    world = World(2, seed=7, clocks=(ahead, 0))
    world.run(6 * SECOND)
    world.write_text(0, "from the future")
    world.write_text(1, "from now")
    world.run(MINUTE)
    early = world.logs()

    world.run(ahead - CLOCK_AHEAD_MAX)

    assert [len(log) for log in early] == [1, 1], "its own waits with it: the other would park it"
    assert [len(log) for log in world.logs()] == [2, 2]
    assert world.converged()
    world.run(HOUR)
    assert world.settled()
    world.check()


def test_a_clock_that_is_set_right_keeps_what_was_written() -> None:
    world = World(3, seed=9, clocks=(10 * MINUTE, 0, 0))
    world.write_text(0, "before anybody was there")
    world.run(6 * SECOND)
    world.set_clock(0, 0)
    world.write_text(0, "after")
    world.write_text(1, "hello")

    world.run(20 * MINUTE)

    assert world.converged()
    assert len(world.logs()[1]) == 3
    world.check()


def test_the_other_profile_converges_as_well() -> None:
    scenario = Scenario(
        3, 20, lossy(0.1), 3, parameters=WAKU, within=HOUR, settle=True, reconcile=True
    )

    outcome = run(scenario)

    check(scenario, outcome)


def test_an_idle_group_says_little() -> None:
    world = World(8, seed=1)
    world.run(6 * SECOND)
    world.write_text(0, "good night")
    world.run(10 * MINUTE)
    before = world.network.frames

    world.run(HOUR)

    frames_per_minute_and_receiver = (world.network.frames - before) / 60 / 7
    assert frames_per_minute_and_receiver <= 8


@pytest.mark.slow
def test_buffers_are_bounded_after_hours_of_chat() -> None:
    scenario = Scenario(
        3,
        1200,
        lossy(0.1),
        seed=8,
        every=5 * SECOND,
        within=SETTLED_WITHIN,
        settle=True,
        reconcile=True,
    )

    check_soon(scenario, run(scenario))
