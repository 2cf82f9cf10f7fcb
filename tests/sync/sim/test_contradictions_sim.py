"""A member with two faces among honest ones: they converge, and each of them can tell."""

import pytest

from sync.group.records import Contradicts
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.sim.world import World
from tests.support.sync.entries import Author
from tests.support.sync.hostiles import Mallory, signed_again

SEEDS = range(3)
SIZE = 6
EVE = 5


@pytest.mark.parametrize("seed", SEEDS)
def test_two_faces_are_seen_by_everybody_and_keep_nobody_apart(seed: int) -> None:
    world = World(SIZE, seed)
    eve = Mallory(world, EVE)
    world.run(10 * SECOND)
    world.partition({0, 1, 2, EVE}, {3, 4})
    one = Author("two faces", world.channel)
    lamport = world.now // MILLISECOND
    begun = one.write("to all", lamport=lamport)
    eve.send(begun.payload)
    other = one.fork()
    heads = one.write("heads", after=[begun], lamport=lamport + 1)
    tails = other.write("tails", after=[begun], lamport=lamport + 2)
    eve.send(heads.payload, to=(0, 1))
    eve.send(tails.payload, to=(2,))
    world.heal()
    for number in range(20):
        world.write_text(number % 5, f"line {number}")
        world.run(SECOND)
    world.crash(3)
    world.restart(3)
    world.run(2 * MINUTE)

    assert world.converged()
    world.check()
    key = bytes.fromhex(one.peer_id)
    for node in world.nodes:
        assert node.runner is not None
        logs = node.runner.groups[world.channel].logs
        assert logs.states() == node.disk.restore().logs, "as after a restart"
        assert (logs.height(key, 1), logs.fault(key, 1)) == (1, 2)
        [found] = node.disk.contradictions
        assert found.what is Contradicts.FORK
        assert (found.author, found.seq) == (one.peer_id, 2)
        expected = {heads.entry.message_id, tails.entry.message_id}
        assert {found.message_id, found.other} == expected
        assert expected <= {message_id for _, message_id in node.disk.log()}


@pytest.mark.slow
def test_lines_that_were_signed_twice_are_compared_ever_later() -> None:
    """Each half has other bytes under the same ids, so no two of them ever hold the same."""
    world = World(SIZE, 1)
    eve = Mallory(world, EVE)
    world.run(10 * SECOND)
    one = Author("two faces", world.channel)
    for number in range(20):
        line = one.write(f"{number}", lamport=world.now // MILLISECOND + number)
        eve.send(line.payload, to=(0, 1))
        eve.send(signed_again("two faces", line), to=(2, 3, 4))
    world.run(2 * MINUTE)
    before = world.streams.opened
    world.run(4 * MINUTE)

    assert world.streams.opened - before < 200
    assert world.converged()
    world.check()
