"""Faults in a simulated world, as on real networks and computers."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from sync.group.values import Arrived, Restored
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.runner.batch import Batch
from sync.runner.input_queue import CROWDED
from sync.runner.runner import Runner
from sync.sessions.sync_config import SESSIONS_MAX
from sync.sim.network import PERFECT, Link
from sync.sim.outlet import Frame
from sync.sim.rooms import further_channel
from sync.sim.scenario import Scenario, run
from sync.sim.streams import NO_ROOM
from sync.sim.turning import QUEUED_MAX, SLICE
from sync.sim.world import Terms, World
from tests.support.sync.scenarios import check, lossy

ALONE = Terms(reconcile=False)
Enough: TypeAlias = Callable[[], bool] | None
FRIENDS = frozenset({0, 1})
PRIVATE = further_channel(1)


def joined(world: World) -> World:
    """The same world, once all have found each other."""
    world.run(6 * SECOND)
    return world


# --- Several channels --------------------------------------------------------------------------


def test_what_is_said_in_a_channel_reaches_who_is_in_it() -> None:
    world = joined(World(4, 1, lossy(0.1), Terms(rooms=(FRIENDS, frozenset({1, 2})))))
    other = further_channel(2)
    world.write_text(0, "to all")
    world.write_text(0, "to one", PRIVATE)
    world.write_text(2, "to another", other)

    world.run(MINUTE)

    counts = [{channel: len(disk) for channel, disk in node.disks.items()} for node in world.nodes]
    assert counts == [
        {world.channel: 1, PRIVATE: 1},
        {world.channel: 1, PRIVATE: 1, other: 1},
        {world.channel: 1, other: 1},
        {world.channel: 1},
    ]
    assert world.converged()
    world.check()


def test_a_crash_and_a_full_disk_take_nothing_of_any_channel() -> None:
    world = joined(World(3, 2, lossy(0.1), Terms(rooms=(FRIENDS,))))
    for number in range(6):
        world.write_text(number % 2, f"line {number}", PRIVATE)
        world.write_text(number % 3, f"line {number}")
        if number == 2:
            world.crash(1)
        if number == 3:
            world.restart(1)
            world.fill_disk(0)
        if number == 4:
            world.free_disk(0)
        world.run(2 * SECOND)

    world.run(MINUTE)

    assert world.converged()
    assert len(world.nodes[0].disks[PRIVATE]) >= 3
    world.check()


def test_what_strangers_do_in_the_lobby_does_not_touch_a_channel_of_friends() -> None:
    world = joined(World(5, 4, PERFECT, Terms(hostile=2, rooms=(FRIENDS,))))
    assert world.hostiles is not None
    for act in world.hostiles.acts:
        if act == "false clocks told":
            continue  # clocks are of the whole program: see `tests/sync/sim/test_sim_clocks.py`
        for member in world.hostiles.members:
            world.hostiles.act(member, act)
        world.write_text(len(act) % 2, act, PRIVATE)
        world.run(SECOND)

    room = world.rooms[PRIVATE]
    assert len(room.witness.sent) == len(world.hostiles.acts) - 1
    assert room.witness.partial == 0, "nobody waits for a line of a friend"
    assert not room.witness.failures
    assert room.witness.gaps == 0


# --- Links -------------------------------------------------------------------------------------


def test_a_one_way_link_is_noticed_and_what_it_took_is_repaired() -> None:
    world = joined(World(3, 3, PERFECT, ALONE))
    world.make_one_way(0, 1)
    world.write_text(0, "not heard by one")
    world.write_text(1, "heard by all")
    world.run(SECOND // 2)
    heard = [len(node.disk) for node in world.nodes]
    world.run(15 * SECOND)

    assert heard == [2, 1, 2]
    assert world.nodes[0].joined == world.nodes[1].joined == {2}
    world.run(MINUTE)
    assert world.converged(), "the third one answered for it"
    world.heal()
    world.run(6 * SECOND)
    assert world.nodes[0].joined == {1, 2}
    world.check()


def test_who_vanishes_unnoticed_leaves_a_link_half_open_until_it_is_silent_or_back() -> None:
    world = joined(World(3, 1, PERFECT, ALONE))
    world.crash(0, unnoticed=True)
    world.crash(1, unnoticed=True)
    world.write_text(2, "to nobody, yet")
    world.run(3 * SECOND)
    world.restart(1)
    half_open = {number: set(world.nodes[number].joined) for number in range(3)}
    world.run(20 * SECOND)

    assert half_open == {0: set(), 1: set(), 2: {0, 1}}
    assert world.nodes[2].joined == {1}, "the other one is given up"
    assert len(world.nodes[1].disk) == 1
    world.restart(0)
    world.run(MINUTE)
    assert world.converged()
    world.check()


def test_streams_that_stall_are_given_up_and_others_asked() -> None:
    world = World(3, 5, Link(loss=0.3))
    for pair in ((0, 1), (1, 2)):
        world.stall(*pair)
    for number in range(20):
        world.write_text(number % 3, f"line {number}")
        world.run(SECOND)

    world.run(3 * MINUTE)

    ended = {one.result for one in world.witness.sessions}
    assert any("no answer" in result for result in ended)
    assert world.converged()
    assert all(node.runner and node.runner.manager.running <= SESSIONS_MAX for node in world.nodes)
    world.check()


# --- Places ------------------------------------------------------------------------------------


def test_who_has_no_place_for_a_link_or_a_stream_says_so_and_all_hear_all() -> None:
    world = World(6, 2, lossy(0.1), Terms(links_max=3, streams_max=1))
    for number in range(12):
        world.write_text(number % 6, f"line {number}")
        world.run(2 * SECOND)

    world.run(5 * MINUTE)

    assert max(len(node.joined) for node in world.nodes) == 3
    assert any(NO_ROOM in one.result for one in world.witness.sessions)
    assert world.converged(), "what one hears is asked for by the others"
    world.check()


def test_a_flood_of_identities_of_one_address_pushes_out_its_own() -> None:
    terms = Terms(hostile=2, links_max=7, rooms=(FRIENDS,))
    world = joined(World(6, 3, PERFECT, terms))
    assert world.hostiles is not None
    friends = set(range(4))
    for member in world.hostiles.members:
        for _ in range(3):
            world.hostiles.act(member, "floods of links")
    world.crash(0)
    world.restart(0)
    world.run(6 * SECOND)

    for number in friends:
        assert len(world.nodes[number].joined) <= 7
        assert world.nodes[number].joined >= friends - {number}, "who came back has a place too"
    world.write_text(0, "back")
    world.write_text(0, "back", PRIVATE)
    world.run(10 * SECOND)
    assert world.converged()


# --- Turns and queues --------------------------------------------------------------------------


def test_a_turn_ends_after_its_slice_and_after_the_loading_of_a_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns: list[list[type]] = []
    whole = Runner.turn

    def noted(self: Runner, now: Nanos, enough: Enough = None, begun: Batch | None = None) -> Batch:
        batch = whole(self, now, enough, begun)
        turns.append([type(one.event) for one in batch.inputs])
        return batch

    monkeypatch.setattr(Runner, "turn", noted)
    work = 4 * MILLISECOND
    world = joined(World(3, 1, lossy(0.1), Terms(work=work), clocks=(MINUTE, 0, 0)))
    for number in range(9):
        world.write_text(number % 3, "all at once")
    world.run(MINUTE)

    loading = [turn for turn in turns if Restored in turn]
    assert loading == [[Restored]] * 3, "whatever waits behind it"
    assert max(map(len, turns)) == SLICE // work
    assert world.converged()


@pytest.mark.parametrize("work", [SECOND // 1000, 4 * SECOND // 1000, 12 * SECOND // 1000])
def test_groups_converge_however_early_turns_end(work: int) -> None:
    scenario = Scenario(4, 20, lossy(0.1), 3, every=SECOND, work=work, reconcile=True)

    check(scenario, run(scenario))


def test_who_is_crowded_reads_no_more_and_a_link_that_holds_too_much_is_closed() -> None:
    world = joined(World(3, 1, PERFECT, Terms(work=20 * MILLISECOND)))
    victim = world.nodes[2]
    assert victim.runner is not None
    before = set(victim.joined)
    for at in range(CROWDED + QUEUED_MAX // 9_000 + 2):
        say(world, 0, 2, bytes([at % 256]) * 9_000)
    world.run(200 * MILLISECOND)

    assert before == {0, 1}
    assert victim.runner.waiting <= CROWDED + 100
    assert 0 not in victim.joined, "more than a link holds: closed, and dialled anew"
    world.run(6 * SECOND)
    assert victim.joined == {0, 1}


def say(world: World, sender: int, receiver: int, payload: bytes) -> None:
    peer = world.nodes[sender].identity.peer_id
    frame = Frame(sender, world.rooms[world.channel], Arrived(peer, payload), None)
    world._outlet.send(frame, [receiver])
