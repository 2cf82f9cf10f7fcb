"""People of a governed channel in the simulator, and what one may do about another."""

import random

from sync.calimero.governance.ops import Access, Key, Op, Policy, Role, SetPolicy, SetRole
from sync.sim.governance.codes import removal
from sync.sim.world import World


def key_of(world: World, number: int) -> Key:
    """Return by which key a node's person is known."""
    return Key(world.nodes[number].identity.public_key)


def drawn_about(world: World, actor: int, other: Key, rng: random.Random) -> Op:
    """Return a removal of somebody, another role for them, or another policy for all."""
    match rng.randrange(3):
        case 0:
            return removal(world, actor, other)
        case 1:
            return SetRole(other, rng.choice([Role.READER, Role.MEMBER, Role.ADMIN]))
        case _:
            return SetPolicy(Policy(write=rng.choice([Access.MEMBERS, Access.ADMINS])))
