"""Keys on a selected message, a hit or a gap, changed: they work, the old ones do not."""

import pytest
from msgspec.structs import replace

from chat_tui.details.gap_screen import HoleScreen
from chat_tui.model.row import Row
from chat_tui.transcript.message_keys import keys_of_message
from chat_tui.transcript.text_layout import AS_USUAL
from sync.view.governance_infos import ActInfo, ActKind
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import line
from tests.support.chat_tui.gap_lines import go_to_gap
from tests.support.chat_tui.readings import (
    change_keys,
    command,
    press,
    reading,
    selected,
    short_talk,
    shown,
    until,
)

pytestmark = pytest.mark.usefixtures("in_utc")


async def test_a_key_on_a_selected_message_is_changed_and_its_line_says_so() -> None:
    async with reading(short_talk(), (140, 40)) as (app, pilot):
        for setting in ("/set keys.reading_copy c, f12", "/set keys.reading_up w"):
            await command(pilot, setting)
        await press(pilot, "ctrl+t")
        before, hint = selected(app), shown(app)
        await press(pilot, "up", "k")
        unmoved = selected(app)
        await press(pilot, "y")
        not_copied = app.clipboard
        await press(pilot, "w", "c")
        moved, copied = selected(app), app.clipboard

    assert "p pin  Enter details  q quote  t answers  c copy" in hint
    assert unmoved == before
    assert not_copied == ""
    assert moved != before
    assert copied == moved


def test_what_is_deleted_or_an_act_has_a_key_for_its_pin_only_to_take_it_off() -> None:
    shown_row = Row(line(1), "hi", "bob")
    deleted = replace(shown_row, line=replace(line(1), deleted=True))
    act = replace(shown_row, line=replace(line(1), act=ActInfo(ActKind.REMOVED)))

    def pin(row: Row) -> list[str]:
        return [
            does
            for ids, does in keys_of_message(row, AS_USUAL, folded=0)
            if ids == ("reading_pin",)
        ]

    assert [pin(one) for one in (shown_row, deleted, act)] == [["pin"], [], []]
    assert pin(replace(deleted, pinned=True)) == ["unpin"]


async def test_the_line_of_a_message_that_was_left_names_the_keys_there_are() -> None:
    async with reading(short_talk()) as (app, pilot):
        await press(pilot, "ctrl+t", "tab")
        before = shown(app)
        await command(pilot, "/set keys.select f8")
        await command(pilot, "/set keys.close f12")
        after = shown(app)
        await press(pilot, "escape")
        kept = app.transcript.cursor
        await press(pilot, "f12")

    assert "Ctrl+T goes back to it · Esc lets go" in before
    assert "F8 goes back to it · F12 lets go" in after
    assert kept is not None
    assert app.transcript.cursor is None


async def test_keys_of_hits_are_changed() -> None:
    async with reading(short_talk()) as (app, pilot):
        change_keys(app, reading_next="x", search="f8")
        await command(pilot, "/search projector")
        await until(pilot, lambda: "hit 1 of 2" in shown(app))
        hint = shown(app)
        await press(pilot, "n")
        still = "hit 1 of 2" in shown(app)
        await press(pilot, "x")
        await until(pilot, lambda: "hit 2 of 2" in shown(app))

    assert "x older · N newer · Esc ends" in hint
    assert still


async def test_keys_on_a_gap_are_changed_and_its_line_and_its_details_say_so() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        change_keys(app, reading_ask="z", reading_hide="x")
        await go_to_gap(pilot)
        hint = shown(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "z ask again now" in shown(app))
        in_details = isinstance(app.screen, HoleScreen)
        await press(pilot, "escape", "h")
        kept = "a message is lost; z tries again, x hides" in shown(app)
        await press(pilot, "x")
        hidden = "a message is lost" not in shown(app)

    assert "Enter what is known  z ask again now  x hide this line" in hint
    assert "a message is lost; z tries again, x hides" in hint
    assert in_details
    assert kept
    assert hidden


async def test_the_palette_does_with_the_selected_message_what_its_keys_do() -> None:
    async with reading(short_talk()) as (app, pilot):
        await app.run_action("key('reading_copy')")
        await pilot.pause()
        without = shown(app)
        await press(pilot, "ctrl+t", "tab")
        await app.run_action("key('reading_ask')")
        await pilot.pause()
        on_no_gap = shown(app)
        await app.run_action("key('reading_copy')")
        await pilot.pause()
        copied, on = app.clipboard, selected(app)

    assert "No message is selected. Ctrl+T selects one" in without
    assert "No line of a gap is selected. Ctrl+T selects" in on_no_gap
    assert copied == on != ""
