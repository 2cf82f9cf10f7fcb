"""A late joiner among people who go on writing: a preview first, then everything, in order.

Whatever fails meanwhile, no message that is on its way is shown as missing or asked for.
"""

from collections.abc import Callable, Sequence

import pytest

from sync.group.values import (
    PAGE,
    Broadcast,
    Deliver,
    Missing,
    Previewed,
    SessionEnded,
    Status,
    StoredMessage,
)
from sync.machine import MILLISECOND, MINUTE, SECOND, MessageId, Nanos
from sync.manager.registry import WAKU_ONLY
from sync.runner.runner import Release
from sync.sds.wire import decode
from sync.sim.network import PERFECT, Link
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World
from tests.support.storage.archives import archive, assert_equal

pytestmark = pytest.mark.slow

SEEDS = range(3)
HISTORY = 3_000
LATE = 3
PATIENT: Nanos = MINUTE
"""Enough for all sessions of a run without trouble, and for one that is repeated."""


class Seat:
    """Records what the late joiner was shown, and what it asked for."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.previewed: list[MessageId] = []
        self.delivered: list[MessageId] = []
        self.after_gap: list[MessageId] = []
        self.missing: list[MessageId] = []
        self.asked: list[MessageId] = []
        self.ended: list[SessionEnded] = []
        self.first_preview_among: int | None = None
        """Number delivered by the first preview."""
        world.listeners.append(self.note)

    def note(self, number: int, release: Release) -> None:
        if number != LATE:
            return
        match release.effect:
            case Previewed(message_id):
                if self.first_preview_among is None:
                    self.first_preview_among = len(self.delivered)
                self.previewed.append(message_id)
            case Deliver(message_id):
                self.delivered.append(message_id)
                if self.world.nodes[LATE].disk.rows[message_id].after_gap:
                    self.after_gap.append(message_id)
            case Missing(message_id):
                self.missing.append(message_id)
            case Broadcast(payload):
                self.asked += [entry.message_id for entry in decode(payload).repair_request]
            case SessionEnded():
                self.ended.append(release.effect)
            case _:
                pass


def before_joining(seed: int, link: Link = PERFECT) -> tuple[World, Seat, Sequence[StoredMessage]]:
    """Three who share a long history and see each other; the fourth is not there yet."""
    history = archive("carol", HISTORY)
    world = World(LATE + 1, seed, link, Terms(protocols=WAKU_ONLY))
    world.crash(LATE)
    for number in range(LATE):
        world.preload(number, history)
    world.run(10 * SECOND)
    return world, Seat(world), history


def join_while_writing(world: World, lines: int = 40) -> None:
    """Start the late one, and let the others write meanwhile."""
    world.restart(LATE)
    for number in range(lines):
        world.write_text(number % LATE, f"live {number}")
        world.run(250 * MILLISECOND)


def check_calm(seat: Seat, history: Sequence[StoredMessage]) -> None:
    """Check that nothing on its way was shown as missing or asked for, and nothing has a gap."""
    past = {message.entry.message_id for message in history}
    told = f"seed={seat.world.seed}"
    assert not past.intersection(seat.missing), told
    assert not past.intersection(seat.asked), told
    assert not seat.after_gap, told
    assert seat.world.witness.gaps == 0, told


@pytest.mark.parametrize("seed", SEEDS)
def test_the_late_one_gets_everything_in_order_and_asks_for_nothing(seed: int) -> None:
    world, seat, history = before_joining(seed)

    join_while_writing(world)
    world.run(PATIENT)

    check_calm(seat, history)
    assert len(seat.delivered) == len(set(seat.delivered)) == HISTORY + 40
    assert seat.previewed, f"seed={seed}"
    assert seat.first_preview_among == 0, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
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


@pytest.mark.parametrize("cut_after", [20, 1_000, 2_900])
@pytest.mark.parametrize("seed", SEEDS)
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


def sender(world: World) -> int | None:
    """The node with which the late one reconciles what it lacks."""
    runner = world.nodes[LATE].runner
    assert runner is not None
    for session in runner.groups[CHANNEL].sessions.by_peer.values():
        if session.exchange is not None:
            return next(n.number for n in world.nodes if n.identity.peer_id == session.peer)
    return None


def stored(world: World) -> int:
    return len(world.nodes[LATE].disk.rows)


def run_until(world: World, holds: Callable[[], object]) -> None:
    until = world.now + MINUTE
    while not holds():
        assert world.now < until, "it never came so far"
        world.run(MILLISECOND)


@pytest.mark.parametrize("seed", SEEDS)
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


@pytest.mark.parametrize("seed", SEEDS)
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
