"""Histories written apart: one session makes them equal, in as many payloads as planned.

Nodes here lose every broadcast, so that nothing but sessions brings anything.
"""

import random
from itertools import pairwise
from math import ceil, log

import pytest

from sync.group.values import SessionEnded
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.manager.registry import WAKU_ONLY
from sync.sim.network import Link
from sync.sim.world import Terms, World
from sync.waku import answer, answerer, asked
from sync.waku.division import NARROW
from sync.waku.message import ITEM_BYTES_MAX, PAYLOAD_BYTES_MAX, RANGE_BYTES_MAX
from tests.support.grids import with_grid
from tests.support.storage.archives import archive, assert_equal, divided, preloaded, scattered
from tests.support.sync.scenarios import JUMPS

SAMPLE = with_grid([0], [1])
WHOLE_GRID = range(50)
SPREADS = ("uniform", "recent")
POOL = 4_000
LARGE_POOL = 12_000

MUTE = Link(loss=1.0)
WAKU = Terms(protocols=WAKU_ONLY)

MET: Nanos = 6 * SECOND
"""By then all nodes have found each other."""

TOLD_AT_ONCE = PAYLOAD_BYTES_MAX // (2 * RANGE_BYTES_MAX + ITEM_BYTES_MAX)
"""Differences that fit into one payload, each with a range of its own and one between."""


