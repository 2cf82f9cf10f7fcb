"""A late joiner whom author logs are brought to: in causal order, and nothing counts as missing."""

from functools import partial

import pytest

from sync.machine import MINUTE, SECOND
from sync.manager.registry import WITH_P2PANDA
from sync.sessions.session import Session
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.storage.archives import archive, assert_equal
from tests.support.sync import joiners
from tests.support.sync.joiners import (
    HISTORY,
    LATE,
    check_calm,
    join_while_writing,
    run_until,
    sender,
    stored,
)

pytestmark = pytest.mark.slow

SEEDS = range(3)
SAMPLE = with_grid(SEEDS[:1], SEEDS[1:])
CUTS = [
    pytest.param(seed, cut_after, marks=() if seed == place else pytest.mark.grid)
    for place, cut_after in enumerate((20, 1_000, 2_900))
    for seed in SEEDS
]
"""Each cut with a seed of its own; all pairs are in the whole grid."""
before_joining = partial(joiners.before_joining, protocols=WITH_P2PANDA)


@pytest.mark.parametrize("seed", SAMPLE)
def test_everything_comes_in_order_while_others_write(seed: int) -> None:
    world, seat, history = before_joining(seed)

    join_while_writing(world)
    world.run(MINUTE)

    check_calm(seat, history)
    assert len(seat.delivered) == len(set(seat.delivered)) == HISTORY + 40
    protocols = [one.protocol for one in seat.ended if one.got >= HISTORY]
    assert protocols == ["logheight"], f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize(("seed", "cut_after"), CUTS)
def test_a_sender_that_crashes_is_replaced(seed: int, cut_after: int) -> None:
    world, seat, history = before_joining(seed)
    world.restart(LATE)
    run_until(world, lambda: stored(world) > 0)
    sending = sender(world)
    assert sending is not None
    run_until(world, lambda: stored(world) >= cut_after)

    world.crash(sending)
    world.run(MINUTE)
    in_time = stored(world)
    world.restart(sending)
    world.run(MINUTE)

    assert in_time == HISTORY, f"seed={seed}"
    check_calm(seat, history)
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_joiner_that_crashes_goes_on_from_its_disk(seed: int) -> None:
    world, seat, history = before_joining(seed)
    world.restart(LATE)
    run_until(world, lambda: stored(world) > HISTORY // 3)
    held = stored(world)
    assert held < HISTORY

    world.crash(LATE)
    world.run(5 * SECOND)
    join_while_writing(world)
    world.run(MINUTE)

    brought = sum(one.got for one in seat.ended)
    assert brought <= HISTORY + 40 - held + 64, f"seed={seed}"
    check_calm(seat, history)
    assert_equal(world)


def test_the_card_of_a_session_that_was_put_off_shows_nothing_as_sent_that_was_not() -> None:
    shown = [one for seed in range(4) for one in sessions_of_a_joiner(seed)]

    assert any(one.unsent for one in shown), "else nothing is shown"
    for one in shown:
        assert sum(row.size for row in one.rounds if row.sent) <= one.bytes_out, one.result


def sessions_of_a_joiner(seed: int) -> list[Session]:
    """Return the sessions of somebody who comes to four who have a history."""
    world = World(5, seed, terms=Terms(protocols=WITH_P2PANDA))
    world.crash(4)
    for number in range(4):
        world.preload(number, archive("carol", 600))
    world.run(20 * SECOND)
    world.restart(4)
    world.run(MINUTE)
    joiner = world.nodes[4].runner
    assert joiner is not None
    return list(joiner.groups[world.channel].sessions.shown)
