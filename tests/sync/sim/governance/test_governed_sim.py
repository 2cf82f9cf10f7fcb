"""A governed channel in the simulator: one membership and one log at everybody, after any cut."""

import random

import pytest

from sync.calimero.governance.ops import (
    Add,
    Join,
    Key,
    Leave,
    Op,
    Policy,
    Remove,
    Role,
    SetPolicy,
    SetRole,
)
from sync.calimero.governance.projection import State
from sync.entries.identity import Identity
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND
from sync.sim.governance.codes import governing_of, make_code, removal, take_code
from sync.sim.network import Link
from sync.sim.world import Terms, World
from tests.support.sync.governed_sim import drawn_about, key_of

BAD = Link(delay=(1 * MILLISECOND, 80 * MILLISECOND), loss=0.15, duplicate=0.05)
SIDES = ((0, 1, 5), (2, 3, 4, 6))
"""Nodes of both sides of the cut; the last of each is not in at first."""

ABLE = (0, 1, 3, 3, 2)
"""Those who govern, mostly: the owner, an admin on each side, and a member."""

STRANGERS = (5, 6)
SIZE = 7


def stranger(rng: random.Random) -> Identity:
    return Identity.from_seed(rng.randbytes(32), rng.randbytes(32))


def drawn(world: World, actor: int, rng: random.Random) -> Op:
    other = key_of(world, rng.choice([one for one in range(1, SIZE) if one != actor]))
    match rng.randrange(6):
        case 0 | 1 | 2:
            return drawn_about(world, actor, other, rng)
        case 3:
            new = stranger(rng)
            return Add(Key(new.public_key), new.noise_public, Role.MEMBER)
        case 4:
            again = world.nodes[rng.randrange(1, SIZE)].identity
            return Add(Key(again.public_key), again.noise_public, Role.MEMBER)
        case _:
            return Leave() if actor and rng.random() < 0.3 else SetPolicy(Policy())


def state_of(world: World, number: int) -> State:
    return governing_of(world, number).governance.now


def roles(world: World, number: int) -> dict[Key, Role]:
    return {who: one.role for who, one in state_of(world, number).people.items()}


def run(seed: int) -> World:
    """Both sides of a cut write, govern and let in by codes; then it heals."""
    rng = random.Random(seed)
    world = World(SIZE, seed, BAD, Terms(governed=True, strangers=frozenset(STRANGERS)))
    world.run(20 * SECOND)
    world.act(0, SetRole(key_of(world, 1), Role.ADMIN))
    world.act(0, SetRole(key_of(world, 3), Role.ADMIN))
    world.run(10 * SECOND)
    world.partition(*map(set, SIDES))
    come = {turn: side for side in range(2) for turn in (rng.randrange(5, 30),)}
    for turn in range(40):
        actor = rng.randrange(SIZE)
        if turn in come:
            let_in(world, come[turn], rng)
        step(world, actor, rng)
        world.run(rng.randrange(100 * MILLISECOND, 3 * SECOND))
        world.restart(actor)
    world.network.heal()
    world.links.rewired()
    world.run(4 * MINUTE)
    return world


def let_in(world: World, side: int, rng: random.Random) -> None:
    """Give the stranger of a side a code that a member there made."""
    *members, newcomer = SIDES[side]
    world.run(SECOND)  # whoever was started anew has loaded its ops
    code = make_code(world, rng.choice(members))
    world.run(SECOND)
    take_code(world, newcomer, code)


def step(world: World, actor: int, rng: random.Random) -> None:
    """Let somebody govern or write; at times they crash, and at times in the commit of that."""
    chance = rng.random()
    if chance < 0.08:
        world.crash_in_commit(actor)
    if rng.random() < 0.35:
        able = rng.choice(ABLE)
        if governing_of(world, able).governance.dag.acts:
            world.act(able, drawn(world, able, rng))
    else:
        world.write_text(actor, f"{world.seed} {rng.random()}", world.governed)
    if chance > 0.95:
        world.crash(actor)
        world.run(SECOND)


def is_in(world: World, number: int) -> bool:
    """Return whether a node is in by what it knows."""
    return governing_of(world, number).is_in(world.nodes[number].identity.peer_id) is True


def check(world: World) -> None:
    """Assert that everybody who is in knows the same, and who is out knows that."""
    world.check()
    inside = next(number for number in range(SIZE) if is_in(world, number))
    first, everybody = governing_of(world, inside), roles(world, inside)
    epoch = first.governance.dag.acts[first.governance.now.epoch].id
    for number in range(SIZE):
        own = everybody.get(key_of(world, number))
        other = governing_of(world, number)
        if own is None:
            assert number in STRANGERS
            continue
        assert other.governance.dag.acts, f"node {number} never got the ops"
        assert roles(world, number).get(key_of(world, number)) == own
        if own is not Role.NONE:
            assert other.governance.heads == first.governance.heads
            assert roles(world, number) == everybody
            assert other.governance.dag.acts[other.governance.now.epoch].id == epoch
            assert other.dropped == first.dropped
            assert not other.pending.entries


