"""Lines above the input while the person's own role changes: none of them outlives it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from sync.view.governance_infos import GovernanceInfo, Role
from sync.view.view import Level, Notice
from tests.support.chat_tui import scenes
from tests.support.chat_tui.governed import (
    GovernedChat,
    governance,
    governed_scene,
    planning,
    removed,
)
from tests.support.chat_tui.readings import command, paint, shown, until

MEMBER, READER = governance(Role.MEMBER), governance(Role.READER)
REMOVED = "bob removed you: spam. What is here stays"
READING = "You are a reader here: you can read and react, not write."
MISTAKE = "You are not in #elsewhere."


@asynccontextmanager
async def governed(
    info: GovernanceInfo,
) -> AsyncIterator[tuple[GovernedChat, ChatApp, Pilot[None]]]:
    scene, chat = governed_scene(planning(), info)
    app = scenes.screen_of(scene)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        yield chat, app, pilot


@pytest.mark.parametrize(("before", "said"), [(removed(), REMOVED), (READER, READING)])
async def test_why_one_may_not_write_is_not_said_any_more_once_one_may(
    before: GovernanceInfo, said: str
) -> None:
    async with governed(before) as (chat, app, pilot):
        await command(pilot, "can I write?")
        await until(pilot, lambda: app._around.status._saying.now is not None)
        await paint(app, pilot)
        refused = shown(app)
        chat.governance = MEMBER
        await paint(app, pilot)
        again = shown(app)

    assert said in refused
    assert said not in again


async def test_a_mistake_that_is_no_matter_of_rights_stays_until_the_person_acts() -> None:
    async with governed(READER) as (chat, app, pilot):
        await command(pilot, "/channel elsewhere")
        await until(pilot, lambda: MISTAKE in shown(app))
        chat.governance = MEMBER
        await paint(app, pilot)

        assert MISTAKE in shown(app)


@pytest.mark.parametrize(("before", "now"), [(MEMBER, removed()), (READER, removed())])
async def test_an_answer_does_not_hide_why_one_was_removed_meanwhile(
    before: GovernanceInfo, now: GovernanceInfo
) -> None:
    async with governed(before) as (chat, app, pilot):
        await paint(app, pilot)
        app._around.answer("You are in #plans; only its 4 members can read it.")
        await paint(app, pilot)
        answered = shown(app)
        chat.governance = now
        await paint(app, pilot)
        after = shown(app)

    assert "You are in #plans" in answered
    assert REMOVED in after
    assert "You are in #plans" not in after


async def test_why_a_code_let_nobody_in_is_not_said_any_more_once_one_is_in() -> None:
    async with governed(removed()) as (chat, app, pilot):
        channel = chat.snapshot().channels[0].channel
        app._feed.note_event(Notice("The code only asks.", Level.ERROR, out_of=channel))
        await paint(app, pilot)
        asked = shown(app)
        chat.governance = MEMBER
        await paint(app, pilot)
        let_in = shown(app)

    assert "The code only asks." in asked
    assert "The code only asks." not in let_in


async def test_what_went_wrong_before_a_removal_stands_below_its_reason() -> None:
    async with governed(MEMBER) as (chat, app, pilot):
        await paint(app, pilot)
        app._say(Notice("The file could not be written.", Level.ERROR))
        chat.governance = removed()
        await paint(app, pilot)
        text = shown(app)

    assert text.index(REMOVED) < text.index("The file could not be written.")
