"""Open channels in all kinds of trouble: in the end everybody has one log, one state, and rests."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sync.calimero.state.contents import Pin, Profile, Read, StateKind, Topic
from sync.entries.changes import Change, Edit, Reactions, Redaction
from sync.errors import LocalError
from sync.group.group import Group
from sync.group.values import AskAgain, Status
from sync.machine import MILLISECOND, MINUTE, SECOND, ChannelId, MessageId
from sync.manager.registry import (
    STATE,
    WAKU_ONLY,
    WITH_CALIMERO,
    WITH_P2PANDA,
    WITH_SKETCH,
    WITH_STATE,
)
from sync.sessions.values import Mode
from sync.sim.network import Link
from sync.sim.node import Node
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.storage.archives import archive
from tests.support.sync.worlds.troubles import FAR, LINKS, NEAR, Acts, Troubles

OLDER = (WITH_CALIMERO, WITH_STATE, WITH_P2PANDA, WAKU_ONLY)
"""Programs of before, the newest first."""

WAYS = ("", "waku", "logheight", "sets", "live", "delta", "sketch", "snapshot", "hash", "level")
"""Ways of comparing that a person may ask for by name."""

HISTORIES = (0, 40, 300)
SLOW = Link(delay=(MILLISECOND, 40 * MILLISECOND), loss=0.05, uplink=200_000)
ACTS = 40
SESSION_MAX = 2 * MINUTE
"""Time that a session over a few hundred messages takes at most."""

UNBLAMED = (
    "not among the differences",  # of a transfer that went on while the next session began
    "that was not announced to it",  # by one that has no link yet since it is back
)
"""Parts of reasons to decline what was said to machines that are no more: nobody is blamed."""


class OpenTroubles(Troubles):
    """People of open channels, and what goes wrong meanwhile, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"open {seed}")
        size, hostile = rng.randrange(3, 6), int(seed % 5 == 1)
        terms = Terms(
            rooms=tuple(
                frozenset(rng.sample(range(size), rng.randrange(2, size + 1)))
                for _ in range(rng.randrange(3))
            ),
            protocols=WITH_SKETCH,
            older={number: rng.choice(OLDER) for number in range(size) if rng.random() < 0.3},
            work=rng.choice([0, MILLISECOND, 4 * MILLISECOND]),
            streams_max=rng.choice([None, 4]),
            hostile=hostile,
        )
        world = World(size + hostile, seed, rng.choice((*LINKS, SLOW)), terms)
        super().__init__(world, rng, size)
        self.clocks = FAR if seed % 3 == 0 else NEAR
        self.late: int | None = None
        """The one who comes with an empty disk once there is a history."""
        self.acts: Acts = (
            (5, self.write),
            (1, self.pour),
            (2, self.change),
            (2, self.set_state),
            (3, self.ask),
            (1, self.crash),
            (1, self.crash_in_commit),
            (2, self.refuse),
            (2, self.cut),
            (1, self.set_clock),
            *([(3, self.be_hostile)] if hostile else []),
            *([(2, self.write_ahead)] if self.clocks is FAR else []),
        )

    def run(self) -> World:
        """Let all of it happen, mend everything, and wait until it is quiet."""
        world, rng = self.world, self.rng
        world.run(rng.randrange(8 * SECOND))
        self.begin_with(rng.choice(HISTORIES))
        world.run(rng.randrange(SECOND, 10 * SECOND))
        self.happen(self.acts, ACTS)
        self.late = None
        if world.hostiles is not None:
            world.hostiles.rest()
        self.end()
        # What was stamped ahead has its place by then.
        world.run(25 * MINUTE if self.clocks is FAR else 6 * MINUTE)
        return world

    def begin_with(self, history: int) -> None:
        """Let those who are there have a history, or a part of it."""
        lines = archive("carol", history)
        if history and self.rng.random() < 0.7:
            self.late = self.size - 1
            self.world.crash(self.late)
        for number in range(self.size if history else 0):
            if number != self.late:
                whole = self.rng.random() < 0.6
                most = history if whole else self.rng.randrange(history)
                self.world.preload(number, lines[:most])

    def mend(self, number: int) -> None:
        """Mend a node; who is late comes in its time."""
        if number != self.late or self.rng.random() < 0.3:
            self.late = None if number == self.late else self.late
            super().mend(number)

    def drawn(self, number: int) -> tuple[ChannelId, list[tuple[int, MessageId]]]:
        """Return a channel of a node, and what it has there."""
        channel = self.rng.choice(list(self.world.nodes[number].disks))
        return channel, self.world.nodes[number].disks[channel].log()

    def write(self, number: int) -> None:
        channel, log = self.drawn(number)
        answers = bool(log) and self.rng.random() < 0.2
        reply_to = self.rng.choice(log)[1] if answers else None
        self.world.write_text(number, f"{self.rng.random()}", channel, reply_to)

    def write_ahead(self, number: int) -> None:
        """Let somebody write alone, with a clock far ahead that nobody can set right."""
        world = self.world
        world.partition({number}, set(range(self.size)) - {number})
        world.set_clock(number, 20 * MINUTE)
        world.run(20 * SECOND)
        self.write(number)
        world.run(SECOND)
        world.set_clock(number, 0)
        world.heal()

    def pour(self, number: int) -> None:
        for _ in range(self.rng.randrange(3, 20)):
            self.write(number)

    def change(self, number: int) -> None:
        channel, log = self.drawn(number)
        if log:
            _, message_id = self.rng.choice(log[-20:])
            changes: tuple[Change, ...] = (
                Reactions(message_id, ("👍",)),
                Reactions(message_id, ()),
                Edit(message_id, f"{self.rng.random()}"),
                Redaction(message_id),
            )
            self.world.change(number, self.rng.choice(changes), channel)

    def set_state(self, number: int) -> None:
        """Set a topic, a name, a pin or a mark, or take a pin back."""
        world, rng = self.world, self.rng
        channel, log = self.drawn(number)
        lamport, message_id = rng.choice(log) if log else (1, MessageId("00" * 32))
        name = bytes.fromhex(message_id)
        match rng.randrange(4):
            case 0:
                world.set_state(number, Topic(f"{rng.random()}"), channel)
            case 1:
                profile = Profile(f"{rng.random()}")
                world.set_state(number, profile, channel, kind=StateKind.PROFILE)
            case 2:
                pin = rng.choice((Pin(), None))
                world.set_state(number, pin, channel, kind=StateKind.PIN, name=name)
            case _:
                read = Read(lamport, name)
                world.set_state(number, read, channel, kind=StateKind.READ)

    def ask(self, number: int) -> None:
        """Let a person ask for a comparison in one of the ways, or for what was given up."""
        runner, rng = self.world.nodes[number].runner, self.rng
        channel, _ = self.drawn(number)
        if runner is None:
            return
        peers = sorted(runner.groups[channel].peers)
        missing = tuple(runner.groups[channel].sds.incoming.missing)
        runner.queue_input(channel, AskAgain(missing[:5]))
        if peers:
            now = self.world.now + self.world.nodes[number].machine_offset
            with suppress(LocalError):  # it cannot be had with that one
                runner.ask_sync(channel, rng.choice(peers), now, rng.choice(WAYS))

    def crash_in_commit(self, number: int) -> None:
        if number != self.late:
            self.world.crash_in_commit(number)
            self.write(number)

    def be_hostile(self, number: int) -> None:
        """Let the hostile member do something; whoever it is that was drawn."""
        del number
        hostiles = self.world.hostiles
        assert hostiles is not None
        hostiles.act(hostiles.members[0], self.rng.choice(sorted(hostiles.acts)))


