"""A late joiner among people who go on writing: a preview first, then everything, in order.

Whatever fails meanwhile, no message that is on its way is shown as missing or asked for.
"""

import pytest

from sync.group.values import PAGE, Status
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.sim.network import Link
from tests.support.grids import with_grid
from tests.support.storage.archives import assert_equal
from tests.support.sync.joiners import (
    HISTORY,
    LATE,
    before_joining,
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
PATIENT: Nanos = MINUTE
"""Enough for all sessions of a run without trouble, and for one that is repeated."""


@pytest.mark.parametrize("seed", SAMPLE)
def test_the_late_one_gets_everything_in_order_and_asks_for_nothing(seed: int) -> None:
    world, seat, history = before_joining(seed)

    join_while_writing(world)
    world.run(PATIENT)

    check_calm(seat, history)
    assert len(seat.delivered) == len(set(seat.delivered)) == HISTORY + 40
    assert seat.previewed, f"seed={seed}"
    assert seat.first_preview_among == 0, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
def test_lines_that_come_while_history_takes_its_place_are_shown_at_once(seed: int) -> None:
    world, seat, history = before_joining(seed, Link(delay=(MILLISECOND, 2 * MILLISECOND)))
    world.partition({0, LATE}, {1, 2})  # one session alone: the end of another would help
    world.restart(LATE)
    run_until(world, lambda: seat.previewed)
    for number in range(500):
        world.write_text(0, f"live {number}")
        world.run(3 * MILLISECOND)
    world.run(SECOND)

    check_calm(seat, history)
    assert len(seat.delivered) == HISTORY + 500, f"seed={seed}"


@pytest.mark.parametrize(("seed", "cut_after"), CUTS)
def test_a_sender_that_crashes_in_the_middle_is_replaced(seed: int, cut_after: int) -> None:
    world, seat, history = before_joining(seed)
    world.restart(LATE)
    run_until(world, lambda: sender(world) is not None)
    sending = sender(world)
    assert sending is not None
    world.streams.cut_at = world.streams.carried + cut_after
    run_until(world, lambda: seat.ended)

    world.crash(sending)
    world.run(PATIENT)
    in_time = len(world.logs()[LATE])
    world.restart(sending)
    world.run(PATIENT)

    assert "incomplete" in seat.ended[0].result or "gone" in seat.ended[0].result, f"seed={seed}"
    assert in_time == HISTORY, f"seed={seed}"
    check_calm(seat, history)
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_joiner_that_crashes_in_the_middle_goes_on_from_its_disk(seed: int) -> None:
    world, seat, history = before_joining(seed)
    world.restart(LATE)
    run_until(world, lambda: stored(world) > HISTORY // 3)
    assert stored(world) < HISTORY

    world.crash(LATE)
    loading = [row for row in world.nodes[LATE].disk.rows.values() if row.status is Status.LOADING]
    world.run(5 * SECOND)
    join_while_writing(world)
    world.run(PATIENT)

    assert loading, f"seed={seed}"
    check_calm(seat, history)
    assert_equal(world)


@pytest.mark.parametrize("seed", SAMPLE)
def test_what_a_peer_never_sends_is_not_waited_for_for_ever(seed: int) -> None:
    world, seat, history = before_joining(seed)
    oldest = history[:PAGE]
    world.partition({0, LATE}, {1, 2})
    for message in oldest:  # its disk no longer finds them, though it knows of them
        del world.nodes[0].disk._by_hash[message.waku_hash]
    world.run(30 * SECOND)
    world.restart(LATE)
    world.run(10 * SECOND)
    early = list(seat.delivered)
    world.run(2 * MINUTE)
    shown, asked = len(seat.delivered), list(seat.asked)
    world.heal()
    world.run(5 * MINUTE)

    assert early == [], f"seed={seed}"
    assert seat.previewed, f"seed={seed}"
    assert shown == HISTORY - PAGE, f"seed={seed}"
    assert seat.after_gap, f"seed={seed}"
    assert asked, f"seed={seed}"
    assert_equal(world)
