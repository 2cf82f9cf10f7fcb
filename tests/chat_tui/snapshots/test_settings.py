"""Snapshots of settings, palette, first run and themes, down to the cell."""

from collections.abc import Callable
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList

from chat_tui.app.app import ChatApp
from chat_tui.settings import schema
from chat_tui.wording.glyphs import ASCII
from tests.support.chat_tui import scenes
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = pytest.mark.usefixtures("in_utc")


def screen(**chosen: object) -> ChatApp:
    """The conversation of a morning, with some settings changed."""
    scene = scenes.morning()
    for name, value in chosen.items():
        scene.chat.settings.change(schema.BY_NAME[name], value)
    return scenes.screen_of(scene)


async def hold_still(pilot: Pilot[Any]) -> None:
    """Stop cursors from blinking, and end the look of a button that was pressed a moment ago."""
    for field in pilot.app.screen.query(Input):
        field.cursor_blink = False
    for button in pilot.app.screen.query(Button):
        button.remove_class("-active")
    await pilot.pause()


def pressing(*keys: str) -> Callable[[Pilot[Any]], Any]:
    async def press(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press(*keys)
        await hold_still(pilot)

    return press


def at_setting(name: str, *keys: str) -> Callable[[Pilot[Any]], Any]:
    async def go(pilot: Pilot[Any]) -> None:
        await pressing("f6")(pilot)
        choices = pilot.app.screen.query_one(OptionList)
        choices.highlighted = choices.get_option_index(name)
        await pressing(*keys)(pilot)

    return go


@SIZES
def test_settings(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(screen(), terminal_size=size, run_before=at_setting("theme", "right"))


@SIZES
def test_a_setting_is_typed_and_refused(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    keys = ("enter", "ctrl+u", *"f3", "enter")

    assert snap_compare(screen(), terminal_size=size, run_before=at_setting("keys.help", *keys))


@SIZES
def test_palette(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(screen(), terminal_size=size, run_before=pressing("ctrl+p", *"pe"))


@SIZES
def test_first_run(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(scenes.first_run(), terminal_size=size, run_before=hold_still)


def test_first_run_with_the_place(snap_compare: SnapCompare) -> None:
    keys = ("tab", "tab", "tab", "tab", "enter")

    assert snap_compare(scenes.first_run(), terminal_size=NARROW, run_before=pressing(*keys))


@SIZES
@pytest.mark.parametrize("theme", ["high-contrast", "ansi", "textual-light"])
def test_themes(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    assert snap_compare(screen(theme=theme), terminal_size=size, press=["f2"])


@SIZES
@pytest.mark.parametrize("theme", ["high-contrast", "ansi"])
def test_themes_of_settings(snap_compare: SnapCompare, size: tuple[int, int], theme: str) -> None:
    app = screen(theme=theme)

    assert snap_compare(app, terminal_size=size, run_before=at_setting("theme"))


def test_ascii_throughout(snap_compare: SnapCompare) -> None:
    app = scenes.screen_of(scenes.morning(), glyphs=ASCII)

    assert snap_compare(app, terminal_size=WIDE, press=["f2"])


def test_cosy_and_twelve_hours(snap_compare: SnapCompare) -> None:
    app = screen(density="cosy", time_format="12h", nick_width=14)

    assert snap_compare(app, terminal_size=NARROW)


def test_without_colours(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert snap_compare(screen(), terminal_size=NARROW, run_before=pressing("ctrl+p"))


def test_a_paste_of_many_lines(snap_compare: SnapCompare) -> None:
    async def paste(pilot: Pilot[Any]) -> None:
        app: App[Any] = pilot.app
        assert isinstance(app, ChatApp)
        lines = ("we need", "- the switch", "- two cables", "- a lamp", "", "by three", "thanks")
        app.composer.post_message(events.Paste("\n".join(lines)))
        await pilot.pause()

    assert snap_compare(screen(), terminal_size=NARROW, run_before=paste)


def test_keys_as_they_are_in_the_help(snap_compare: SnapCompare) -> None:
    app = screen(**{"keys.help": ("f12",)})

    assert snap_compare(app, terminal_size=WIDE, press=["f12"])
