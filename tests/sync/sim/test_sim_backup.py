"""A backup that is put back among others: nothing is signed twice unseen, and all converge."""

import copy

import pytest

from sync.machine import MINUTE, SECOND
from sync.sim.world import World

SEEDS = range(3)
OWNER = 1


def put_back(world: World, *, alone: bool) -> None:
    """Put OWNER's disk of a while ago back; it writes on, alone at first or among the others."""
    world.run(10 * SECOND)
    for number in range(9):
        world.write_text(number % 3, f"line {number}")
        world.run(SECOND)
    backup = copy.deepcopy(world.nodes[OWNER].disk)
    for number in range(9):
        world.write_text(number % 3, f"later {number}")
        world.run(SECOND)
    world.run(20 * SECOND)
    assert world.converged()
    world.crash(OWNER)
    kept = {message_id for _, message_id in backup.log()}
    world.witness.withdrawn(OWNER, world.witness.shown[OWNER] - kept)
    own = [row.message.entry.header for row in backup.rows.values()]
    newest = max((one.seq, one.lamport) for one in own if one.author == backup.me)
    if alone:  # it cannot know better
        world.witness.newest[backup.me, backup.log_number] = newest
    world.nodes[OWNER].disk = backup
    if alone:
        world.partition({OWNER}, {0, 2})
    world.restart(OWNER)
    if not alone:
        world.run(30 * SECOND)


@pytest.mark.parametrize("seed", SEEDS)
def test_who_hears_of_it_in_time_signs_no_number_twice(seed: int) -> None:
    world = World(3, seed)
    put_back(world, alone=False)
    for number in range(6):
        world.write_text(OWNER, f"anew {number}")
        world.run(SECOND)
    world.run(2 * MINUTE)

    assert world.converged()
    places = [place_of(world, one) for _, one in world.nodes[0].disk.log()]
    assert len(places) == len(set(places))
    assert [node.disk.contradictions for node in world.nodes] == [[], [], []]


def place_of(world: World, message_id: object) -> tuple[object, int, int]:
    header = world.nodes[0].disk.rows[message_id].message.entry.header  # type: ignore[index]
    return header.author, header.log, header.seq


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_signed_twice_before_is_told_to_everybody(seed: int) -> None:
    world = World(3, seed)
    put_back(world, alone=True)
    world.write_text(OWNER, "signed as a number that was taken")
    world.run(5 * SECOND)
    world.heal()
    world.run(2 * MINUTE)

    assert world.converged()
    for node in world.nodes:
        [found] = node.disk.contradictions
        assert found.author == world.nodes[OWNER].disk.me
        assert found.what.value == "fork"
