"""Delta sync in the simulator: holes are found by their ids on a new link, and nobody asked."""

import random
from collections.abc import Sequence

import pytest

from sync.group import values
from sync.machine import MILLISECOND, SECOND
from sync.manager.registry import WITH_CALIMERO
from sync.runner.log_rows import LogKind, LogRow
from sync.sim.bounds import tables
from sync.sim.network import Link
from sync.sim.recording import Recording
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.storage.archives import archive

LINES = 400
NEWEST = 20
TERMS = Terms(protocols=WITH_CALIMERO)
LOSSY = Link(delay=(5 * MILLISECOND, 40 * MILLISECOND), loss=0.05)


def meeting(lacking: Sequence[set[int]], seed: int = 1, link: Link = LOSSY) -> World:
    """Return a world of nodes that hold the same past, but for lines at some places."""
    world = World(len(lacking), seed, link, TERMS)
    for number, but in enumerate(lacking):
        past = archive("carol", LINES)
        world.preload(number, [line for at, line in enumerate(past) if at not in but])
    return world


def sessions_of(world: World) -> list[values.SessionEnded]:
    """Return a list to which each session is added that ends from now on."""
    ended: list[values.SessionEnded] = []

    def note(_: int, release: object) -> None:
        effect = getattr(release, "effect", None)
        if isinstance(effect, values.SessionEnded):
            ended.append(effect)

    world.listeners.append(note)
    return ended


def scattered(count: int, seed: int) -> set[int]:
    return set(random.Random(seed).sample(range(LINES - NEWEST), count))


def test_one_lost_line_is_found_by_delta_sync_on_a_new_link() -> None:
    world = meeting([set(), {LINES // 2}])
    ended = sessions_of(world)

    world.run(20 * SECOND)

    assert world.converged()
    assert {(one.protocol, one.result) for one in ended} == {("delta", "reconciled")}
    assert sorted(one.why for one in ended) == ["new link", "the peer began it"]
    assert sum(one.got for one in ended) == 1
    world.check()


def test_a_lost_run_of_lines_is_brought_in_one_session() -> None:
    world = meeting([set(range(100, 300)), set()])
    ended = sessions_of(world)

    world.run(20 * SECOND)

    assert world.converged()
    [first, *_] = [one for one in ended if one.got]
    assert (first.protocol, first.got) == ("delta", 200)
    world.check()


def test_the_protocol_log_counts_the_ends_of_turns_at_both_ends() -> None:
    world = meeting([scattered(40, 1), scattered(40, 2)])
    rows: list[LogRow] = []
    recording, ended = Recording("test", rows.extend), sessions_of(world)
    world.record(recording)

    world.run(20 * SECOND)
    recording.write_exports()

    [began] = [one for one in ended if one.protocol == "delta" and one.why == "new link"]
    ends = [row for row in rows if row.kind is LogKind.SESSION_ENDED and row.protocol == "delta"]
    assert began.got > 1, "entries were carried, too"
    assert [row.outcome for row in ends] == ["converged"] * 2
    assert len({row.size for row in ends}) == 1, "both count the same bytes"


def compares(world: World) -> bool:
    """Return whether somebody is in a session over messages."""
    runners = [node.runner for node in world.nodes if node.runner is not None]
    return any(one.groups[world.channel].sessions.running for one in runners)


def test_every_table_of_a_session_has_a_bound() -> None:
    world = meeting([scattered(40, 1), scattered(40, 2)])
    found: set[str] = set()
    for _ in range(4_000):
        world.run(5 * MILLISECOND)
        if not compares(world):
            continue
        for node in world.nodes:
            assert node.runner is not None
            here = list(tables(node.runner))
            assert not [one.name for one in here if one.most is None]
            found |= {one.name for one in here if one.size}
        world.check_bounds()

    assert {
        "DeltaAsking._asked",
        "DeltaAsking.taken",
        "DeltaExchange.cards",
        "DeltaSending._by_id",
        "DeltaSending._seen",
    } <= found


@pytest.mark.parametrize("steps", range(5))
def test_a_crash_in_the_middle_loses_nothing(steps: int) -> None:
    ours = scattered(150, 1)
    world = meeting([ours, scattered(60, 2) - ours])
    while not compares(world):
        world.run(5 * MILLISECOND)
    world.run(steps * 40 * MILLISECOND)
    assert compares(world), "else there is no middle"
    world.crash(1)
    world.run(2 * SECOND)
    world.restart(1)

    world.run(60 * SECOND)

    assert len({tuple(log) for log in world.logs()}) == 1
    world.check()
    world.check_bounds()


@pytest.mark.slow
@pytest.mark.parametrize("seed", with_grid(range(4), range(4, 12)))
def test_five_with_holes_and_a_cut_end_with_one_log_whatever_is_lost(seed: int) -> None:
    world = meeting([scattered(30, 10 * seed + number) for number in range(5)], seed)
    ended = sessions_of(world)
    world.run(SECOND)
    world.partition({0, 1}, {2, 3, 4})
    for number in range(5):
        world.write_text(number, f"apart {number}")
        world.run(SECOND)
    world.heal()
    world.write_text(seed % 5, "together")
    world.run(90 * SECOND)

    assert len({tuple(log) for log in world.logs()}) == 1
    assert "delta" in {one.protocol for one in ended}
    world.check()
    world.check_bounds()
