"""Hundreds of people on one broadcast: few ask, few answer, and everybody has every line."""

from functools import cache

import pytest

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, MessageId
from sync.sds.parameters import LAN, PROFILES
from sync.sds.repair import is_in_response_group, response_groups
from sync.sim.network import PERFECT, Link
from sync.sim.scenario import Outcome, Scenario, run
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.sync.scenarios import check

LINES = 50
LOSSY = Link(loss=0.05, delay=(50 * MILLISECOND, 50 * MILLISECOND))
PROFILE_NAMES = tuple(PROFILES)


@cache
def crowd(peers: int, profile: str) -> Outcome:
    """`LINES` lines by `peers` people, each of whom loses a twentieth of all frames."""
    scenario = Scenario(
        peers,
        LINES,
        LOSSY,
        seed=2,
        every=500 * MILLISECOND,
        within=2 * HOUR,
        parameters=PROFILES[profile],
    )
    outcome = run(scenario)
    check(scenario, outcome)
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("profile", with_grid(PROFILE_NAMES[:1], PROFILE_NAMES[1:]))
def test_two_hundred_ask_once_and_are_answered_once(profile: str) -> None:
    check_repairs(200, profile)


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_a_thousand_ask_once_and_are_answered_once(profile: str) -> None:
    check_repairs(1000, profile)


def check_repairs(peers: int, profile: str) -> None:
    """Per loss the median is one request and one response, and at p99 there are three at most."""
    outcome = crowd(peers, profile)

    repairs = outcome.repairs
    assert repairs.losses > 0.9 * LOSSY.loss * LINES * peers, outcome
    assert repairs.open == 0, outcome
    for asked in (repairs.requests, repairs.responses):
        assert asked.p50 == 1, outcome
        assert asked.p99 <= 3, outcome


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_what_each_receives_grows_no_faster_than_the_group(profile: str) -> None:
    small, large = crowd(200, profile), crowd(1000, profile)

    received_each = small.frame_bytes / 200, large.frame_bytes / 1000

    assert received_each[1] / received_each[0] <= 1000 / 200, received_each


def test_the_only_holder_answers_in_the_end_though_it_is_outside_of_the_response_group() -> None:
    size, author, candidates = 260, 0, range(1, 9)
    world = World(size, 5, PERFECT, Terms(mesh=False, reconcile=False))
    world.partition({author, *candidates}, set(range(9, size)))
    world.write_text(author, "for few")
    world.run(SECOND)
    [(_, line)] = world.nodes[author].disk.log()
    holder = next(number for number in candidates if not in_group(world, number, line))
    for number in {author, *candidates} - {holder}:
        world.crash(number)
    world.heal()
    world.write_text(holder, "did you see that?")

    world.run(10 * MINUTE)

    up = [node for node in world.nodes if node.runner is not None]
    assert len(up) == size - 8
    assert all(line in node.disk.rows for node in up)
    assert world.meter.requests[line] >= 2, "nobody of the group could answer the first request"
    assert 1 <= world.meter.responses[line] <= 2


def in_group(world: World, number: int, line: MessageId) -> bool:
    """Return whether a node is in the response group of the first node's line."""
    peer, author = (world.nodes[which].identity.peer_id for which in (number, 0))
    groups = response_groups(len(world.nodes))
    assert groups == 2
    assert LAN.t_max_per_responder
    return is_in_response_group(peer, author, line, groups)
