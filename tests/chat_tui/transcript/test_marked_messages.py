"""Messages with markup, links and folds on the screen, by keys, clicks and commands."""

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.details.message_screen import DetailsScreen
from chat_tui.transcript.link_screen import LinkScreen
from tests.support.chat_tui.readings import (
    LINK,
    command,
    marked_talk,
    press,
    reading,
    selected,
    shown,
    until,
)

pytestmark = pytest.mark.usefixtures("in_utc")

both = pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80", "140"])


def line_with(app: ChatApp, words: str) -> int:
    """The line of the transcript with some words."""
    lines = [app.transcript.render_line(y).text for y in range(app.transcript.size.height)]
    return next(y for y, text in enumerate(lines) if words in text)


def italic(app: ChatApp) -> list[str]:
    strips = [app.transcript.render_line(y) for y in range(app.transcript.size.height)]
    return [one.text for strip in strips for one in strip if one.style and one.style.italic]


@both
async def test_enter_unfolds_then_shows_details_and_the_keys_say_so(size: tuple[int, int]) -> None:
    async with reading(marked_talk(), size) as (app, pilot):
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "Enter unfolds" in shown(app))
        assert app.transcript.cursor is not None
        folded = app.transcript.folded(app.transcript.cursor)
        await press(pilot, "enter")
        unfolded = shown(app)
        whole = app.transcript.selected()
        await press(pilot, "f")
        await until(pilot, lambda: "Enter unfolds" in shown(app))
        again = app.transcript.folded(app.transcript.cursor)
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))

    assert folded == 188
    assert "… 188 more lines" not in unfolded
    assert "Enter details  f fold" in unfolded
    assert whole is not None
    assert whole.text.endswith("log line 199")
    assert again == 188


async def test_a_click_unfolds_and_what_stood_above_stays_where_it_was() -> None:
    async with reading(marked_talk(), (80, 40)) as (app, pilot):
        at = line_with(app, "188 more")
        await pilot.click(app.transcript, offset=(30, at))
        await until(pilot, lambda: "188 more" not in shown(app))

        assert selected(app).startswith("log line 0")
        assert line_with(app, "log line 11") == at - 1
        assert "log line 12" in app.transcript.render_line(at).text


async def test_a_hit_that_is_folded_away_is_unfolded() -> None:
    async with reading(marked_talk()) as (app, pilot):
        await command(pilot, "/search 150")
        await until(pilot, lambda: "hit 1 of 1" in shown(app))

        assert "more lines" not in shown(app)


async def test_v_and_raw_show_a_message_without_markup_and_copies_are_what_was_written() -> None:
    async with reading(marked_talk(), (80, 40)) as (app, pilot):
        await press(pilot, "ctrl+t", "k", "k", "k", "k")
        marked, keys = italic(app), shown(app)
        await press(pilot, "v")
        raw = italic(app)
        await press(pilot, "tab")
        await command(pilot, "/raw")
        await until(pilot, lambda: italic(app))
        again = italic(app)
        await press(pilot, "ctrl+t", "y", "tab")
        copied = app.clipboard
        await command(pilot, "/set markup off")
        await until(pilot, lambda: not italic(app))

    assert (marked, raw, again) == (["now"], [], ["now"])
    assert "Enter details  o link  v raw" in keys
    assert copied == f"run `make test`, *now* or **never**; see {LINK}, it is *.py all the same"


@both
async def test_a_click_on_a_link_asks_first_and_opens_what_was_shown(size: tuple[int, int]) -> None:
    opened: list[str] = []

    async def note(link: str) -> bool:
        opened.append(link)
        return True

    async with reading(marked_talk(), size) as (app, pilot):
        app.reading.acts.open_link = note
        await press(pilot, "ctrl+t", "home")
        await press(pilot, "escape")
        await pilot.pause()
        app.transcript.page_up()
        at = line_with(app, "example.com/plan")
        cell = app.transcript.render_line(at).text.index("example.com")
        await pilot.click(app.transcript, offset=(cell, at))
        await until(pilot, lambda: "The whole address" in shown(app))
        asked, before = shown(app), list(opened)
        await press(pilot, "escape")
        left = list(opened)
        await pilot.click(app.transcript, offset=(cell, at))
        await until(pilot, lambda: isinstance(app.screen, LinkScreen))
        await press(pilot, "enter")
        await until(pilot, lambda: opened)

    assert asked.count(LINK) >= 2
    assert before == left == []
    assert opened == [LINK]
    assert app.transcript.cursor is None


async def test_an_address_longer_than_the_screen_is_read_to_its_end() -> None:
    scene = marked_talk()
    link = "https://example.com/" + "a" * 1_900 + "/end"
    async with reading(scene) as (app, pilot):
        app.reading.acts.ask_to_open([link])
        await until(pilot, lambda: "Esc does not" in shown(app))
        begun = shown(app)
        await press(pilot, "pagedown", "pagedown")
        await until(pilot, lambda: "/end" in shown(app))

    assert "It leads to" in begun
    assert "/end" not in begun
