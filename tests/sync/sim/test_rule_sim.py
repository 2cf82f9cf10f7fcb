"""The rule among simulated nodes: no storm, one session at a time, no pause for what is benign.

Each node speaks all protocols of a real one.
"""

from collections import Counter

import pytest

from sync.machine import MINUTE, SECOND
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.values import Outcome, Plane, SessionEnded
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World

OF_A_PAIR_MAX = 6
"""Sessions of two nodes after a cut has healed, handshakes and what they pick counted: one of each
end, one more where messages came meanwhile, and one that was put off."""


def world_of(size: int, seed: int = 3) -> World:
    return World(size, seed, terms=Terms(protocols=WITH_CALIMERO))


def apart(world: World, size: int, lines: int) -> None:
    """Cut a group in two, and have both halves write."""
    world.run(10 * SECOND)
    world.write_text(0, "together")
    world.run(10 * SECOND)
    world.partition(set(range(size // 2)), set(range(size // 2, size)))
    world.run(20 * SECOND)
    for line in range(lines):
        world.write_text(line * size // lines, f"apart {line}")
        world.run(SECOND)


def ended_of(world: World) -> Counter[tuple[str, str]]:
    return Counter([(one.protocol, one.outcome.value) for one in world.witness.sessions])


@pytest.mark.slow
def test_fifty_nodes_that_meet_again_make_no_storm() -> None:
    size = 50
    world = world_of(size)
    apart(world, size, 10)
    world.witness.sessions.clear()
    world.heal()

    world.run(2 * MINUTE)

    ended = world.witness.sessions
    assert len({frozenset(node.disk.rows) for node in world.nodes}) == 1
    pairs = size * (size - 1) // 2
    assert len(ended) / 2 <= OF_A_PAIR_MAX * pairs, ended_of(world)
    failed = [one for one in ended if one.outcome is Outcome.NOT_CONVERGED]
    assert len(failed) <= len(ended) // 100, Counter([one.result for one in failed])
    world.witness.sessions.clear()
    world.run(MINUTE)
    assert len(world.witness.sessions) / 2 <= size, "and then there is calm"


@pytest.mark.parametrize("seed", range(4))
def test_two_who_begin_at_once_have_one_session(seed: int) -> None:
    world = world_of(2, seed)
    apart(world, 2, 4)
    world.heal()
    world.run(MINUTE)
    world.witness.sessions.clear()
    for node, other in zip(world.nodes, reversed(world.nodes), strict=True):
        assert node.runner is not None
        node.runner.ask_sync(CHANNEL, other.identity.peer_id, world.now)

    world.run(20 * SECOND)

    def of(outcome: Outcome) -> list[SessionEnded]:
        return [
            one
            for one in world.witness.sessions
            if one.plane is Plane.LOG and one.outcome is outcome
        ]

    assert not of(Outcome.NOT_CONVERGED)
    assert len(of(Outcome.CONVERGED)) in {2, 4}, "one at both ends, and one more after a put off"
    assert len(of(Outcome.BENIGN)) <= 2


def test_a_peer_that_gives_way_is_no_peer_that_fails() -> None:
    world = world_of(3)
    apart(world, 3, 30)
    world.heal()
    world.run(2 * MINUTE)

    for node in world.nodes:
        assert node.runner is not None
        assert node.runner.manager._choosing.failed._failed == {}
    assert len({frozenset(node.disk.rows) for node in world.nodes}) == 1
