"""A newcomer by snapshot in the simulator: whoever crashes, stalls or writes meanwhile."""

import random
from collections.abc import Callable

import pytest

from sync.calimero.log import delta_buffer
from sync.calimero.state.contents import Profile, StateKind, Topic
from sync.group.inputs.snapshots import NO_ROOM
from sync.group.snapshots.staging import Snapshots
from sync.group.values import Status, StoredMessage, StoreMessage
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.values import Plane, SessionEnded
from sync.sim.hostile import members
from sync.sim.hostile.acts import Manner
from sync.sim.network import Link
from sync.sim.node import Node
from sync.sim.turning import COMMIT
from sync.sim.world import Terms, World
from tests.support.copies import made_once
from tests.support.grids import with_grid
from tests.support.storage.archives import archive

HISTORY = 1_500
SEEDS = range(3)
GRID = [pytest.param(seed, marks=[pytest.mark.grid, pytest.mark.slow]) for seed in range(2, 50)]

PAGES = with_grid(range(0, 12, 4), [page for page in range(12) if page % 4])
SWAPPING_MS = with_grid(range(0, 50, 10), range(5, 50, 10))
WRITING_MS = with_grid(range(0, 40, 6), range(3, 40, 6))
"""Milliseconds after which something happens to one that swaps a snapshot in."""


@made_once
def before_joining(peers: int, seed: int, history: int = HISTORY, **terms: object) -> World:
    """Return a world of some who share a history; the last one, who has nothing, is not there."""
    world = World(peers + 1, seed, terms=Terms(protocols=WITH_CALIMERO, **terms))  # type: ignore[arg-type]
    world.crash(peers)
    for number in range(peers):
        world.preload(number, archive("carol", history))
    world.run(20 * SECOND)
    return world


def late(world: World) -> Node:
    """Return the newcomer."""
    return world.nodes[-1]


def snapshots(node: Node, world: World) -> Snapshots:
    assert node.runner is not None
    return node.runner.groups[world.channel].snapshots


