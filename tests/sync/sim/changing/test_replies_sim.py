"""Replies among simulated participants: all show the same, whatever was lost, late or forged."""

import random

import pytest

from chat_tui.client.simulated import SimulatedChat
from sync.entries.changes import Edit, Redaction
from sync.entries.entry import Kind, Text, encode_text
from sync.group import values
from sync.machine import MINUTE, SECOND, MessageId
from sync.sim.network import PERFECT, Link
from sync.sim.world import World
from sync.view.view import Line
from tests.support.sync.changed import nowhere

NAMES = ("alice", "bob", "carol", "dave")
LOSSY = Link(loss=0.2, duplicate=0.05, reorder=0.05)
LIMIT = 500


async def lines_of(world: World, number: int) -> list[Line]:
    history = SimulatedChat(world, number, NAMES[: len(world.nodes)]).history
    return [*await history.page(world.channel, before=None, limit=LIMIT)]


def newest(world: World, number: int) -> MessageId:
    return world.nodes[number].disk.lines()[-1][1]


@pytest.mark.parametrize("seed", range(3))
async def test_all_show_the_same_answers_after_losses_edits_and_deletions(seed: int) -> None:
    world, rng = World(len(NAMES), seed, LOSSY), random.Random(seed)
    world.run(6 * SECOND)
    for number in range(40):
        who = rng.randrange(len(NAMES))
        lines = [one for _, one in world.nodes[who].disk.lines()]
        target = rng.choice(lines[-8:]) if lines and rng.random() < 0.7 else None
        if number % 7 == 6 and lines:
            change = Edit(lines[-1], f"edited {number}") if number % 2 else Redaction(lines[-1])
            world.change(who, change)
        else:
            world.write_text(who, f"line {number}", reply_to=target)
        world.run(rng.randrange(3 * SECOND))
    world.run(10 * MINUTE)

    shown = [await lines_of(world, number) for number in range(len(NAMES))]
    told = [[(one.message_id, one.text, one.reply_to) for one in lines] for lines in shown]
    answers = [
        await SimulatedChat(world, number, NAMES).history.answers(
            world.channel, shown[0][0].message_id, limit=LIMIT
        )
        for number in range(len(NAMES))
    ]

    assert told == [told[0]] * len(NAMES)
    assert sum(one.reply_to is not None for one in shown[0]) > 10
    assert len({tuple((line.message_id, at) for line, at in one.lines) for one in answers}) == 1
    disk = world.nodes[0].disk
    for line in shown[0]:
        parents = {one.message_id for one in disk.load(line.message_id).entry.header.parents}
        assert line.reply_to is None or line.reply_to in parents


async def test_an_edited_reply_still_answers() -> None:
    world = World(2, 1, PERFECT)
    world.run(6 * SECOND)
    world.write_text(0, "tea?")
    world.run(SECOND)
    asked = newest(world, 1)
    world.write_text(1, "yes", reply_to=asked)
    world.run(SECOND)
    reply = newest(world, 0)
    world.change(1, Edit(reply, "yes, please"))
    world.run(SECOND)
    [_, edited] = await lines_of(world, 0)

    assert (edited.text, edited.edited, edited.reply_to) == ("yes, please", True, asked)


@pytest.mark.parametrize("target", ["nothing", "a line that it does not name"])
async def test_a_forged_reply_is_a_text_at_everybody(target: str) -> None:
    world = World(3, 1, PERFECT)
    world.run(6 * SECOND)
    world.write_text(0, "first")
    world.run(SECOND)
    first = newest(world, 1)
    for number in range(30):  # so that nobody names the first one any more
        world.write_text(number % 3, f"line {number}")
        world.run(SECOND)
    forged = nowhere() if target == "nothing" else first
    body = encode_text(Text("mallory", "forged", reply_to=forged))
    world.give(1, values.Write(10**6, Kind.TEXT, body))
    world.run(MINUTE)

    for number in range(3):
        line = (await lines_of(world, number))[-1]
        assert (line.text, line.reply_to, line.after_gap) == ("forged", None, False)
