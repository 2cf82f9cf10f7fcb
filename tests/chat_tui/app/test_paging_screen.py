"""Pages of a long talk on the whole screen, while lines arrive and the disk takes its time."""

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from sync.machine import SECOND, ChannelId
from tests.support.chat_tui.readings import paint, press, reading, selected, shown, until
from tests.support.chat_tui.scenes import BOB
from tests.support.chat_tui.slow_disks import LINES, replies_far_apart, slow_down


def rows_and_heights(app: ChatApp) -> tuple[int, int]:
    """Rows there are, and rows that the transcript knows of."""
    return len(app.transcript.conversation.rows), len(app.transcript._laid.heights)


def unsaid(app: ChatApp) -> list[str]:
    """The replies that do not say yet what they answer."""
    rows = app.transcript.conversation.rows
    replies = [row for row in rows if row.line.reply_to is not None]
    assert replies
    return [row.text for row in replies if not row.quote.startswith("bob: line ")]


async def go_up(app: ChatApp, pilot: Pilot[None]) -> None:
    """Scroll up until a page was read."""
    rows = rows_and_heights(app)[0]
    for _ in range(20):
        if rows_and_heights(app)[0] == rows:
            await press(pilot, "pageup")
    assert rows_and_heights(app)[0] > rows


async def test_lines_may_arrive_while_what_a_page_answers_is_read() -> None:
    scene = replies_far_apart()
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: not unsaid(app))
        disk = slow_down(app, "answered")
        await go_up(app, pilot)
        await until(pilot, disk.asked.is_set)
        scene.say(BOB, "a new line", then=SECOND)
        await paint(app, pilot)
        while_slow = rows_and_heights(app)
        said = unsaid(app)
        disk.free.set()
        await until(pilot, lambda: not unsaid(app))

    assert while_slow[0] == while_slow[1] > 200
    assert said
    assert app.transcript.conversation.rows[-1].text == "a new line"


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_replies_of_every_page_say_what_they_answer(size: tuple[int, int]) -> None:
    scene = replies_far_apart()
    async with reading(scene, size) as (app, pilot):
        await until(pilot, lambda: not unsaid(app))
        await go_up(app, pilot)
        await until(pilot, lambda: not unsaid(app))
        older = shown(app).count("↪")
        await press(pilot, "end", "ctrl+t", "u")
        await until(pilot, lambda: selected(app) == "line 399")
        await until(pilot, lambda: not unsaid(app))
        while app.transcript.conversation.has_newer:
            await press(pilot, "pagedown")
        await until(pilot, lambda: not unsaid(app))
        rows = app.transcript.conversation.rows

    assert older > 2
    assert rows[0].text < "line 399"
    assert rows[-1].text == f"line {LINES - 1}"


async def test_who_goes_to_the_first_line_and_at_once_to_the_last_can_read_on() -> None:
    scene = replies_far_apart()
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: not unsaid(app))
        disk = slow_down(app, "page")
        await press(pilot, "ctrl+t", "home")
        await until(pilot, disk.asked.is_set)
        await press(pilot, "end")
        disk.free.set()
        await until(pilot, lambda: selected(app) == f"line {LINES - 1}")
        await press(pilot, "escape")
        await go_up(app, pilot)

    assert app.transcript.conversation.rows[0].text == "line 650"


async def test_a_channel_left_at_an_old_place_is_opened_at_its_newest_line() -> None:
    scene = replies_far_apart()
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: not unsaid(app))
        left = app.transcript.conversation
        await press(pilot, "ctrl+t", "home")
        await until(pilot, lambda: left.has_newer and not left.loading)
        app._open(ChannelId("f" * 32))
        app._open(left.channel)
        await until(pilot, lambda: left.rows and not left.loading)
        lines = (left.rows[-1].text, left.has_newer)

    assert app.transcript.conversation is left
    assert lines == (f"line {LINES - 1}", False)
