"""A governed channel in the simulator: one membership and one log at everybody, after any cut."""

import random

import pytest

from sync.calimero.governance.ops import (
    Access,
    Add,
    Key,
    Leave,
    Op,
    Policy,
    Role,
    SetPolicy,
    SetRole,
)
from sync.calimero.governance.projection import State
from sync.entries.identity import Identity
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.sim.network import Link
from sync.sim.world import Terms, World
from tests.support.sync.governed_sim import governing_of, removal

BAD = Link(delay=(1 * MILLISECOND, 80 * MILLISECOND), loss=0.15, duplicate=0.05)
SIZE = 5


def key_of(world: World, number: int) -> Key:
    return Key(world.nodes[number].identity.public_key)


def stranger(rng: random.Random) -> Identity:
    return Identity.from_seed(rng.randbytes(32), rng.randbytes(32))


def drawn(world: World, actor: int, rng: random.Random) -> Op:
    other = key_of(world, rng.choice([one for one in range(1, SIZE) if one != actor]))
    match rng.randrange(6):
        case 0:
            return removal(world, actor, other)
        case 1:
            return SetRole(other, rng.choice([Role.READER, Role.MEMBER, Role.ADMIN]))
        case 2:
            return SetPolicy(Policy(write=rng.choice([Access.MEMBERS, Access.ADMINS])))
        case 3:
            new = stranger(rng)
            return Add(Key(new.public_key), new.noise_public, Role.MEMBER)
        case 4:
            again = world.nodes[rng.randrange(1, SIZE)].identity
            return Add(Key(again.public_key), again.noise_public, Role.MEMBER)
        case _:
            return Leave()


def state_of(world: World, number: int) -> State:
    return governing_of(world, number).governance.now


def roles(world: World, number: int) -> dict[Key, Role]:
    return {who: one.role for who, one in state_of(world, number).people.items()}


def run(seed: int) -> World:
    """Both sides of a cut write and govern; then it heals."""
    rng = random.Random(seed)
    world = World(SIZE, seed, BAD, Terms(governed=True))
    world.run(20 * SECOND)
    world.act(0, SetRole(key_of(world, 1), Role.ADMIN))
    world.act(0, SetRole(key_of(world, 3), Role.ADMIN))
    world.run(10 * SECOND)
    world.partition({0, 1}, {2, 3, 4})
    for _ in range(40):
        actor = rng.randrange(SIZE)
        if rng.random() < 0.3:
            world.act(actor, drawn(world, actor, rng))
        else:
            world.write_text(actor, f"{seed} {rng.random()}", world.governed or world.channel)
        world.run(rng.randrange(100 * MILLISECOND, 3 * SECOND))
        if rng.random() < 0.05:
            world.crash(actor)
            world.run(SECOND)
            world.restart(actor)
    world.network.heal()
    world.links.rewired()
    world.run(4 * MINUTE)
    return world


def check(world: World) -> None:
    """Assert that everybody who is in knows the same, and who is out knows that."""
    world.check()
    own = {number: roles(world, number).get(key_of(world, number)) for number in range(SIZE)}
    members = [number for number, role in own.items() if role is not Role.NONE]
    first = governing_of(world, members[0])
    for number in members:
        other = governing_of(world, number)
        assert other.governance.heads == first.governance.heads
        assert roles(world, number) == roles(world, members[0])
        assert other.dropped == first.dropped
        assert not other.pending.entries
    for number, role in own.items():
        assert role == roles(world, members[0]).get(key_of(world, number))


@pytest.mark.parametrize("seed", range(2))
def test_after_a_cut_everybody_has_one_membership_and_one_log(seed: int) -> None:
    check(run(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_after_more_cuts_too(seed: int) -> None:
    check(run(seed))


@pytest.mark.grid
@pytest.mark.parametrize("seed", range(50))
def test_after_fifty_cuts_too(seed: int) -> None:
    check(run(seed))


def test_somebody_removed_writes_no_more_and_what_they_wrote_before_is_everywhere() -> None:
    world = World(3, 1, Link(), Terms(governed=True))
    assert world.governed is not None
    world.run(20 * SECOND)
    world.write_text(2, "before", world.governed)
    world.run(5 * SECOND)
    world.act(0, removal(world, 0, key_of(world, 2)))
    world.run(5 * SECOND)

    world.write_text(2, "after", world.governed)
    world.run(MINUTE)

    world.check()
    assert [len(node.disks[world.governed]) for node in world.nodes] == [1, 1, 1]
    assert roles(world, 1)[key_of(world, 2)] is Role.NONE
