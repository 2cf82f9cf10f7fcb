"""Lines and state set on both sides of a cut, with loss and crashes: one log and one root after."""

import random

import pytest

from sync.calimero.state.contents import Pin, Profile, StateKind, Topic
from sync.calimero.state.registers import Registers
from sync.group.state_beats import EVERY
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.values import Outcome, Plane, SessionEnded
from sync.sim.network import Link
from sync.sim.world import Terms, World

SIZE = 5
SIDES = ({0, 1}, {2, 3, 4})
WHOLE_GRID = range(50)
SAMPLE = range(3)
LOSSY = Link(loss=0.1, duplicate=0.05, reorder=0.05)


def registers(world: World, number: int) -> Registers:
    runner = world.nodes[number].runner
    assert runner is not None
    return next(iter(runner.groups.values())).stating.registers


def roots(world: World) -> set[bytes]:
    return {registers(world, number).tree.root for number in range(SIZE)}


def sessions(world: World) -> list[SessionEnded]:
    ended = [one for room in world.rooms.values() for one in room.witness.sessions]
    return [one for one in ended if one.plane is Plane.STATE]


def talk(world: World, dice: random.Random, seconds: int) -> None:
    """Let everybody who runs write and set things; now and then somebody crashes and comes back."""
    down: dict[int, int] = {}
    for second in range(seconds):
        for number in [number for number, until in down.items() if until <= second]:
            world.restart(number)
            del down[number]
        number = dice.randrange(SIZE)
        if number in down:
            pass
        elif dice.random() < 0.08 and not down:
            world.crash(number)
            down[number] = second + dice.randrange(2, 8)
        elif dice.random() < 0.4:
            world.write_text(number, f"line {second} of {number}")
        elif dice.random() < 0.3:
            world.set_state(number, Topic(f"topic {second}"))
        elif dice.random() < 0.3:
            name = f"node {number}, {second}"
            world.set_state(number, Profile(name), kind=StateKind.PROFILE)
        else:
            line = dice.randrange(30).to_bytes(32, "big")
            pin = Pin() if dice.random() < 0.7 else None
            world.set_state(number, pin, kind=StateKind.PIN, name=line)
        world.run(SECOND)
    for number in down:
        world.restart(number)


def cut_and_met(seed: int, *, governed: bool = False) -> World:
    dice = random.Random(seed)
    terms = Terms(protocols=WITH_CALIMERO, governed=governed)
    world = World(SIZE, seed, LOSSY, terms)
    world.run(6 * SECOND)
    for number in range(SIZE):
        world.write_text(number, f"hello of {number}")
    world.run(5 * SECOND)
    world.partition(*SIDES)
    talk(world, dice, 40)
    world.heal()
    talk(world, dice, 10)
    for _ in range(20):
        world.run(30 * SECOND)
        if world.converged() and len(roots(world)) == 1:
            break
    return world


def assert_one_of_each(world: World) -> None:
    told = f"seed={world.seed}"
    assert world.converged(), told
    assert len({tuple(log) for log in world.logs()}) == 1, told
    assert len(roots(world)) == 1, told
    assert len(registers(world, 0)) > 3, told
    world.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SAMPLE)
def test_after_a_cut_with_loss_and_crashes_there_is_one_log_and_one_root(seed: int) -> None:
    assert_one_of_each(cut_and_met(seed))


@pytest.mark.grid
def test_the_whole_grid_of_cuts_has_one_log_and_one_root() -> None:
    for seed in WHOLE_GRID:
        assert_one_of_each(cut_and_met(seed))


@pytest.mark.parametrize("seed", range(5))
def test_an_entry_that_the_network_lost_is_found_within_two_beats(seed: int) -> None:
    world = World(SIZE, seed, terms=Terms(protocols=WITH_CALIMERO))
    world.run(6 * SECOND)
    for number in range(SIZE):
        world.write_text(number, "hello")
    world.run(MINUTE)
    before = len(sessions(world))
    lost = world.network.lose_at
    world.network.lose_at = world.network.frames
    world.set_state(0, Topic("lost at one of them"))
    world.run(100 * MILLISECOND)
    apart = len(roots(world))
    world.network.lose_at = lost
    world.run(EVERY * 22 // 10 + 2 * SECOND)

    assert apart == 2
    assert len(roots(world)) == 1
    assert 0 < len(sessions(world)) - before <= 2 * (SIZE - 1)  # one a peer at most, told by both


def test_a_benign_end_is_followed_by_no_rush_and_no_back_off() -> None:
    """Two states that differ by what waits on one side are compared again after minutes."""
    world = World(SIZE, 1, terms=Terms(protocols=WITH_CALIMERO))
    world.run(6 * SECOND)
    for number in range(1, SIZE):
        world.write_text(number, "hello")
    world.run(MINUTE)
    eve = world.nodes[0]
    assert eve.runner is not None
    stating = next(iter(eve.runner.groups.values())).stating
    stating._knows = None  # a program that does not wait for a line of its own
    world.set_state(0, Topic("before a word was written"))
    world.run(10 * MINUTE)
    benign = [one for one in sessions(world) if one.outcome is Outcome.BENIGN]
    per_peer = len(benign) / (2 * (SIZE - 1))

    assert {one.outcome for one in sessions(world)} <= {Outcome.BENIGN, Outcome.CONVERGED}
    assert 1 <= per_peer <= 4
    world.write_text(0, "hello")
    world.run(2 * MINUTE)
    assert len(roots(world)) == 1


def test_what_a_wrong_clock_put_far_ahead_is_signed_anew_once_the_clock_is_right() -> None:
    world = World(SIZE, 3, terms=Terms(protocols=WITH_CALIMERO))
    world.run(6 * SECOND)
    for number in range(SIZE):
        world.write_text(number, "hello")
    world.run(MINUTE)
    world.set_clock(0, 60 * MINUTE)
    runner = world.nodes[0].runner
    assert runner is not None
    group = next(iter(runner.groups.values()))
    taken = group.stating.set(Topic("from the future"), group.now + 60 * MINUTE)
    world.set_clock(0, 0)
    for other in range(1, SIZE):  # as a session of before would have offered it
        there = world.nodes[other].runner
        assert there is not None
        next(iter(there.groups.values())).stating.receive([taken.entry.content], group.now)
    world.run(3 * MINUTE)
    ended = {one.outcome for one in sessions(world)}

    assert len(roots(world)) == 1
    assert taken.entry.content not in [one.content for one in registers(world, 0)]
    assert [one.says for one in registers(world, 1).of_kind(StateKind.TOPIC).values()] == [
        Topic("from the future")
    ]
    assert Outcome.NOT_CONVERGED not in ended
