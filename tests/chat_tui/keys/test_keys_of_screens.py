"""Keys of what opens over the chat, changed: they work, the old ones do not, and hints say so."""

import re

import pytest
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.widgets import Button

from chat_tui.details.message_screen import DetailsScreen
from chat_tui.screens.palette import Palette
from chat_tui.screens.peers import AddressScreen, PeersScreen, VerifyScreen
from chat_tui.screens.settings import SettingsScreen
from chat_tui.settings import schema
from chat_tui.transcript.choice_screens import BareScreen, ChoiceScreen
from chat_tui.widgets.panel import Panel
from chat_tui.widgets.text_screen import TextScreen
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import (
    change_keys,
    command,
    long_talk,
    press,
    reading,
    selected,
    short_talk,
    shown,
    until,
)

pytestmark = pytest.mark.usefixtures("in_utc")


async def test_texts_over_the_chat_follow_changed_keys() -> None:
    async with reading(short_talk()) as (app, pilot):
        change_keys(app, help="f12", close="f8", over_page_down="x")
        await press(pilot, "f12")
        assert isinstance(app.screen, TextScreen)
        frame = app.screen.query_one("#text-frame", VerticalScroll)
        says = str(frame.border_subtitle)
        await press(pilot, "pagedown", "space")
        unmoved = frame.scroll_y
        await press(pilot, "x")
        moved = frame.scroll_y
        await press(pilot, "escape", "f1")
        stays = isinstance(app.screen, TextScreen)
        await press(pilot, "f8")
        closed = not isinstance(app.screen, TextScreen)
        await press(pilot, "f12", "f12")

        assert says == " F8 closes "
        assert unmoved == 0 < moved
        assert stays
        assert closed
        assert not isinstance(app.screen, TextScreen)


async def test_a_list_over_the_chat_follows_changed_keys() -> None:
    async with reading(long_talk()) as (app, pilot):
        change_keys(app, over_first="x", over_down="l", over_enter="z")
        await command(pilot, "/mentions")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        says = shown(app)
        await press(pilot, "home", "j", "enter")
        stays = isinstance(app.screen, ChoiceScreen)
        await press(pilot, "x", "l", "z")
        await until(pilot, lambda: selected(app) == "alice, apple 150")

    assert "z goes there · Esc closes" in says
    assert stays


async def test_text_without_boxes_follows_changed_keys() -> None:
    async with reading(long_talk()) as (app, pilot):
        change_keys(app, bare="f12", over_page_up="x")
        await press(pilot, "f9")
        not_yet = isinstance(app.screen, BareScreen)
        await press(pilot, "f12")
        assert isinstance(app.screen, BareScreen)
        says, at = shown(app), app.screen.scrolled.scroll_y
        await press(pilot, "x")
        further_up = app.screen.scrolled.scroll_y
        await press(pilot, "f9")
        stays = isinstance(app.screen, BareScreen)
        await press(pilot, "f12")

        assert not not_yet
        assert "x, PgDn read on, Esc leaves." in says
        assert further_up < at
        assert stays
        assert not isinstance(app.screen, BareScreen)


async def test_the_details_of_a_message_follow_changed_keys() -> None:
    async with reading(short_talk()) as (app, pilot):
        change_keys(app, details_raw="x", reading_copy="c")
        await press(pilot, "ctrl+t", "enter")
        await until(pilot, lambda: "In short" in shown(app))
        says = shown(app)
        await press(pilot, "d", "y")
        in_words = "In short" in shown(app)
        await press(pilot, "x")
        await until(pilot, lambda: "In short" not in shown(app))
        raw = shown(app)
        await press(pilot, "c")
        await until(pilot, lambda: not isinstance(app.screen, DetailsScreen))

        assert "c copy  i id  g graph  w wire  x raw  o link  Esc close" in says
        assert in_words
        assert "x back to the words" in raw
        assert app.clipboard == selected(app) != ""


