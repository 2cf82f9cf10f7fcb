"""Deadlines of many channels: those that did nothing are not asked again, and none is missed."""

import random
from functools import partial

import pytest
from msgspec.structs import replace

from sync.entries.entry import Kind, Text, encode_text
from sync.group import values
from sync.machine import SECOND, ChannelId, Nanos, earlier
from sync.runner.deadlines import Deadlines
from sync.runner.runner import Runner
from sync.sim.disk import Disk
from sync.sim.world import World
from tests.support.sync.alone.turned import LOBBY, Driver
from tests.support.sync.costs import calls_of
from tests.support.sync.entries import Author as Writer
from tests.support.sync.groups import NOW

CHANNELS = 100


def housed(channels: int) -> Runner:
    """Somebody in so many channels, with a peer in each."""
    runner = Driver().runner
    bob = Writer("bob").peer_id
    for number in range(channels):
        channel = ChannelId(f"{number:032x}")
        disk = Disk(Writer("alice").peer_id, log_number=1)
        runner.add_channel(replace(LOBBY, channel=channel), disk.restore())
        runner.queue_input(channel, values.PeerJoined(bob))
    while runner.busy:
        runner.turn(NOW)
    runner.deadline()
    return runner


def line_written(runner: Runner, number: int) -> None:
    body = encode_text(Text("alice", "hello"))
    runner.queue_input(ChannelId(f"{number:032x}"), values.Write(1, Kind.TEXT, body))
    runner.turn(NOW)
    runner.deadline()


def test_a_line_costs_the_same_in_one_of_many_channels() -> None:
    few, many = housed(2), housed(CHANNELS)

    cost = calls_of(lambda: line_written(few, 1))

    assert calls_of(lambda: line_written(many, 1)) < cost + 2 * CHANNELS


class At:
    """Machines of a channel that need a tick at some time."""

    def __init__(self, at: Nanos | None) -> None:
        self.at = at

    def deadline(self) -> Nanos | None:
        return self.at


def test_those_due_are_the_ones_that_asking_everybody_finds_and_nobody_is_asked_again() -> None:
    draw = random.Random(7)
    groups = {ChannelId(f"{number:032x}"): At(None) for number in range(CHANNELS)}
    deadlines = Deadlines(groups)
    for now in range(200):
        for channel in draw.sample(list(groups), 5):
            groups[channel].at = draw.choice([None, now + draw.randrange(50)])
            deadlines.changed(channel)
        first = min((one.at for one in groups.values() if one.at is not None), default=None)

        assert deadlines.first() == first
        assert deadlines.due(now) == [
            channel for channel, one in groups.items() if one.at is not None and one.at <= now
        ]
        assert calls_of(partial(deadlines.due, now)) < CHANNELS // 10


def test_every_channel_has_its_tick_when_it_is_due() -> None:
    runner = housed(CHANNELS)
    ticked: set[ChannelId] = set()
    now = NOW

    while len(ticked) < CHANNELS and now < NOW + 60 * SECOND:
        due = runner.deadline()
        assert due is not None
        now = max(now, due)
        ticked |= {one.channel for one in runner.turn(now).inputs}

    assert len(ticked) >= CHANNELS


def test_a_channel_that_was_left_is_not_due() -> None:
    runner = housed(1)
    for channel in list(runner.groups):
        runner.remove_channel(channel, NOW)

    assert runner.deadline() == earlier(runner.manager.deadline(), runner.announcing.deadline())


@pytest.mark.parametrize("seed", range(2))
def test_what_is_remembered_is_what_the_machines_say(seed: int) -> None:
    world = World(3, seed)
    for number in range(30):
        world.write_text(number % 3, f"line {number}")
        world.run(SECOND // 3)
        for node in world.nodes:
            runner = node.runner
            assert runner is not None
            due = earlier(runner.manager.deadline(), runner.announcing.deadline())
            for group in runner.groups.values():
                due = earlier(due, group.deadline())
            assert runner.deadline() == due
