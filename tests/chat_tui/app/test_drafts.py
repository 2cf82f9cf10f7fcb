"""Drafts stay in their channel and are never sent to another one."""

from pathlib import Path

import pytest

from chat_tui.model.reading_state import Kept
from storage.profile.drafts import Drafts
from storage.profile.read_marks import ReadMarks
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.live_screens import screen, type_in, until
from tests.support.chat_tui.readings import shown

pytestmark = pytest.mark.net


async def test_each_channel_keeps_what_was_begun_and_sent_in_it(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "to all")
        await type_in(pilot, "/create plans")
        await until(pilot, lambda: "to #plans" in shown(app))
        await pilot.press(*"secret")

        await pilot.press("alt+up")
        in_lobby = app.composer.text
        await pilot.press("up")
        recalled = app.composer.text
        await pilot.press("down", *"hi", "alt+down")
        back = app.composer.text
        await pilot.press("alt+up")
        begun = app.composer.text

    assert (in_lobby, recalled) == ("", "/create plans")
    assert (back, begun) == ("secret", "hi")


async def test_what_was_begun_is_there_again_after_a_restart(tmp_path: Path) -> None:
    kept = Kept(ReadMarks(tmp_path / "read.json"), drafts=Drafts(tmp_path / "drafts.json"))
    async with opened(tmp_path, "alice") as alice, screen(alice, kept=kept) as (app, pilot):
        await type_in(pilot, "/create plans")
        await until(pilot, lambda: "to #plans" in shown(app))
        await pilot.press(*"secret", "alt+up")
        await type_in(pilot, "sent")
        await pilot.press(*"begun", "up")
        recalled = app.composer.text
        await pilot.press("ctrl+q")
    async with opened(tmp_path, "alice") as alice, screen(alice, kept=kept) as (app, pilot):
        in_lobby = app.composer.text
        await pilot.press("alt+down")
        in_plans = app.composer.text
        await type_in(pilot, "")
        await until(pilot, lambda: not app.composer.text)
    async with opened(tmp_path, "alice") as alice, screen(alice, kept=kept) as (app, pilot):
        again = app.composer.text
        await pilot.press("alt+down")
        after = app.composer.text

    assert recalled == "sent"
    assert (in_lobby, in_plans) == ("begun", "secret"), "what was sent before is not begun"
    assert (again, after) == ("begun", "")


async def test_a_command_that_was_refused_is_no_draft(tmp_path: Path) -> None:
    kept = Kept(ReadMarks(tmp_path / "read.json"), drafts=Drafts(tmp_path / "drafts.json"))
    async with opened(tmp_path, "alice") as alice, screen(alice, kept=kept) as (app, pilot):
        await type_in(pilot, "/whois nobody")
        await until(pilot, lambda: app.composer.text == "/whois nobody")
    async with opened(tmp_path, "alice") as alice, screen(alice, kept=kept) as (app, _pilot):
        assert app.composer.text == ""


async def test_what_is_typed_while_a_channel_opens_comes_along(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await pilot.press(*["space" if key == " " else key for key in "/create plans"], "enter")
        app.composer.insert("so")
        await until(pilot, lambda: "to #plans" in shown(app))
        along = app.composer.text
        await pilot.press("alt+up")
        left = app.composer.text

    assert (along, left) == ("so", "")


async def test_a_key_that_cannot_do_its_work_writes_nothing_into_the_input(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await pilot.press("f5")
        await until(pilot, lambda: "Nobody is here to sync with" in shown(app))

        assert app.composer.text == ""