def run_until(world: World, holds: Callable[[], bool], within: Nanos = MINUTE) -> None:
    until = world.now + within
    while not holds():
        assert world.now < until, "it never came so far"
        world.run(SECOND // 200)


def over(world: World) -> list[SessionEnded]:
    """Return the ended sessions over messages, in order."""
    return [one for one in world.witness.sessions if one.plane is Plane.LOG]


def by_snapshot(world: World) -> list[SessionEnded]:
    return [one for one in over(world) if one.protocol == "snapshot"]


def assert_one_log(world: World) -> None:
    """Everybody has the same log, the same ids to compare, and the same state."""
    logs = {tuple(node.disk.log()) for node in world.nodes}
    assert len(logs) == 1
    held = {node.disk.restore().sync_ids for node in world.nodes}
    assert len(held) == 1
    roots = set()
    for node in world.nodes:
        assert node.runner is not None
        roots.add(node.runner.groups[world.channel].stating.registers.tree.root)
    assert len(roots) == 1
    assert not any(node.disk.staged for node in world.nodes)
    world.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_newcomer_takes_a_snapshot_by_itself_and_has_all_at_once(seed: int) -> None:
    world = before_joining(3, seed)
    world.restart(3)
    counts = set()
    until = world.now + 15 * SECOND
    while world.now < until:
        world.run(SECOND // 100)
        counts.add(len(late(world).disk.rows))
    assert counts == {0, HISTORY}, "nothing is there before all is"
    [taken] = [one for one in by_snapshot(world) if one.result == f"{HISTORY:,} messages"]
    assert taken.why
    runner = late(world).runner
    assert runner is not None
    shown = [one.protocol.name for one in runner.groups[world.channel].sessions.shown]
    assert "snapshot" in shown, "its card is there though the machines began anew"
    world.run(40 * SECOND)
    assert_one_log(world)
    kinds = {one.protocol for one in over(world)}
    assert kinds == {"log", "snapshot"}, "after the swap the handshake says that all is the same"


def test_state_comes_with_it_and_counts_though_its_authors_were_unknown() -> None:
    world = before_joining(2, 1, 300)
    for number in (0, 1):
        world.write_text(number, "hello")
        world.run(SECOND)
        world.set_state(number, Topic(f"topic of {number}"), world.channel)
        world.set_state(number, Profile(f"name of {number}"), world.channel, kind=StateKind.PROFILE)
    world.run(2 * SECOND)
    world.restart(2)
    run_until(world, lambda: len(late(world).disk.rows) == 302)
    assert len(late(world).disk.state) == len(world.nodes[0].disk.state) >= 4
    world.run(40 * SECOND)
    assert_one_log(world)


@pytest.mark.parametrize("page", PAGES)
def test_after_a_crash_at_any_page_it_goes_on_at_its_cursor(page: int) -> None:
    world = before_joining(2, page % 3)
    world.restart(2)
    run_until(world, lambda: len(late(world).disk.staged) >= page)
    kept = [one.chunk for one in late(world).disk.staged]
    world.crash(2)
    world.run(SECOND)
    world.restart(2)
    run_until(
        world, lambda: len(late(world).disk.staged) > len(kept) or bool(late(world).disk.rows)
    )
    if late(world).disk.staged:
        assert [one.chunk for one in late(world).disk.staged][: len(kept)] == kept
    run_until(world, lambda: len(late(world).disk.rows) == HISTORY)
    world.run(40 * SECOND)
    assert_one_log(world)


@pytest.mark.parametrize("after", SWAPPING_MS)
def test_a_crash_in_the_replay_or_in_the_swap_takes_back_all_or_nothing(after: int) -> None:
    world = before_joining(2, after % 3)
    world.restart(2)
    run_until(world, lambda: snapshots(late(world), world).swapping)
    world.run(after * SECOND // 1_000)
    world.crash(2)
    disk = late(world).disk
    assert (len(disk.rows), bool(disk.staged)) in {(0, True), (HISTORY, False)}
    world.run(SECOND)
    world.restart(2)
    run_until(world, lambda: len(late(world).disk.rows) == HISTORY)
    world.run(40 * SECOND)
    assert_one_log(world)


def own_lines(world: World) -> list[StoredMessage]:
    """Return what the newcomer has written, as it is on its disk."""
    node = late(world)
    rows = [row.message for row in node.disk.rows.values()]
    return [one for one in rows if one.entry.header.author == node.identity.peer_id]


AT_ONCE = 4 * COMMIT[1]
"""Time in which a line of ours is on the disk: the part that is read, that is written, the line."""


@pytest.mark.parametrize("after", SWAPPING_MS)
def test_a_line_written_in_the_swap_is_committed_at_once_and_stands_on_what_was_there(
    after: int,
) -> None:
    world = before_joining(2, after % 3)
    world.restart(2)
    run_until(world, lambda: len(late(world).disk.staged) >= 2)
    world.write_text(2, "before")
    run_until(world, lambda: snapshots(late(world), world).swapping)
    world.run(after * SECOND // 1_000)
    began = world.now
    world.write_text(2, "mine")
    run_until(world, lambda: len(own_lines(world)) == 2)
    assert world.now - began <= AT_ONCE
    before, mine = own_lines(world)
    if late(world).disk.swapping:
        assert [one.message_id for one in mine.entry.header.parents] == [before.entry.message_id]
    assert mine.entry.header.seq == 2
    run_until(world, lambda: not late(world).disk.staged)
    assert len(late(world).disk.rows) == HISTORY + 2
    world.write_text(2, "after")
    run_until(world, lambda: len(own_lines(world)) == 3)
    assert len(own_lines(world)[-1].entry.header.parents) > 1, "on theirs as well as on ours"
    world.run(40 * SECOND)
    assert_one_log(world)


@pytest.mark.parametrize("after", WRITING_MS)
def test_a_line_written_in_the_swap_is_there_once_after_a_crash_at_any_step(after: int) -> None:
    world = before_joining(2, after % 3)
    world.restart(2)
    run_until(world, lambda: snapshots(late(world), world).swapping)
    world.run(5 * MILLISECOND)
    world.write_text(2, "mine")
    world.run(after * MILLISECOND)
    told = len(own_lines(world))
    world.crash(2)
    assert len(own_lines(world)) == told
    begun = late(world).disk.swapping
    if late(world).disk.staged:
        assert begun == bool(late(world).disk.rows) >= bool(told)
    world.crash(0)
    world.crash(1)  # nobody is needed to end what has begun
    world.restart(2)
    if begun:
        world.run(SECOND)
        assert len(late(world).disk.rows) == HISTORY + told
    world.restart(0)
    world.restart(1)
    world.write_text(2, "and another one")
    run_until(world, lambda: len(late(world).disk.rows) == HISTORY + told + 1)
    assert [one.entry.header.seq for one in own_lines(world)] == list(range(1, told + 2))
    world.run(60 * SECOND)
    assert_one_log(world)


def test_a_disk_that_is_full_in_the_swap_keeps_what_is_written_and_ends_it_later() -> None:
    world = before_joining(2, 1)
    world.restart(2)
    run_until(world, lambda: snapshots(late(world), world).swapping)
    world.write_text(2, "mine")
    run_until(world, lambda: len(own_lines(world)) == 1)
    assert late(world).disk.swapping
    late(world).disk.full = True
    world.run(SECOND)
    kept = len(late(world).disk.rows)
    assert 1 < kept < HISTORY + 1
    late(world).disk.full = False
    run_until(world, lambda: not late(world).disk.staged)
    assert len(late(world).disk.rows) == HISTORY + 1
    world.run(40 * SECOND)
    assert_one_log(world)


def test_another_peer_goes_on_within_seconds_when_the_source_stalls() -> None:
    world = before_joining(3, 2)
    world.restart(3)
    run_until(world, lambda: len(late(world).disk.staged) >= 3)
    source = snapshots(late(world), world).peer
    [number] = [node.number for node in world.nodes if node.identity.peer_id == source]
    world.stall(number, 3)
    began = world.now
    run_until(world, lambda: len(late(world).disk.rows) == HISTORY)
    assert world.now - began < 8 * SECOND
    world.heal()
    world.run(40 * SECOND)
    assert_one_log(world)


def test_another_peer_goes_on_when_the_source_sends_each_page_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Right before it would count as stalled: 3,000 messages of it would take over a minute."""
    monkeypatch.setattr(members, "LATE", (3 * SECOND,))
    world = World(4, 3, terms=Terms(protocols=WITH_CALIMERO, hostile=1))
    assert world.hostiles is not None
    world.hostiles.resting = True
    [source] = world.hostiles.members
    source.manner = Manner.DELAY
    newcomer, *others = range(3)
    world.crash(newcomer)
    for number in (*others, source.node.number):
        world.preload(number, archive("carol", 2 * HISTORY))
    world.run(20 * SECOND)
    for number in others:
        world.crash(number)
    node = world.nodes[newcomer]
    world.restart(newcomer)
    run_until(world, lambda: bool(node.disk.staged))
    for number in others:
        world.restart(number)
    began = world.now
    run_until(world, lambda: len(node.disk.rows) == 2 * HISTORY, 3 * MINUTE)
    assert world.now - began < 30 * SECOND


def test_where_nobody_goes_on_what_is_staged_is_taken_in_and_the_rest_comes_later() -> None:
    world = before_joining(1, 3)
    world.restart(1)
    run_until(world, lambda: len(late(world).disk.staged) >= 3)
    staged = late(world).disk.staged[-1].count
    world.crash(0)
    run_until(world, lambda: bool(late(world).disk.rows), 3 * MINUTE)
    assert staged <= len(late(world).disk.rows) < HISTORY
    world.restart(0)
    world.run(2 * MINUTE)
    assert_one_log(world)


def test_while_over_256_are_owed_no_second_session_over_messages_runs() -> None:
    world = before_joining(4, 4)
    world.restart(4)
    run_until(world, lambda: len(late(world).disk.staged) >= 2)
    for _ in range(100):
        world.run(SECOND // 200)
        runner = late(world).runner
        assert runner is not None
        group = runner.groups[world.channel]
        if group.snapshots.blocks and not group.snapshots.swapping:
            log = [one for one in group.sessions.running.values() if one.fetches]
            assert len([one for one in log if one.exchanged is None]) == 1
    run_until(world, lambda: len(late(world).disk.rows) == HISTORY)


def test_lines_written_meanwhile_here_and_there_are_in_the_log_at_the_end() -> None:
    world = before_joining(2, 5)
    world.restart(2)
    run_until(world, lambda: len(late(world).disk.staged) >= 2)
    for number in range(6):
        world.write_text(number % 3, f"meanwhile {number}")
        world.run(SECOND // 100)
    own = late(world).identity.peer_id
    authors = {row.message.entry.header.author for row in late(world).disk.rows.values()}
    assert authors == {own}, "our lines are committed at once, those of others wait"
    run_until(world, lambda: len(late(world).disk.rows) == HISTORY + 6)
    world.run(40 * SECOND)
    assert_one_log(world)


def test_more_lines_than_wait_are_counted_and_the_next_session_brings_what_was_pushed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delta_buffer, "BUFFERED_MAX", 3)
    world = before_joining(2, 5)
    world.restart(2)
    run_until(world, lambda: len(late(world).disk.staged) >= 2)
    buffer = snapshots(late(world), world).buffer
    for number in range(12):
        world.write_text(number % 2, f"meanwhile {number}")
        world.run(SECOND // 200)
    run_until(world, lambda: bool(late(world).disk.rows))
    assert buffer.dropped == world.witness.declined[NO_ROOM] > 0
    world.run(40 * SECOND)
    assert len(late(world).disk.rows) == HISTORY + 12
    assert_one_log(world)


def test_who_joins_a_governed_channel_takes_its_snapshot_once_they_know_who_is_in() -> None:
    world = World(4, 8, terms=Terms(protocols=WITH_CALIMERO, governed=True, governed_alone=True))
    world.crash(3)
    world.run(6 * SECOND)
    for number in range(90):
        world.write_text(number % 3, f"line {number}" * 90)
        world.run(SECOND // 4)
    world.run(2 * SECOND)
    assert len(world.nodes[0].disk.rows) == 90
    world.restart(3)
    world.run(60 * SECOND)
    assert "90 messages" in {one.result for one in by_snapshot(world)}
    assert_one_log(world)


def test_arriving_lines_wait_for_the_first_handshake_and_five_seconds_at_most() -> None:
    """Two newcomers with nothing: the first handshake decides, and nothing is held back."""
    world = World(2, 6, terms=Terms(protocols=WITH_CALIMERO))
    world.run(SECOND)
    world.write_text(0, "one")
    world.run(7 * SECOND)
    world.write_text(1, "two")
    world.run(SECOND)
    assert_one_log(world)
    assert [len(node.disk.rows) for node in world.nodes] == [2, 2]
    for node in world.nodes:
        assert not snapshots(node, world).holds_back


def test_whoever_has_something_of_others_is_never_given_a_snapshot() -> None:
    world = before_joining(2, 7)
    late(world).disk.commit([StoreMessage(one, Status.DELIVERED) for one in archive("dave", 1)])
    world.restart(2)
    world.run(40 * SECOND)
    assert not by_snapshot(world)
    assert len(late(world).disk.rows) == HISTORY + 1


@pytest.mark.parametrize("seed", [0, 1, *GRID])
def test_whatever_happens_to_five_nodes_all_end_with_one_root_and_one_log(seed: int) -> None:
    dice = random.Random(seed)
    lossy = Link(loss=dice.choice([0.0, 0.02, 0.1]))
    world = World(5, seed, lossy, Terms(protocols=WITH_CALIMERO))
    world.crash(4)
    for number in range(4):
        world.preload(number, archive("carol", 600))
    world.run(20 * SECOND)
    world.partition({0, 1}, {2, 3, 4})
    for number in range(8):
        who = number % 4
        world.write_text(who, f"apart {number}")
        world.set_state(who, Topic(f"topic {number}"), world.channel)
        world.run(SECOND)
    world.restart(4)
    step = dice.randrange(8)
    until = world.now + 20 * SECOND
    while world.now < until:
        node = late(world)
        staged = len(node.disk.staged)
        if node.runner is not None and (
            staged == step or (step > 5 and snapshots(node, world).swapping)
        ):
            if snapshots(node, world).swapping and dice.random() < 0.7:
                world.write_text(4, "in the swap")
                world.run(dice.randrange(30) * MILLISECOND)
            if dice.random() < 0.5:
                world.crash_in_commit(4)
                world.run(SECOND // 20)
            world.crash(4)
            break
        if dice.random() < 0.02:
            world.write_text(dice.randrange(4), "more")
        world.run(SECOND // 100)
    world.run(SECOND)
    world.restart(4)
    world.run(10 * SECOND)
    world.write_text(4, "here I am")
    world.heal()
    world.run(3 * MINUTE)
    assert_one_log(world)
    world.check_bounds()
