"""Disks that rot, are slow, or cannot be read for a while: all end up with the same words."""

import pytest

from sync.entries.changes import Redaction
from sync.group.values import Damaged, Deliver, Discarded, Warned
from sync.machine import MINUTE, SECOND, MessageId
from sync.runner.batch import Release
from sync.sim.world import Terms, World

SEEDS = range(3)
OWNER = 1


class Told:
    """Records what one node discarded, warned of and showed."""

    def __init__(self, world: World, number: int) -> None:
        self.discarded: list[MessageId] = []
        self.warned: list[str] = []
        self.shown: list[MessageId] = []
        self._number = number
        world.listeners.append(self._note)

    def _note(self, number: int, release: Release) -> None:
        if number != self._number:
            return
        match release.effect:
            case Discarded(message_ids):
                self.discarded += message_ids
            case Warned(text):
                self.warned.append(text)
            case Deliver(message_id):
                self.shown.append(message_id)
            case _:
                pass


def spoken(size: int, seed: int, lines: int = 40) -> World:
    """A group that has written for a while, and agrees."""
    world = World(size, seed)
    world.run(10 * SECOND)
    for number in range(lines):
        world.write_text(number % size, f"line {number}")
        world.run(SECOND)
    world.run(20 * SECOND)
    assert world.converged()
    return world


def ids(world: World, number: int) -> list[MessageId]:
    return [message_id for _, message_id in world.nodes[number].disk.log()]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_rotted_comes_back_and_never_reaches_who_joins(seed: int) -> None:
    world = spoken(4, seed)
    told = Told(world, OWNER)
    bad = ids(world, OWNER)[3:30:4]
    world.rot(OWNER, bad)
    everybody = set(range(4))
    world.partition({OWNER, 3}, everybody - {OWNER, 3})  # who joins hears the owner alone
    world.crash(3)
    world.nodes[3].disk = type(world.nodes[3].disk)(world.nodes[3].identity.peer_id, 7)
    world.witness.withdrawn(3, [*world.witness.shown[3]])
    world.witness.sent -= {one for one in world.witness.sent if one in bad}
    world.restart(3)
    world.run(MINUTE)

    assert sorted(told.discarded) == sorted(bad)
    assert not set(ids(world, 3)) & set(bad), "nobody was given what nobody wrote"
    [warned] = told.warned
    assert f"{len(bad)} messages" in warned

    world.heal()
    world.run(3 * MINUTE)
    assert world.converged()
    world.check()
    assert set(bad) <= set(told.shown)


def test_what_a_rotten_redaction_hid_is_shown_at_no_moment() -> None:
    world = spoken(3, 0, lines=6)
    line = ids(world, OWNER)[0]
    disk = world.nodes[OWNER].disk
    author = disk.rows[line].message.entry.header.author
    [writer] = [one for one, node in enumerate(world.nodes) if node.identity.peer_id == author]
    world.change(writer, Redaction(line))
    world.run(10 * SECOND)
    assert disk.look(line).deleted
    redaction = ids(world, OWNER)[-1]
    world.partition({OWNER}, {0, 2})
    world.rot(OWNER, [redaction])
    world.give(OWNER, Damaged((redaction,)))
    world.run(5 * SECOND)

    assert redaction not in disk.rows
    assert disk.look(line).deleted
    assert not disk.is_line(line)
    world.heal()
    world.run(2 * MINUTE)
    assert redaction in disk.rows
    assert disk.look(line).deleted
    assert world.converged()
    world.check()


def test_without_an_entry_of_our_log_no_number_is_signed_twice() -> None:
    world = spoken(3, 0, lines=12)
    told = Told(world, OWNER)
    disk = world.nodes[OWNER].disk
    own = [one for _, one in disk.log() if disk.rows[one].message.entry.header.author == disk.me]
    before = disk.log_number
    world.rot(OWNER, own[-2:])
    world.partition({OWNER}, {0, 2})  # so that nobody tells it what it has lost
    world.give(OWNER, Damaged(tuple(own[-2:])))
    world.run(5 * SECOND)
    world.write_text(OWNER, "written meanwhile")
    world.run(5 * SECOND)
    world.heal()
    world.run(2 * MINUTE)

    assert told.discarded == own[-2:]
    assert disk.log_number != before
    assert world.converged()
    world.check()
    places = [
        (row.message.entry.header.log, row.message.entry.header.seq)
        for row in world.nodes[0].disk.rows.values()
        if row.message.entry.header.author == disk.me
    ]
    assert len(places) == len(set(places)), "I6"


@pytest.mark.parametrize("seed", SEEDS)
def test_slow_and_unreadable_disks_hold_up_nobody_else_and_lose_nothing(seed: int) -> None:
    world = World(5, seed)
    world.slow_disk(2, 3 * SECOND)
    told = Told(world, OWNER)
    world.run(10 * SECOND)
    for number in range(40):
        world.write_text(number % 5, f"line {number}")
        if number == 10:
            world.break_disk(OWNER)
            world.crash(4)
            world.crash(2)  # in the middle of a commit, which takes three seconds
        if number == 20:
            world.restart(4)
            world.restart(2)
        if number == 30:
            world.mend_disk(OWNER)
        world.run(SECOND)
    world.slow_disk(2, 0)
    world.run(4 * MINUTE)

    assert world.converged()
    world.check()
    assert sorted(told.shown) == sorted(ids(world, OWNER)), "each was shown once"


def test_what_is_committed_is_released_however_long_the_disk_cannot_be_read() -> None:
    """One turn shows what came and what waited for it; it has to read the latter."""
    world = World(2, 1, terms=Terms(reconcile=False))
    told = Told(world, OWNER)
    world.run(10 * SECOND)
    world.partition({0}, {OWNER})
    world.write_text(0, "lost on the way")
    world.run(SECOND)
    world.heal()
    world.write_text(0, "names it")
    runner = world.nodes[OWNER].runner
    assert runner is not None
    incoming = runner.groups[world.channel].sds.incoming
    while not incoming.waiting:
        world.run(SECOND // 100)
    world.break_disk(OWNER)
    while incoming.waiting:
        world.run(SECOND // 10)
    assert told.shown == [], "what it takes cannot be read"
    world.run(10 * SECOND)
    world.mend_disk(OWNER)
    world.run(10 * SECOND)

    assert told.shown == ids(world, 0)
    assert len(told.shown) == 2


def test_who_cannot_store_shows_what_is_stored_and_who_is_linked() -> None:
    world = spoken(3, 1, lines=6)
    node, stored = world.nodes[OWNER], len(ids(world, OWNER))
    assert node.runner is not None
    world.fill_disk(OWNER)
    groups = node.runner.groups
    before = groups[world.channel]
    world.write_text(OWNER, "refused")
    world.run(SECOND // 2)  # a node waits for a second until it tries again
    group = groups[world.channel]

    assert node.committing is not None
    assert group is not before
    assert (len(group.sds.log.order), len(group.peers)) == (stored, 2)

    world.free_disk(OWNER)
    world.write_text(0, "the next")
    world.run(MINUTE)
    assert world.converged()
