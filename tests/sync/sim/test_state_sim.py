"""State in the simulator: what somebody sets is at everybody who hears it, and on their disks."""

import pytest

from sync.calimero.governance.ops import Access, Key, Policy, SetPolicy
from sync.calimero.state.contents import Held, Pin, Profile, StateKind, Topic
from sync.calimero.state.folds import pins, topic
from sync.calimero.state.registers import Registers
from sync.machine import SECOND
from sync.manager.registry import WITH_STATE
from sync.sessions.values import Plane, SessionEnded
from sync.sim.governance.codes import removal
from sync.sim.world import Terms, World

SIZE = 4


def registers(world: World, number: int) -> Registers:
    runner = world.nodes[number].runner
    assert runner is not None
    channel = world.governed or next(iter(runner.groups))
    return runner.groups[channel].stating.registers


def roots(world: World) -> set[bytes]:
    return {registers(world, number).tree.root for number in range(SIZE)}


def everybody(_: Key) -> bool:
    return True


def test_what_is_set_is_at_everybody_at_once_and_still_there_after_a_crash() -> None:
    world = World(SIZE, 1)
    world.run(6 * SECOND)
    world.write_text(0, "hello")
    world.write_text(1, "hello")
    world.run(SECOND)
    world.set_state(0, Topic("tea"))
    world.run(SECOND)
    world.set_state(1, Topic("coffee"))
    world.set_state(1, Pin(), kind=StateKind.PIN, name=bytes(32))
    world.set_state(1, Profile("bob", "teal"), kind=StateKind.PROFILE)
    world.run(SECOND)
    assert len(roots(world)) == 1
    found = topic(registers(world, 2), everybody)
    assert found is not None
    assert found[0] == "coffee"
    world.crash(2)
    world.run(SECOND)
    world.restart(2)
    world.run(SECOND)
    assert len(roots(world)) == 1
    assert [name for name, _ in pins(registers(world, 2), everybody)] == [bytes(32)]


def test_in_an_open_channel_what_somebody_sets_counts_once_they_have_written() -> None:
    world = World(SIZE, 1)
    world.run(6 * SECOND)
    world.set_state(0, Topic("buy this"))
    world.set_state(0, Profile("eve"), kind=StateKind.PROFILE)
    world.run(SECOND)
    assert [len(registers(world, number)) for number in range(SIZE)] == [0] * SIZE
    world.write_text(0, "hello")
    world.run(SECOND)
    world.set_state(0, Topic("tea"))
    world.run(SECOND)
    found = topic(registers(world, 1), everybody)
    assert found is not None
    assert found[0] == "tea"


def test_in_a_governed_channel_who_may_not_set_the_topic_sets_none() -> None:
    world = World(SIZE, 1, terms=Terms(governed=True))
    assert world.governed is not None
    world.run(6 * SECOND)
    world.act(0, SetPolicy(Policy(topic=Access.ADMINS)))
    world.run(2 * SECOND)
    world.set_state(1, Topic("mine"), world.governed)
    world.set_state(0, Topic("ours"), world.governed)
    world.run(SECOND)
    found = topic(registers(world, 2), everybody)
    assert found is not None
    assert found[0] == "ours"
    assert len(roots(world)) == 1


