"""Keys with another meaning, and the palette: what a person presses, and sees then."""

from collections import Counter

import pytest
from msgspec.structs import replace
from textual.widgets import Input, OptionList

from chat_tui.keys.table import BY_ID
from chat_tui.screens.palette import (
    NOT_LISTED,
    TITLE_CELLS,
    Palette,
    channel_entries,
    command_entries,
    matching,
)
from chat_tui.settings import schema
from chat_tui.settings.preferences import Preferences
from chat_tui.wording.panels import Unseen
from sync.machine import ChannelId
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import reading, shown, until
from tests.support.chat_tui.typing import type_in

pytestmark = pytest.mark.usefixtures("in_utc")
NOTE_AT = TITLE_CELLS + 1


async def test_a_key_can_be_given_another_meaning_and_help_shows_it() -> None:
    scene = scenes.empty()
    async with reading(scene, (100, 40)) as (app, pilot):
        await type_in(pilot, "/set keys.help f12")
        await pilot.press("f1")
        await pilot.pause()
        not_by_the_old = "KEYS while writing" not in shown(app)
        await pilot.press("f12")
        await pilot.pause()

        assert not_by_the_old
        assert "KEYS while writing" in shown(app)
        assert "F12" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "F12 Help" in shown(app)


async def test_keys_of_the_input_can_be_changed_too() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        scene.chat.settings.change(schema.KEY_SETTINGS["read_up"], ("f8",))
        await pilot.press("f8")
        await pilot.pause()

        assert not app.transcript.follow


async def test_ctrl_p_runs_what_is_found_by_a_part_of_its_name() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        everything = shown(app)
        await pilot.press(*"whoam")
        await pilot.pause()
        found = shown(app)
        await pilot.press("enter")
        await pilot.pause()

        assert "F1 or Alt+H" in everything
        assert "/whoami" in found
        assert "/sync" not in found
        assert "You are alice" in shown(app)


@pytest.mark.parametrize(
    ("title", "shows"),
    [
        ("Search", " Search #lobby"),
        ("Select a message", "Enter details"),
        ("First unread message", "Nothing is unread here."),
        ("Text without boxes", "Select with the mouse"),
        ("Oldest message", "End: newest"),
        ("Protocol: Wire", "[5Wire]"),
        ("Protocol: terms and keys", "Terms of Buffers"),
    ],
)
async def test_whoever_hears_a_key_does_it_for_the_palette_too(title: str, shows: str) -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        app.screen.query_one(Input).value = title
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: shows in shown(app))


async def test_a_command_that_needs_words_is_begun_and_the_draft_kept() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press(*"draft", "ctrl+p", *"/join", "enter")
        await pilot.pause()

        assert app.composer.text == "/join "
        await pilot.press("up")
        assert app.composer.text == "draft"


async def test_enter_with_nothing_typed_shows_help_and_ends_nothing() -> None:
    async with reading(scenes.empty(), (100, 40)) as (app, pilot):
        await pilot.press("ctrl+p", "enter")
        await until(pilot, lambda: "KEYS while writing" in shown(app))


async def test_the_palette_says_when_nothing_fits_and_esc_changes_nothing() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press("ctrl+p", *"qqqqqq")
        await pilot.pause()
        assert "Nothing has that in its name." in shown(app)
        await pilot.press("enter", "escape")
        await pilot.pause()

        assert not isinstance(app.screen, Palette)
        assert app.composer.text == ""


async def test_alt_k_lists_channels_alone_and_opens_one() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press("alt+k")
        await pilot.pause()
        listed = shown(app)
        await pilot.press("enter")
        await pilot.pause()

        assert "#lobby" in listed
        assert "/join" not in listed
        assert app._channel == app._chat.snapshot().channels[0].channel


def test_all_keys_are_listed_but_those_that_only_move_in_the_pane() -> None:
    listed = {entry.action for entry in command_entries(Preferences().keys())}

    assert set(BY_ID) >= NOT_LISTED
    assert {f"key('{id_}')" for id_ in set(BY_ID) - NOT_LISTED} <= listed
    assert not {f"key('{id_}')" for id_ in NOT_LISTED} & listed


def test_a_name_counts_before_what_stands_beside_it() -> None:
    entries = command_entries(Preferences().keys())
    entries += channel_entries(scenes.empty().snapshot(), Unseen(lambda _: 0))

    assert matching(entries, "lobby")[0].title == "#lobby"
    assert matching(entries, "quit")[0].title in {"Quit", "/quit"}
    assert matching(entries, " ") == entries
    assert {entry.title for entry in entries} >= {"Settings", "/set [name] [value]", "#lobby"}


def test_a_channel_says_what_is_unread_in_it_and_is_found_by_that() -> None:
    read = scenes.empty().snapshot()
    more = replace(read.channels[0], channel=ChannelId("1" * 32), name="build")
    both = replace(read, channels=(*read.channels, more))
    unseen = Unseen(Counter({more.channel: 12}).__getitem__, Counter({more.channel: 2}).__getitem__)

    entries = channel_entries(both, unseen)

    assert [entry.note for entry in entries] == [
        "channel, 1 other here",
        "channel, 1 other here · 12 @2 new",
    ]
    assert [entry.title for entry in matching(entries, "new")] == ["#build"]


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_no_entry_is_cut_or_runs_into_what_stands_beside_it(width: int) -> None:
    async with reading(scenes.morning(), (width, 24)) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        palette = app.screen
        assert isinstance(palette, Palette)
        found = palette.query_one(OptionList)
        room = found.scrollable_content_region.width
        rows = [str(found.get_option_at_index(at).prompt) for at in range(found.option_count)]

    for entry, row in zip(palette._entries, rows, strict=True):
        assert row.split() == f"{entry.title} {entry.note}".split()
        assert max(map(len, row.splitlines())) <= room
        notes = [line[NOTE_AT:] for line in row.splitlines()]
        assert not entry.note or any(entry.note.startswith(note) for note in notes if note)