async def test_the_list_of_peers_and_what_it_opens_follow_changed_keys() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        change_keys(
            app, peers="f12", peers_verify="x", peers_connect="z", verify_match="y", close="f8"
        )
        await press(pilot, "f12")
        assert isinstance(app.screen, PeersScreen)
        says = " ".join(shown(app).split())
        await press(pilot, "z")
        assert isinstance(app.screen, AddressScreen)
        asks = shown(app)
        await press(pilot, "escape", "f8", "v")
        stays = isinstance(app.screen, PeersScreen)
        await press(pilot, "x")
        assert isinstance(app.screen, VerifyScreen)
        label = str(app.screen.query_one("#match", Button).label)
        await press(pilot, "m")
        not_yet = isinstance(app.screen, VerifyScreen)
        await press(pilot, "y")
        await until(pilot, lambda: "bob is verified." in shown(app))
        await press(pilot, "f3", "escape")
        open_still = isinstance(app.screen, PeersScreen)
        await press(pilot, "f12")

        assert "m message x compare words z connect by address b block" in says
        assert "d doctor F8 close" in says
        assert "Enter dials, F8 closes" in asks
        assert stays
        assert label == "They match: mark verified (y)"
        assert not_yet
        assert open_still
        assert not isinstance(app.screen, PeersScreen)


async def test_home_and_end_go_to_the_first_and_the_last_peer() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await press(pilot, "f3", "end")
        assert isinstance(app.screen, PeersScreen)
        last = app.screen.chosen
        await press(pilot, "pageup")
        first = app.screen.chosen
        await press(pilot, "down", "home")

        assert last is not None
        assert first is not None
        assert last.peer != first.peer == getattr(app.screen.chosen, "peer", None)


async def test_the_settings_follow_changed_keys_at_once() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await press(pilot, "f6")
        assert isinstance(app.screen, SettingsScreen)
        before = shown(app)
        change_keys(app, settings_more="x", settings_reset="z", settings="f12")
        app.screen._changed()
        app.screen._list.highlighted = app.screen._list.get_option_index("time_format")
        await press(pilot, "right")
        unchanged = app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "x")
        says, changed = shown(app), app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "delete")
        kept = app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "z")
        undone = app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "f12")

        assert "Left and Right change, Enter types, Del resets, Esc closes" in before
        assert "Left and x change, Enter types, z resets, Esc closes" in says
        assert "Left and x go through 2." in says
        assert (unchanged, changed, kept, undone) == ("24h", "12h", "12h", "24h")
        assert not isinstance(app.screen, SettingsScreen)


@pytest.mark.parametrize(
    ("id_", "usual", "opens"),
    [("palette", "ctrl+p", Palette), ("settings", "f6", SettingsScreen)],
)
async def test_a_key_closes_what_it_opened_and_a_changed_one_too(
    id_: str, usual: str, opens: type[DOMNode]
) -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await press(pilot, usual)
        opened = isinstance(app.screen, opens)
        await press(pilot, usual)
        closed = len(app.screen_stack)
        change_keys(app, **{id_: "f12"})
        await press(pilot, usual)
        not_opened = len(app.screen_stack)
        await press(pilot, "f12")
        again = isinstance(app.screen, opens)
        await press(pilot, usual, "f12")

        assert opened
        assert (closed, not_opened) == (1, 1)
        assert again
        assert len(app.screen_stack) == 1


# --- Help and the sentences of the chat -----------------------------------------------------------


async def test_help_has_every_place_and_says_the_keys_there_are() -> None:
    async with reading(short_talk(), (100, 40)) as (app, pilot):
        change_keys(app, reading_quote="x", demo_cut="C")
        await press(pilot, "f1")
        screen = app.screen
        assert isinstance(screen, TextScreen)
        text = screen.query_one("#text", Panel).render().plain

    for heading in ("with a message selected", "in the list of peers", "in the demo"):
        assert f"KEYS {heading}" in text
    assert re.search(r"^x +quote it$", text, re.M)
    assert re.search(r"^C +cut a link, or mend it$", text, re.M)
    assert not re.search(r"^q +quote it$", text, re.M)


async def test_notices_name_the_keys_there_are() -> None:
    async with reading(short_talk()) as (app, pilot):
        change_keys(app, quit="f12", select="f8", bare="f10", demo="alt+g")
        app.action_help_quit()
        await pilot.pause()
        quits = shown(app)
        await command(pilot, "/copy")
        await until(pilot, lambda: "F8" in shown(app))
        nothing = shown(app)
        app.composer.text = ""
        await press(pilot, "f8", "y")
        copied = shown(app)
        await press(pilot, "escape")
        await command(pilot, "/net loss=20")
        await until(pilot, lambda: "This network is real" in shown(app))
        real = shown(app)

    assert "F12 quits." in quits
    assert "select it (F8), or type" in nothing
    assert "then use F10" in " ".join(copied.split())
    assert "In the demo (Alt+G), w and then" in " ".join(real.split())
