"""The list of members and the line above the input, on the real screen."""

import re

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.screens.members import MembersScreen
from chat_tui.widgets.text_screen import TextScreen
from sync.view.governance_infos import Access, Policy, Right, Role
from tests.support.chat_tui import scenes
from tests.support.chat_tui.governed import (
    all_on_alice,
    governance,
    governed_scene,
    removed,
    screen_of,
    with_others,
)
from tests.support.chat_tui.readings import command, shown, until

OWNER = with_others(governance(Role.OWNER))
ALONE = with_others(all_on_alice())


async def open_members(pilot: Pilot[None], app: ChatApp) -> None:
    await pilot.pause()
    await command(pilot, "/members")
    await until(pilot, lambda: isinstance(app.screen, MembersScreen))
    await pilot.pause()


async def test_members_shows_everybody_with_role_way_in_and_what_to_know() -> None:
    app = screen_of(ALONE)
    with scenes.utc():
        async with app.run_test(size=(120, 40)) as pilot:
            await open_members(pilot, app)
            text = shown(app)

    assert "#plans: 4 people are in. Members write and invite." in text
    assert "You are the only owner, and there is no admin" in text
    assert "▸ alice             owner   you           founded it, 21 Nov 2025, 12:00" in text
    assert "dave              reader                added by alice, 21 Nov 2025, 15:00" in text
    assert "erin              asks                  was removed, and asks to be let in" in text
    assert "mallory           gone                  removed by alice: spam" in text


async def test_details_of_oneself_say_so_and_do_not_speak_of_a_stranger() -> None:
    app = screen_of(ALONE)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_members(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()
        text = shown(app)

    assert "; this is you" in text
    assert "never met" not in text


@pytest.mark.parametrize("size", [(60, 16), (70, 20), (80, 24)])
async def test_small_screens_cut_no_sentence_and_show_the_whole_row_at_the_cursor(
    size: tuple[int, int],
) -> None:
    app = screen_of(ALONE)
    with scenes.utc():
        async with app.run_test(size=size) as pilot:
            await open_members(pilot, app)
            seen = [shown(app)]
            for _ in range(6):
                await pilot.press("down")
                await pilot.pause()
                seen.append(shown(app))
    last = seen[-1].partition("\u25b8")[2]

    assert not any("\u2026" in text for text in seen)
    assert " ".join(last.split("Enter")[0].split()) == (
        "mallory gone removed by alice: spam, 21 Nov 2025, 16:00"
    )


@pytest.mark.parametrize(
    ("keys", "begun"),
    [
        (("down", "d"), "/kick bob "),
        (("down", "down", "r"), "/role carol "),
        (("end", "up", "w"), "/add erin "),
        (("i",), "/invite "),
        (("down", "m"), "/msg bob "),
    ],
)
async def test_a_key_begins_a_command_in_the_input_and_does_nothing_yet(
    keys: tuple[str, ...], begun: str
) -> None:
    app = screen_of(OWNER)
    async with app.run_test(size=(100, 30)) as pilot:
        await open_members(pilot, app)
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await until(pilot, lambda: not isinstance(app.screen, MembersScreen))
        await until(pilot, lambda: app.composer.text)

        assert app.composer.text == begun


async def test_who_may_not_is_told_so_in_the_list() -> None:
    app = screen_of(governance(Role.MEMBER))
    async with app.run_test(size=(100, 30)) as pilot:
        await open_members(pilot, app)
        await pilot.press("down", "d")
        await until(pilot, lambda: "Only an admin or an owner can let in" in shown(app))

        assert isinstance(app.screen, MembersScreen)
        assert app.composer.text == ""


async def test_the_list_says_no_more_that_one_may_not_once_one_may() -> None:
    scene, chat = governed_scene(scenes.morning(), governance(Role.MEMBER))
    app = scenes.screen_of(scene)
    async with app.run_test(size=(100, 30)) as pilot:
        await open_members(pilot, app)
        await pilot.press("down", "d")
        await until(pilot, lambda: "Only an admin or an owner can let in" in shown(app))
        assert chat.governance is not None
        chat.governance = replace(chat.governance, role=Role.ADMIN, rights=tuple(Right))
        screen = app.screen
        assert isinstance(screen, MembersScreen)
        screen._tick()
        await pilot.pause()

        assert "Only an admin or an owner can let in" not in shown(app)


async def test_enter_shows_all_that_is_known_of_one() -> None:
    app = screen_of(OWNER)
    async with app.run_test(size=(100, 30)) as pilot:
        await open_members(pilot, app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()

        assert "admin     added by alice" in shown(app)
        assert "first seen" in shown(app)


async def test_the_list_follows_what_happens_and_the_cursor_stays_on_its_person() -> None:
    scene, chat = governed_scene(scenes.morning(), OWNER)
    app = scenes.screen_of(scene)
    async with app.run_test(size=(100, 30)) as pilot:
        await open_members(pilot, app)
        await pilot.press("down", "down")
        assert chat.governance is not None
        members = chat.governance.members
        chat.governance = replace(chat.governance, members=(members[0], *members[2:]))
        screen = app.screen
        assert isinstance(screen, MembersScreen)
        screen._tick()
        await pilot.pause()

        assert screen.chosen is not None
        assert screen.chosen.name == "carol"
        assert "3 people are in" in shown(app)


async def test_removed_meanwhile_the_line_above_the_input_says_by_whom_and_why() -> None:
    scene, chat = governed_scene(scenes.morning(), governance(Role.MEMBER))
    app = scenes.screen_of(scene)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        before = shown(app)
        _, gone = governed_scene(scenes.morning(), removed(reason="spam, again and again"))
        chat.governance = gone.governance
        app._tick()
        await pilot.pause()
        after = shown(app)
        await command(pilot, "let me in")
        await until(pilot, lambda: app.composer.text == "let me in")

        assert "cannot write" not in before
        assert "bob removed you: spam, again and again. What is here stays; only an admin" in after
        assert "let you in again." in after, "it is not cut where the line ends"
        assert "#plans: you cannot write here" in after
        assert "let me in" not in [row.text for row in app.transcript.conversation.rows]


@pytest.mark.parametrize(
    ("info", "sentence"),
    [
        (governance(Role.READER), "You are a reader here: you can read and react, not write."),
        (
            replace(
                governance(Role.MEMBER, policy=Policy(write=Access.ADMINS)), rights=(Right.REACT,)
            ),
            "Admins alone write in #plans; you can react. Ask bob (admin).",
        ),
    ],
)
async def test_who_cannot_write_reads_why_before_pressing_enter(
    info: object, sentence: str
) -> None:
    app = screen_of(info)  # type: ignore[arg-type]
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()

        assert sentence in shown(app)
        assert "you cannot write here" in shown(app)
        assert "Enter sends" not in shown(app)


async def test_the_side_of_a_wide_screen_lists_members_with_their_roles() -> None:
    app = screen_of(OWNER)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        text = shown(app)

    assert "MEMBERS 4" in text
    assert re.search(r"alice +owner", text)
    assert re.search(r"bob +admin \?", text)
    assert "to #plans, only its 4 members can read it" in text