def groups(world: World) -> Iterator[tuple[Node, Group]]:
    """Yield the machines of everybody honest."""
    for node in world.honest:
        assert node.runner is not None
        for group in node.runner.groups.values():
            yield node, group


def waits(world: World, node: Node, group: Group) -> list[str]:
    """Return what a node still waits for in a channel, or is busy with."""
    disk, honest = node.disks[group.channel], world.rooms[group.channel].witness.honest
    ours = [row for row in disk.rows.values() if row.message.entry.header.author in honest]
    status = Counter([row.status for row in ours])
    began = world.now + node.machine_offset - SESSION_MAX
    found: dict[str, object] = {
        "set aside": status[Status.PARKED],
        "held back": status[Status.WAITING],
        "loading": status[Status.LOADING] or group.loading.ids or group.loading.left,
        "missing": not world.hostiles and group.sds.incoming.missing,
        "staged": disk.staged or disk.swapping,
        "unacknowledged": group.sds.outgoing.pending,
        "another state on its disk": set(disk.state) != set(group.stating.registers._entries),
        "contradictions": not world.hostiles and disk.contradictions,
        "sessions": [
            session.why
            for key, session in group.sessions.running.items()
            if key.mode is Mode.CATCHING_UP and session.began_at < began
        ],
    }
    return [what for what, is_so in found.items() if is_so]


def blamed(world: World) -> list[str]:
    """Return what honest nodes refused or declined of each other, or of themselves."""
    witnesses = [room.witness for room in world.rooms.values()]
    errors = [one.error for witness in witnesses for one in witness.failures]
    declined = [reason for witness in witnesses for reason in witness.declined]
    refused = [str(one) for one in errors if not isinstance(one, LocalError)]
    return refused + [one for one in declined if not any(part in one for part in UNBLAMED)]


@pytest.mark.parametrize("seed", with_grid(range(2), range(2, 60)))
def test_whatever_happens_everybody_has_one_log_and_one_state_and_rests(seed: int) -> None:
    world = OpenTroubles(seed).run()

    world.check()
    waiting = {
        (node.number, group.channel): found
        for node, group in groups(world)
        if (found := waits(world, node, group))
    }
    assert waiting == {}
    for channel, room in world.rooms.items():
        there = [node for node in world.honest if node.number in room.members]
        assert len({tuple(node.disks[channel].log()) for node in there}) == 1
        assert len({node.disks[channel].restore().sync_ids for node in there}) == 1
        states = {
            group.stating.registers.tree.root
            for node, group in groups(world)
            if group.channel == channel and STATE in group.protocols
        }
        assert len(states) <= 1
    if world.hostiles is None:
        assert blamed(world) == []
