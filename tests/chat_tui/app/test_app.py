"""The whole screen over real clients on 127.0.0.1: what a person does, and what they see then."""

from pathlib import Path

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.widgets.text_screen import TextScreen
from sync.errors import LocalError
from sync.sds.message import Delivery
from tests.support.chat_tui.chats import opened, running
from tests.support.chat_tui.live_screens import (
    beside_bob,
    get_together,
    lobby,
    screen,
    type_in,
    until,
)
from tests.support.chat_tui.readings import shown

pytestmark = pytest.mark.net


async def test_alone_the_screen_says_who_reads_and_that_messages_wait(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "anybody?")
        await until(pilot, lambda: "alice  anybody?" in shown(app))
        await until(pilot, lambda: "Nobody here; 1 message waits" in shown(app))

        assert "to #lobby, open to everybody on this network" in shown(app)
        assert "○" in shown(app)


async def test_a_line_appears_on_the_other_screen_and_its_mark_settles(tmp_path: Path) -> None:
    async with beside_bob(tmp_path) as (app, pilot, bob):
        await type_in(pilot, "hello bob")
        await bob.send_text(lobby(bob), "hello alice")

        await until(pilot, lambda: "bob  hello alice" in shown(app))
        await until(
            pilot,
            lambda: app.transcript.conversation.rows[0].line.delivery == Delivery.ACKNOWLEDGED,
        )
        await until(pilot, lambda: "●" in shown(app))


async def test_both_see_that_the_other_types_until_the_line_is_there(tmp_path: Path) -> None:
    async with beside_bob(tmp_path) as (app, pilot, bob):

        def seen_by_bob() -> list[str]:
            return [typist.nick for typist in bob.snapshot().channels[0].typists]

        bob.typing(lobby(bob))
        await until(pilot, lambda: "bob is typing" in shown(app))
        await pilot.press("h")
        await until(pilot, lambda: seen_by_bob() == ["alice"])
        await pilot.press("i", "enter")
        await bob.send_text(lobby(bob), "hello alice")

        await until(pilot, lambda: "bob  hello alice" in shown(app))
        await until(pilot, lambda: "is typing" not in shown(app))
        await until(pilot, lambda: seen_by_bob() == [])


async def test_history_is_painted_before_the_network_is_up(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        for at in range(60):
            await alice.send_text(lobby(alice), f"old {at}")
    painted: list[str] = []

    async def never() -> None:
        painted.append(shown(app))
        raise LocalError("There is no network. Plug a cable in.")

    async with opened(tmp_path, "alice") as alice:
        app = ChatApp(alice, never)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: bool(painted))
            await until(pilot, lambda: "There is no network. Plug a cable in." in shown(app))
            await pilot.press(*["pageup"] * 5)
            await until(pilot, lambda: "old 0 " in shown(app))

    assert "alice  old 59" in painted[0]


async def test_reading_further_up_is_never_disturbed(tmp_path: Path) -> None:
    async with (
        opened(tmp_path, "alice") as alice,
        running(tmp_path, "bob") as bob,
        screen(alice) as (app, pilot),
    ):
        for at in range(40):
            await alice.send_text(lobby(alice), f"mine {at}")
        await get_together(pilot, app, bob, alice)
        await until(pilot, lambda: "mine 39" in shown(app))
        await pilot.press("pageup")
        top = app.transcript.render_line(0).text[:30]
        await bob.send_text(lobby(bob), "look")
        await until(pilot, lambda: "1 new · End jumps" in shown(app))

        assert app.transcript.render_line(0).text[:30] == top
        await pilot.press("end")
        await until(pilot, lambda: "bob  look" in shown(app))
        assert "1 new" in shown(app)
        assert "End jumps" not in shown(app)