@pytest.mark.grid
@pytest.mark.parametrize("seed", range(50))
def test_after_fifty_cuts_too(seed: int) -> None:
    check(run(seed))


def test_after_a_cut_everybody_has_one_membership_and_one_log() -> None:
    """With joins on both sides, ops that come to nothing, removals and crashes in a commit."""
    worlds = [run(seed) for seed in range(4)]

    for world in worlds:
        check(world)
    seen = [(world, next(n for n in range(SIZE) if is_in(world, n))) for world in worlds]
    ops = [act.op for world, n in seen for act in governing_of(world, n).governance.dag.acts]
    assert sum(isinstance(op, Join) for op in ops) >= 6
    assert sum(isinstance(op, Remove) for op in ops) >= 2
    assert sum(len(state_of(world, n).voids) for world, n in seen) > 0
    assert sum(world.witness.crashes for world in worlds) > 8


def test_a_newcomer_is_let_in_by_a_code_while_the_inviter_is_away() -> None:
    world = World(4, 3, Link(), Terms(governed=True, strangers=frozenset({3})))
    assert world.governed is not None
    world.run(20 * SECOND)
    world.write_text(1, "before", world.governed)
    code = make_code(world, 1)
    world.run(5 * SECOND)
    world.crash(1)
    world.run(5 * SECOND)
    assert len(world.nodes[3].disks[world.governed]) == 0, "a stranger gets nothing"
    assert not governing_of(world, 3).governance.dag.acts

    take_code(world, 3, code)
    world.run(20 * SECOND)
    world.write_text(3, "hello", world.governed)
    world.run(5 * SECOND)
    world.restart(1)
    world.run(60 * SECOND)

    world.check()
    assert [len(node.disks[world.governed]) for node in world.nodes] == [2, 2, 2, 2]
    assert roles(world, 1)[key_of(world, 3)] is Role.MEMBER


def test_who_left_and_came_in_again_while_nobody_heard_it_is_in_for_everybody() -> None:
    """For the others they were out, so what they told of was heard by nobody, for good."""
    world = World(3, 3, Link(), Terms(governed=True))
    assert world.governed is not None
    world.run(20 * SECOND)
    code = make_code(world, 0)
    world.run(5 * SECOND)
    world.act(2, Leave())
    world.run(5 * SECOND)
    assert roles(world, 0)[key_of(world, 2)] is Role.NONE
    world.partition({0, 1}, {2})
    take_code(world, 2, code)
    world.run(5 * SECOND)
    assert roles(world, 2)[key_of(world, 2)] is Role.MEMBER

    world.heal()
    world.run(MINUTE)
    world.write_text(2, "hello", world.governed)
    world.run(5 * SECOND)

    world.check()
    assert roles(world, 0)[key_of(world, 2)] is Role.MEMBER
    assert [len(node.disks[world.governed]) for node in world.nodes] == [1, 1, 1]


def test_with_a_code_that_ended_nobody_comes_in_and_no_op_is_learnt() -> None:
    world = World(3, 4, Link(), Terms(governed=True, strangers=frozenset({2})))
    world.run(20 * SECOND)
    code = make_code(world, 0)
    world.run(SECOND)
    world.act(0, removal(world, 0, key_of(world, 1)))
    world.run(5 * SECOND)

    take_code(world, 2, code)
    world.run(60 * SECOND)

    assert key_of(world, 2) not in roles(world, 0)
    assert not governing_of(world, 2).governance.dag.acts


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


def test_a_stranger_s_clock_has_no_vote_in_a_governed_channel() -> None:
    terms = Terms(governed=True, strangers=frozenset({3}))
    world = World(4, 5, Link(), terms, clocks=(0, 0, 0, HOUR))
    assert world.governed is not None

    world.run(MINUTE)

    world.check_bounds()
    for node in world.nodes[:3]:
        assert node.runner is not None
        others = {one.identity.peer_id for one in world.nodes[:3] if one is not node}
        assert set(node.runner.groups[world.governed].aside.reference.members) == others


def test_who_is_let_in_tells_of_their_clock() -> None:
    terms = Terms(governed=True, strangers=frozenset({2}))
    world = World(3, 5, Link(), terms, clocks=(0, 0, HOUR))
    assert world.governed is not None
    world.run(20 * SECOND)
    code = make_code(world, 0)
    world.run(5 * SECOND)

    take_code(world, 2, code)
    world.run(MINUTE)

    assert world.nodes[0].runner is not None
    reference = world.nodes[0].runner.groups[world.governed].aside.reference
    assert reference.members[world.nodes[2].identity.peer_id].offset > MINUTE


def test_who_is_removed_while_their_disk_refuses_learns_it_afterwards() -> None:
    world = World(3, 1, Link(), Terms(governed=True))
    assert world.governed is not None
    world.run(20 * SECOND)
    world.fill_disk(2)
    world.act(0, removal(world, 0, key_of(world, 2)))
    world.run(MINUTE)
    stored = [len(node.disks[world.governed].ops) for node in world.nodes]

    world.free_disk(2)
    world.run(MINUTE)

    assert stored[2] < stored[0]
    assert roles(world, 2)[key_of(world, 2)] is Role.NONE
    world.check()
