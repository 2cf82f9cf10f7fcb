"""Disks that rot, are slow, or cannot be read for a while: all end up with the same words."""

import pytest

from sync.group.values import Damaged, Deliver, Discarded, Warned
from sync.machine import MINUTE, SECOND, MessageId
from sync.runner.runner import Release
from sync.sim.world import World

SEEDS = range(3)
OWNER = 1


class Told:
    """Records what one node discarded, warned of and showed."""

    def __init__(self, world: World, number: int) -> None:
        self.discarded: list[MessageId] = []
        self.warned: list[str] = []
        self.shown: list[MessageId] = []
        self._number = number
        world.listeners.append(self._note)

    def _note(self, number: int, release: Release) -> None:
        if number != self._number:
            return
        match release.effect:
            case Discarded(message_ids):
                self.discarded += message_ids
            case Warned(text):
                self.warned.append(text)
            case Deliver(message_id):
                self.shown.append(message_id)
            case _:
                pass


def spoken(size: int, seed: int, lines: int = 40) -> World:
    """A group that has written for a while, and agrees."""
    world = World(size, seed)
    world.run(10 * SECOND)
    for number in range(lines):
        world.write(number % size, f"line {number}")
        world.run(SECOND)
    world.run(20 * SECOND)
    assert world.converged()
    return world


def ids(world: World, number: int) -> list[MessageId]:
    return [message_id for _, message_id in world.nodes[number].disk.log()]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_rotted_comes_back_and_never_reaches_who_joins(seed: int) -> None:
    world = spoken(4, seed)
    told = Told(world, OWNER)
    bad = ids(world, OWNER)[3:30:4]
    world.rot(OWNER, bad)
    everybody = set(range(4))
    world.partition({OWNER, 3}, everybody - {OWNER, 3})  # who joins hears the owner alone
    world.crash(3)
    world.nodes[3].disk = type(world.nodes[3].disk)(world.nodes[3].identity.peer_id, 7)
    world.witness.withdrawn(3, [*world.witness.shown[3]])
    world.witness.sent -= {one for one in world.witness.sent if one in bad}
    world.restart(3)
    world.run(MINUTE)

    assert sorted(told.discarded) == sorted(bad)
    assert not set(ids(world, 3)) & set(bad), "nobody was given what nobody wrote"
    [warned] = told.warned
    assert f"{len(bad)} messages" in warned

    world.heal()
    world.run(3 * MINUTE)
    assert world.converged()
    world.check()
    assert set(bad) <= set(told.shown)


def test_without_an_entry_of_our_log_no_number_is_signed_twice() -> None:
    world = spoken(3, 0, lines=12)
    told = Told(world, OWNER)
    disk = world.nodes[OWNER].disk
    own = [one for _, one in disk.log() if disk.rows[one].message.entry.header.author == disk.me]
    before = disk.log_number
    world.rot(OWNER, own[-2:])
    world.partition({OWNER}, {0, 2})  # so that nobody tells it what it has lost
    world.give(OWNER, Damaged(tuple(own[-2:])))
    world.run(5 * SECOND)
    world.write(OWNER, "written meanwhile")
    world.run(5 * SECOND)
    world.heal()
    world.run(2 * MINUTE)

    assert told.discarded == own[-2:]
    assert disk.log_number != before
    assert world.converged()
    world.check()
    places = [
        (row.message.entry.header.log, row.message.entry.header.seq)
        for row in world.nodes[0].disk.rows.values()
        if row.message.entry.header.author == disk.me
    ]
    assert len(places) == len(set(places)), "I6"


@pytest.mark.parametrize("seed", SEEDS)
def test_slow_and_unreadable_disks_hold_up_nobody_else_and_lose_nothing(seed: int) -> None:
    world = World(5, seed)
    world.slow_disk(2, 3 * SECOND)
    told = Told(world, OWNER)
    world.run(10 * SECOND)
    for number in range(40):
        world.write(number % 5, f"line {number}")
        if number == 10:
            world.break_disk(OWNER)
            world.crash(4)
            world.crash(2)  # in the middle of a commit, which takes three seconds
        if number == 20:
            world.restart(4)
            world.restart(2)
        if number == 30:
            world.mend_disk(OWNER)
        world.run(SECOND)
    world.slow_disk(2, 0)
    world.run(4 * MINUTE)

    assert world.converged()
    world.check()
    assert sorted(told.shown) == sorted(ids(world, OWNER)), "each was shown once"