def test_what_was_set_beside_a_removal_waits_for_governance_and_then_stands_everywhere() -> None:
    world = World(SIZE, 1, terms=Terms(governed=True))
    assert world.governed is not None
    world.run(6 * SECOND)
    world.partition({0, 1}, {2, 3})
    world.run(20 * SECOND)
    world.act(0, removal(world, 0, Key(world.nodes[3].identity.public_key)))
    world.set_state(1, Topic("after the removal"), world.governed)
    world.run(2 * SECOND)
    assert len({registers(world, one).tree.root for one in (0, 1)}) == 1
    assert len(registers(world, 2)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_all_tables_stay_in_their_bounds_under_a_flood_of_pins(seed: int) -> None:
    world = World(SIZE, seed)
    world.run(6 * SECOND)
    world.write_text(0, "hello")
    for line in range(200):
        world.set_state(0, Pin(), kind=StateKind.PIN, name=line.to_bytes(32, "big"))
    world.run(2 * SECOND)
    assert len(registers(world, 0)) == 128
    world.run(100 * SECOND)
    assert len(registers(world, 1)) <= 128


def talkative(seed: int, *, governed: bool = False) -> World:
    """Return a world whose programs compare state."""
    return World(SIZE, seed, terms=Terms(protocols=WITH_STATE, governed=governed))


@pytest.mark.parametrize("seed", range(3))
def test_two_halves_that_set_things_apart_agree_within_two_beats_of_meeting(seed: int) -> None:
    world = talkative(seed)
    world.run(6 * SECOND)
    for number in range(SIZE):
        world.write_text(number, "hello")
    world.run(SECOND)
    world.partition({0, 1}, {2, 3})
    world.run(20 * SECOND)
    world.set_state(0, Topic("left"))
    world.set_state(1, Profile("bob"), kind=StateKind.PROFILE)
    world.run(SECOND)
    world.set_state(2, Topic("right"))
    for line in range(40):
        world.set_state(3, Pin(), kind=StateKind.PIN, name=line.to_bytes(32, "big"))
    world.run(SECOND)
    assert len(roots(world)) == 2
    world.heal()
    world.run(70 * SECOND)
    assert len(roots(world)) == 1
    found = topic(registers(world, 0), everybody)
    assert found is not None
    assert found[0] == "right"
    assert len(pins(registers(world, 1), everybody)) == 40


def test_an_entry_lost_on_the_way_is_found_by_the_roots_alone() -> None:
    world = talkative(1)
    world.run(6 * SECOND)
    world.write_text(0, "hello")
    world.run(SECOND)
    world.crash(3)
    world.set_state(0, Topic("while you were away"))
    world.run(2 * SECOND)
    world.restart(3)
    world.run(70 * SECOND)
    found = topic(registers(world, 3), everybody)
    assert found is not None
    assert found[0] == "while you were away"


def test_equal_states_begin_no_session() -> None:
    world = talkative(2)
    world.run(6 * SECOND)
    world.write_text(0, "hello")
    world.run(SECOND)
    world.set_state(0, Topic("tea"))
    world.run(3 * 60 * SECOND)
    assert not [one for one in sessions(world) if one.plane is Plane.STATE]


def sessions(world: World) -> list[SessionEnded]:
    return [one for room in world.rooms.values() for one in room.witness.sessions]


def test_a_governed_channel_agrees_on_governance_first_and_then_on_state() -> None:
    world = talkative(3, governed=True)
    assert world.governed is not None
    world.run(6 * SECOND)
    world.partition({0, 1}, {2, 3})
    world.run(20 * SECOND)
    world.act(0, SetPolicy(Policy(topic=Access.ADMINS)))
    world.run(SECOND)
    world.set_state(0, Topic("ours"), world.governed)
    world.set_state(2, Topic("theirs"), world.governed)
    world.run(SECOND)
    world.heal()
    world.run(120 * SECOND)
    assert len(roots(world)) == 1


def mark_of(world: World, number: int, at: int) -> Held | None:
    entry = registers(world, at).of(Key(world.nodes[number].identity.public_key), StateKind.HELD)
    says = None if entry is None else entry.says
    return says if isinstance(says, Held) else None


def test_what_is_held_is_told_after_it_was_delivered_and_no_more_often_than_it_changes() -> None:
    world = talkative(4)
    world.run(6 * SECOND)
    for number in range(SIZE):
        world.write_text(number, "hello")
    world.run(40 * SECOND)
    told = mark_of(world, 1, at=0)
    assert told is not None
    assert told.gaps == 0
    stamps = [one.signed.stamp for one in registers(world, 0).of_kind(StateKind.HELD).values()]
    assert len(stamps) == SIZE
    world.run(120 * SECOND)
    assert stamps == [
        one.signed.stamp for one in registers(world, 0).of_kind(StateKind.HELD).values()
    ]


def test_a_tick_survives_whoever_gave_it() -> None:
    """Node 0 writes, 1 receives and says so to 2 alone, then both are away; 2 tells 0 of it."""
    world = talkative(5)
    world.run(6 * SECOND)
    for number in range(SIZE):
        world.write_text(number, "hello")
    world.run(40 * SECOND)
    world.crash(3)
    world.partition({0, 1}, {2})
    world.run(20 * SECOND)
    world.write_text(0, "are you there?")
    world.run(SECOND // 20)
    world.crash(0)
    world.run(60 * SECOND)
    world.heal()
    world.run(60 * SECOND)
    assert mark_of(world, 1, at=2) == mark_of(world, 1, at=1)
    world.crash(1)
    world.run(SECOND)
    world.restart(0)
    pending = world.nodes[0].disks[next(iter(world.rooms))].restore().outgoing
    assert len(pending) == 1
    world.run(60 * SECOND)
    assert world.nodes[0].disks[next(iter(world.rooms))].restore().outgoing == ()
