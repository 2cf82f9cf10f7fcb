"""State at once: topic, pins and names are with a newcomer soon after its link, without a line."""

import pytest

from sync.calimero.state.contents import Profile, StateKind, Topic
from sync.machine import SECOND
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.session import OFFERED
from sync.sessions.values import Plane, SessionEnded
from sync.sim.world import Terms, World

AT_ONCE = 3 * SECOND // 2
"""Time in which state is there: two handshakes and a comparison, of up to 50 ms a frame."""


def before_joining(size: int, seed: int) -> World:
    """Return a world of a governed channel without a line; the last one is not there yet."""
    world = World(size, seed, terms=Terms(protocols=WITH_CALIMERO, governed=True))
    assert world.governed is not None
    world.run(10 * SECOND)
    world.crash(size - 1)
    world.set_state(0, Topic("tea at four"), world.governed)
    for number in range(size - 1):
        world.set_state(
            number, Profile(f"name of {number}"), world.governed, kind=StateKind.PROFILE
        )
    world.run(20 * SECOND)
    return world


def roots(world: World) -> set[bytes]:
    assert world.governed is not None
    found = set()
    for node in world.nodes:
        assert node.runner is not None
        found.add(node.runner.groups[world.governed].stating.registers.tree.root)
    return found


def of_state(world: World) -> list[SessionEnded]:
    """Return the sessions over state that somebody began, as their openers saw them end."""
    assert world.governed is not None
    ended = world.rooms[world.governed].witness.sessions
    return [one for one in ended if one.plane is Plane.STATE and one.why != OFFERED]


def come(world: World) -> None:
    """Let the last one come, who sets a name as soon as there is a link."""
    newcomer = world.nodes[-1]
    world.restart(newcomer.number)
    assert newcomer.runner is not None
    assert world.governed is not None
    group = newcomer.runner.groups[world.governed]
    until = world.now + 10 * SECOND
    while not group.peers:
        assert world.now < until, "nobody is there"
        world.run(SECOND // 100)
    world.set_state(newcomer.number, Profile("carol"), world.governed, kind=StateKind.PROFILE)


@pytest.mark.parametrize("seed", range(4))
def test_a_newcomer_who_sets_a_name_at_once_has_the_topic_and_is_known(seed: int) -> None:
    world = before_joining(2, seed)
    come(world)
    world.run(AT_ONCE)
    assert len(roots(world)) == 1
    world.run(70 * SECOND)
    [session] = of_state(world)
    assert session.converged
