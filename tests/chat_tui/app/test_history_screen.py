"""History on its way, on the screen: in its place, dim, with a sign, until it is delivered."""

import re

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.transcript.row_layout import TAIL
from chat_tui.widgets.status_line import StatusLine
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import line
from tests.support.chat_tui.readings import paint
from tests.support.chat_tui.transcripts import painted, screen


async def test_what_waits_for_history_has_a_sign_in_the_column_of_the_marks() -> None:
    own = [line(at, "x" * (1 + at), author="alice") for at in range(3)]
    waits = [line(at, "y" * (40 + 7 * at), loading=True) for at in range(3, 7)]
    async with screen(*own, *waits) as (app, pilot):
        shown = app.shown()
        app.arrive(line(3, "y" * 61))
        await pilot.pause()
        after = painted(app)
        width = app.transcript.scrollable_content_region.width

    signs = [text.rindex("…") for text in shown if "…" in text]
    assert signs == [width - TAIL + 1] * 4
    assert sum("…" in text for text in after) == 3


async def test_the_first_that_waits_for_history_says_so_for_those_below() -> None:
    waits = [line(at, "short", loading=True) for at in range(2, 6)]
    async with screen(line(1), *waits) as (app, _):
        shown = [text for text in app.shown() if "…" in text]

    assert ["history loading" in text for text in shown] == [True, False, False, False]


# -- in the whole screen, over an engine -----------------------------------------------------------


def sentence(app: ChatApp) -> str:
    return app.query_one(StatusLine).query_one("#status").render_line(0).text.strip()


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["narrow", "wide"])
async def test_what_waits_takes_its_place_with_all_that_came_before_it(
    size: tuple[int, int],
) -> None:
    scene = scenes.coming_back()
    app = scenes.screen_of(scene, play=scenes.history)
    async with app.run_test(size=size) as pilot:
        await paint(app, pilot)
        rows = app.transcript.conversation.rows
        waits = [row.text for row in rows if row.line.loading]
        said = sentence(app)
        scene.world.run(5 * SECOND)
        await paint(app, pilot)
        told = sentence(app)
        held = app.transcript.conversation

    assert len(waits) > 5
    assert waits[-1] == "alice, are you back? look at what we found"
    assert re.fullmatch(r"▰▰?▱+ Getting history from (bob|carol): need 340, got \d\d\.", said)
    assert told == "bob and 1 other are here and will read what you write."
    assert not any(row.line.loading for row in held.rows)
    shown = [row.line.position for row in held.rows]
    on_disk = [one for one in scene.world.logs()[scenes.ALICE] if one >= shown[0]]
    assert shown == on_disk
    assert len(on_disk) > 280


async def test_who_reads_elsewhere_counts_every_line_of_the_history_once() -> None:
    scene = scenes.coming_back()
    app = scenes.screen_of(scene)
    async with app.run_test(size=(80, 24)) as pilot:
        await paint(app, pilot)
        await pilot.press("pageup")
        scenes.history(scene)
        await paint(app, pilot)
        held = app.transcript.conversation
        heard_of = held.unread + held.earlier
        scene.world.run(5 * SECOND)
        await paint(app, pilot)

    assert heard_of > 5
    assert held.unread + held.earlier == 341
