"""An invitation on the screen: one key or a click, and a hint at the foot."""

import pytest
from msgspec.structs import replace

from chat_tui.app.input_queue import NOTHING
from chat_tui.commands.command import Result
from sync.machine import ChannelId, MessageId
from sync.net.invite import Invite, encode
from sync.view.view import PreviewShown
from tests.support.chat_tui.readings import press, reading, short_talk, shown, until
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

CODE = encode(Invite("plans", ChannelId("ab" * 16), b"s" * 16, "lan"))
REFUSED = "This is a simulation:"


def invited() -> Scene:
    scene = short_talk()
    scene.say(BOB, f"Come to #plans: /join {CODE}")
    return scene


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_selected_invitation_is_joined_with_one_key_that_stands_at_the_foot(
    size: tuple[int, int],
) -> None:
    async with reading(invited(), size) as (app, pilot):
        offered = shown(app)
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "J join #plans  r reply" in shown(app))
        await press(pilot, "J")
        await until(pilot, lambda: REFUSED in shown(app))

    assert "▸ join #plans" in offered


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_click_on_what_is_offered_joins(size: tuple[int, int]) -> None:
    async with reading(invited(), size) as (app, pilot):
        lines = shown(app).splitlines()
        y = next(number for number, line in enumerate(lines) if "▸ join #plans" in line)
        await pilot.click(offset=(lines[y].index("▸") + 3, y))
        await until(pilot, lambda: REFUSED in shown(app))
        assert app.transcript.cursor is None


async def test_an_invitation_that_was_accepted_from_elsewhere_counts_as_read() -> None:
    async with reading(invited()) as (app, pilot):
        line = app.transcript.conversation.rows[-1].line
        held = app._feed.conversation(ChannelId("cd" * 16))
        there = replace(line, channel=held.channel)
        held.arrive(there)
        before = held.unread
        app._answer(NOTHING, Result(took_up=there))
        await pilot.pause()

    assert (before, held.unread) == (1, 0)


async def test_an_invitation_that_is_still_on_its_way_is_joined_too() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        last = app.transcript.conversation.rows[-1].line
        early = replace(
            last, message_id=MessageId("ee" * 32), lamport=last.lamport + 1, loading=True,
            author="ee" * 32, own=False, text=f"Come to #plans: /join {CODE}",
        )  # fmt: skip
        for told in scene.chat._view._subscribers:
            told(PreviewShown(early))
        await until(pilot, lambda: "▸ join #plans" in shown(app))
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "J join #plans  r reply" in shown(app))
        await press(pilot, "J")
        await until(pilot, lambda: REFUSED in shown(app))


async def test_an_own_invitation_and_a_line_without_one_offer_nothing() -> None:
    scene = short_talk()
    scene.say(ALICE, f"Come to #plans: /join {CODE}")
    async with reading(scene) as (app, pilot):
        await press(pilot, "ctrl+t")
        text = shown(app)
        await press(pilot, "J")
        await until(pilot, lambda: REFUSED in shown(app))

    assert "join #plans" not in text.replace("/join", "")