def payloads_planned(ids: int, differences: int) -> int:
    """Return how many payloads a session over `ids` ids takes, both directions counted.

    The opening, and the first division into 64; one for each further division, by six at least,
    until single ids are left; the other side's answer to these, and the end. The last three are
    needed again for each payload that the differences fill.
    """
    divisions = ceil(log(max(ids / NARROW.wide_partitions, 1), min(NARROW.choices[1:])))
    return 2 + divisions + 2 + 3 * (differences // TOLD_AT_ONCE)


def the_session(world: World) -> tuple[SessionEnded, SessionEnded]:
    """Return what both sides report of the only session."""
    one, other = world.witness.sessions
    return one, other


def check_one_session(differences: int, spread: str, seed: int) -> None:
    """Let two who differ in so many messages meet once."""
    pool = scattered(LARGE_POOL if differences >= POOL else POOL)
    left, right = divided(pool, differences, spread, random.Random(seed))
    world = preloaded([left, right], seed, World(2, seed, MUTE, WAKU))

    world.run(2 * MINUTE)

    one, other = the_session(world)
    assert one.converged, f"seed={seed}: {one}"
    assert other.converged, f"seed={seed}: {other}"
    assert {one.need, one.have} == {len(pool) - len(left), len(pool) - len(right)}
    assert one.rounds + other.rounds <= payloads_planned(len(pool), differences), f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize(
    "differences", [1, 10, 100, 1_000, pytest.param(10_000, marks=pytest.mark.slow)]
)
def test_one_session_finds_every_difference_in_few_payloads(
    differences: int, spread: str, seed: int
) -> None:
    check_one_session(differences, spread, seed)


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("differences", [1, 10, 100, 1_000, 10_000])
def test_the_whole_grid_of_differences_is_found(differences: int, spread: str) -> None:
    for seed in WHOLE_GRID:
        check_one_session(differences, spread, seed)


@pytest.mark.parametrize("seed", SAMPLE)
def test_equal_histories_cost_one_fingerprint_and_one_check(seed: int) -> None:
    pool = scattered(POOL)
    world = preloaded([pool, pool], seed, World(2, seed, MUTE, WAKU))

    world.run(MINUTE)

    assert [(ended.result, ended.rounds) for ended in the_session(world)] == [("equal", 1)] * 2
    assert world.streams.sent_bytes < 200
    assert_equal(world)


OLD = 1
"""Payloads of an answer that a program of before takes, and sends."""


def compared_in_little_room(seed: int, old: set[int]) -> World:
    """Two who differ in much, with payloads of little room and small steps; run to the end."""
    pool = scattered(1_200)
    left, right = divided(pool, 400, "uniform", random.Random(seed))
    terms = Terms(work=MILLISECOND, protocols=WAKU_ONLY)
    world = preloaded([left, right], seed, World(2, seed, MUTE, terms))
    for node in world.nodes:
        if node.number in old:
            node.payloads_max = OLD
    world.run(2 * MINUTE)
    one, other = the_session(world)
    assert one.converged, f"seed={seed}: {one}"
    assert other.converged, f"seed={seed}: {other}"
    assert_equal(world)
    return world


def answers_in_several(world: World) -> bool:
    """Return whether a side sent a payload directly behind another one."""
    node = world.nodes[0]
    assert node.runner is not None
    [session] = node.runner.groups[world.channel].sessions.shown
    return any(one.sent and other.sent for one, other in pairwise(session.rounds))


@pytest.mark.parametrize("old", [set(), {0}, {1}], ids=["both new", "0 is old", "1 is old"])
def test_programs_of_before_and_of_now_find_every_difference(
    old: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (answer, answerer):
        monkeypatch.setattr(module, "RANGES_MAX", 220)
    monkeypatch.setattr(asked, "WORK", 64)

    runs = [compared_in_little_room(3, old) for _ in range(2)]

    several = [answers_in_several(world) for world in runs]
    assert several == [not old, not old]
    assert runs[0].witness.sessions == runs[1].witness.sessions
    assert runs[0].streams.sent_bytes == runs[1].streams.sent_bytes


LASTING = (SECOND, 5 * SECOND, 20 * SECOND, MINUTE, 10 * MINUTE, HOUR)


def check_partition(lasts: Nanos, seed: int) -> None:
    """Cut four nodes in two, let all write meanwhile, heal."""
    dice = random.Random(seed)
    world = World(4, seed, Link(loss=dice.choice([0.0, 0.1, 0.3])))
    world.run(MET)
    world.partition({0, 1}, {2, 3})
    lines = dice.choice([4, 20, 60])
    for number in range(lines):
        world.write_text(dice.randrange(4), f"line {number}")
        world.run(lasts // lines)
    world.heal()
    world.run(5 * MINUTE)

    assert len(world.logs()[0]) == lines, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
@pytest.mark.parametrize("lasts", LASTING)
def test_what_both_sides_of_a_partition_wrote_is_everywhere_after_it(
    lasts: Nanos, seed: int
) -> None:
    check_partition(lasts, seed)


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("lasts", LASTING)
def test_the_whole_grid_of_partitions_heals(lasts: Nanos) -> None:
    for seed in WHOLE_GRID:
        check_partition(lasts, seed)


@pytest.mark.parametrize("seed", SAMPLE)
def test_histories_full_of_holes_fill_each_other(seed: int) -> None:
    dice = random.Random(seed)
    whole = archive("carol", 1_000)
    kept = [dice.choice(("both", "both", "left", "right")) for _ in whole]
    left, right = (
        [message for message, where in zip(whole, kept, strict=True) if where in {"both", side}]
        for side in ("left", "right")
    )
    world = preloaded([left, right], seed, World(2, seed, MUTE, WAKU))

    world.run(2 * MINUTE)

    assert all(ended.converged for ended in the_session(world)), f"seed={seed}"
    assert len(world.logs()[0]) == len(whole)
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
def test_an_old_message_that_came_after_the_last_session_is_handed_on(seed: int) -> None:
    old, *new = scattered(500)
    world = preloaded([[old], new, new], seed, World(3, seed, MUTE, WAKU))
    world.partition({0}, {1, 2})
    world.run(MINUTE)
    between = len(world.witness.sessions)
    assert [len(log) for log in world.logs()] == [1, len(new), len(new)]

    world.partition({0, 1}, {2})
    world.run(MINUTE)
    assert [len(log) for log in world.logs()] == [len(new) + 1, len(new) + 1, len(new)]
    world.partition({0}, {1, 2})
    world.run(MINUTE)

    assert between == 2
    assert len(world.logs()[2]) == len(new) + 1, f"seed={seed}"
    assert_equal(world)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE)
def test_ten_thousand_messages_of_one_nanosecond_are_told_apart(seed: int) -> None:
    pool = scattered(10_000, span=0)
    left, right = divided(pool, 40, "uniform", random.Random(seed))
    world = preloaded([left, right], seed, World(2, seed, MUTE, WAKU))

    world.run(MINUTE)

    assert all(ended.converged for ended in the_session(world)), f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("offset", JUMPS)
@pytest.mark.parametrize("seed", SAMPLE)
def test_a_clock_that_was_wrong_in_a_partition_leaves_all_sets_equal(
    seed: int, offset: Nanos
) -> None:
    world = World(3, seed)
    world.run(MET)
    world.partition({0}, {1, 2})
    world.run(20 * SECOND)
    world.set_clock(0, offset)
    for number in range(30):
        world.write_text(number % 3, f"line {number}")
        world.run(500 * MILLISECOND)
    world.heal()
    world.run(30 * SECOND)
    world.set_clock(0, 0)
    world.run(20 * MINUTE)

    assert_equal(world)
