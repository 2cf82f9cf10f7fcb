"""Governing of a node in the simulator, and removals with a new epoch."""

from sync.calimero.governance.ops import Epoch, Key, Remove
from sync.group.governing import Governing
from sync.sim.world import World


def governing_of(world: World, number: int) -> Governing:
    runner = world.nodes[number].runner
    assert runner is not None
    assert world.governed is not None
    governing = runner.groups[world.governed].governing
    assert governing is not None
    return governing


def removal(world: World, actor: int, *who: Key) -> Remove:
    """Return a removal by a node, with the next epoch that it knows of."""
    governance = governing_of(world, actor).governance
    begun = governance.dag.acts[governance.now.epoch].epoch
    return Remove(tuple(sorted(who)), Epoch((begun.number if begun else 0) + 1, bytes(32)), "spam")
