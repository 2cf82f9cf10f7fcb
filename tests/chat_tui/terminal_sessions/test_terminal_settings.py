"""Settings in real terminals: title and mouse are given back, signs follow the locale."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.chat_tui.terminal_chats import LEFT_CLEAN, chatting, leave
from tests.support.chat_tui.terminals import Terminal
from tests.support.processes import free_port

pytestmark = [
    pytest.mark.net,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux makes the terminals"),
]


async def title(terminal: Terminal) -> str:
    return (await terminal._tmux("display-message", "-p", "-t", "chat", "#{pane_title}")).strip()


async def mouse(terminal: Terminal) -> str:
    return (await terminal.mode()).split()[2]


async def test_the_title_is_ours_while_it_runs_and_given_back_after(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        during = await title(alice)
        await leave(alice)
        after = await title(alice)

    assert during == "chat-tui"
    assert after not in {"", "chat-tui"}  # tmux begins with the name of the computer


async def test_what_comes_in_another_window_is_counted_in_the_title(tmp_path: Path) -> None:
    port = free_port()
    async with (
        chatting(tmp_path, "alice", "--port", str(port), "--set", "alerts=all") as alice,
        chatting(tmp_path, "bob", "--connect", f"127.0.0.1:{port}") as bob,
    ):
        await alice.until("1 other here")
        # Some terminals say so when another window gets the keyboard; tmux lets us say it.
        await alice._tmux("send-keys", "-t", "chat", "-H", "1b", "5b", "4f")
        await bob.type("alice?")
        await alice.until(re.compile(r"alice\?(?! +history)").search)  # delivered, not on its way
        counted = await title(alice)
        await alice._tmux("send-keys", "-t", "chat", "-H", "1b", "5b", "49")
        await alice.type("yes")
        await alice.until("alice  yes")
        looked = await title(alice)

    assert counted == "(1) chat-tui"
    assert looked == "chat-tui"


async def test_the_mouse_can_be_left_to_the_terminal_and_taken_back(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        usual = await mouse(alice)
        await alice.type("/mouse off")
        await alice.until("mouse is off now.")
        off = await mouse(alice)
        await alice.type("/mouse on")
        await alice.until("mouse is on now.")
        on = await mouse(alice)
        await alice.type("/mouse off")
        await alice.until("mouse is off now.")
        await leave(alice)
        left = await alice.mode()
    async with chatting(tmp_path, "alice") as again:
        remembered = await mouse(again)

    assert (usual, off, on, remembered) == ("1", "0", "1", "0")
    assert left == LEFT_CLEAN


async def test_the_preset_for_slow_lines_needs_16_colours_and_no_mouse(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice", "--preset", "ssh") as alice:
        await alice.type("hello there")
        await alice.until("hello there")
        screen, hears = await alice.styled_screen(), await mouse(alice)

    assert hears == "0"
    assert not re.search(r"\x1b\[[0-9;:]*[34]8[;:]", screen)  # neither 256 colours nor RGB


async def test_no_color_is_honoured(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice", environment={"NO_COLOR": "1"}) as alice:
        await alice.type("hello there")
        await alice.until("waiting")
        screen = await alice.styled_screen()

    assert not re.search(r"\x1b\[(?:[0-9;]*;)?(?:[34][0-7]|9[0-7]|10[0-7]|[34]8)[;m]", screen)


async def test_where_the_locale_is_not_utf8_the_signs_are_ascii(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice", "--set", "glyphs=ascii") as alice:
        await alice.type("hello there")
        screen = await alice.until(
            lambda text: bool(re.search(r"alice  hello there +waiting  \.", text))
        )

    assert not set("─│╭╮○") & set(screen)


async def test_a_broken_file_is_said_on_the_screen_and_the_chat_goes_on(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await leave(alice)
    (tmp_path / "data" / "alice" / "settings.toml").write_text("[look]\ntheme = nord\n")
    async with chatting(tmp_path, "alice", size=(180, 30)) as again:  # so long may its path be
        said = await again.until("settings.toml, line 2")
        await again.type("hello there")
        await again.until("alice  hello there")

    assert "Correct that line" in " ".join(said.split())


async def test_the_demo_takes_the_keys_of_the_persons_own_file(tmp_path: Path) -> None:
    file = tmp_path / "chat-tui" / "config.toml"
    file.parent.mkdir()
    file.write_text('[keys]\ndemo_formulas = "v"\nclose = "f8"\n')
    here = {"XDG_CONFIG_HOME": str(tmp_path)}
    async with Terminal([sys.executable, "-m", "chat_tui", "demo"], environment=here) as terminal:
        await terminal.until("v formulas")
        await terminal.press("Escape")
        await terminal.press("v")
        shown = await terminal.until("F8 leave")
        await terminal.press("F8")
        await terminal.until("EXIT 0")

    assert "DEMO" in shown


async def test_keys_shows_what_a_key_sends(tmp_path: Path) -> None:
    words = ["keys", "--data-dir", str(tmp_path), "--set", "keys.debug=f12"]
    async with Terminal([sys.executable, "-m", "chat_tui", *words], size=(100, 24)) as terminal:
        await terminal.until("what it does")
        await terminal.press("F1")
        await terminal.until("keys.help: Help")
        await terminal.press("F12")
        await terminal.until("keys.debug: Protocol (changed, usually F2")
        await terminal.press("Escape")
        await terminal.until("keys.close")
        await terminal.press("Escape")
        left = await terminal.until("EXIT 0")

    assert re.search(r"1b 4f 50 +f1 ", left)