async def test_commands_run_and_never_go_out(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/jion #x")
        await until(pilot, lambda: "Did you mean" in shown(app))
        kept = app.composer.text
        app.composer.text = ""
        await type_in(pilot, "//slash")
        await until(pilot, lambda: "alice  /slash" in shown(app))

        assert kept == "/jion #x"
        assert await alice.history.count(lobby(alice)) == 1


async def test_joining_and_switching_channels(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice, (130, 30)) as (app, pilot):
        await type_in(pilot, "/create build")
        await until(pilot, lambda: "to #build, only its 1 member" in shown(app))
        await type_in(pilot, "/invite")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        invite = shown(app)
        await pilot.press("escape")
        await alice.send_text(lobby(alice), "in the lobby")
        await pilot.press("alt+down")
        await until(pilot, lambda: "in the lobby" in shown(app))
        await type_in(pilot, "/channel build")
        await until(pilot, lambda: "to #build" in shown(app))

    assert "/join " in invite


async def test_a_line_goes_to_the_channel_it_was_written_in(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/join #random")
        await until(pilot, lambda: "to #random" in shown(app))
        other = next(one.channel for one in alice.snapshot().channels if one.name == "random")
        await pilot.press("h", "i", "enter", "alt+down")
        await until(pilot, lambda: "to #lobby" in shown(app))
        await type_in(pilot, "bye")
        await until(pilot, lambda: "alice  bye" in shown(app))

        assert await alice.history.count(other) == 1
        assert await alice.history.count(lobby(alice)) == 1


async def test_what_was_begun_stays_with_its_channel(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/join #random")
        await until(pilot, lambda: "to #random" in shown(app))
        begun = []
        for keys in ("half", "alt+down", "other", "alt+down", "alt+down"):
            await pilot.press(*([keys] if "+" in keys else keys))
            begun.append(app.composer.text)
        app.composer.text = ""
        await pilot.press(*[{" ": "space"}.get(key, key) for key in "/join #third"])
        await pilot.press("enter", "g", "o")
        await until(pilot, lambda: "to #third" in shown(app))

        assert begun == ["half", "", "other", "half", "other"]
        assert app.composer.text == "go"


async def test_an_active_channel_is_named_and_jumped_to(tmp_path: Path) -> None:
    async with beside_bob(tmp_path) as (app, pilot, bob):
        await type_in(pilot, "/join #random")
        await until(pilot, lambda: "to #random" in shown(app))
        await bob.send_text(lobby(bob), "psst")
        await until(pilot, lambda: "#lobby 1" in shown(app))
        await pilot.press("alt+a")
        await until(pilot, lambda: "bob  psst" in shown(app))

        assert "1 new" in shown(app)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("f1", "complete a /command"),
        ("alt+h", "complete a /command"),
        ("f2", "Waiting for parents"),
        ("alt+p", "Waiting for parents"),
        ("f3", "Nobody yet"),
        ("alt+n", "Nobody yet"),
    ],
)
async def test_help_protocol_and_peers_open_and_close(tmp_path: Path, key: str, text: str) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        before = text in shown(app)
        await pilot.press(key)
        await until(pilot, lambda: text in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: text not in shown(app))

    assert not before


async def test_quitting_and_what_ctrl_c_says(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Ctrl+Q quits. Nothing" in shown(app))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)


async def test_what_is_submitted_right_before_quitting_is_written(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        async with screen(alice) as (_, pilot):
            await pilot.press("h", "i", "enter", "ctrl+q")

        assert await alice.history.count(lobby(alice)) == 1


async def test_without_a_network_a_line_stays_in_the_input_with_the_reason(tmp_path: Path) -> None:
    async def fails() -> None:
        raise LocalError("There is no such interface. Name another one.")

    async with opened(tmp_path, "alice") as alice:
        app = ChatApp(alice, fails)
        async with app.run_test(size=(80, 24)) as pilot:
            await type_in(pilot, "hello")
            await until(pilot, lambda: "There is no such interface" in shown(app))
            await until(pilot, lambda: app.composer.text == "hello")
            app.composer.text = ""
            await type_in(pilot, "/status")
            await until(pilot, lambda: isinstance(app.screen, TextScreen))

        assert await alice.history.count(lobby(alice)) == 0


async def test_slash_quit_leaves(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/quit")
        await until(pilot, lambda: not app.is_running)


@pytest.mark.parametrize("size", [(59, 24), (80, 15)])
async def test_too_small_a_window_asks_to_be_enlarged(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice, size) as (app, pilot):
        small = shown(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        enlarged = shown(app)
        await pilot.resize_terminal(*size)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        await pilot.press(*"on")
        written = app.composer.text

    assert "Please enlarge" in small
    assert "to #lobby" in enlarged
    assert "Please enlarge" not in enlarged
    assert written == "on", "the input has the keys again"


@pytest.mark.parametrize(("width", "beside"), [(80, False), (110, True), (140, True)])
async def test_the_drawer_stands_beside_the_chat_only_where_there_is_room(
    tmp_path: Path, width: int, beside: bool
) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice, (width, 30)) as (app, pilot):
        await pilot.press("f2")
        await until(pilot, lambda: "Waiting for parents" in shown(app))

        assert ("to #lobby" in shown(app)) == beside
        assert ("CHANNELS" in shown(app)) == (width >= 120)
