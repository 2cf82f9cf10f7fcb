"""Through the whole program in a real terminal, as somebody does who looks around."""

import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.support.chat_tui.terminal_chats import LEFT_CLEAN, READY, chatting, lacks, leave
from tests.support.chat_tui.terminals import Terminal

pytestmark = [
    pytest.mark.net,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux makes the terminals"),
]

TABS = ("Now", "Buffers", "Causal", "Bloom", "Sync", "Wire", "Trace", "Group")


async def close(terminal: Terminal, what: str) -> None:
    """Press Esc, and wait until something is gone."""
    await terminal.press("Escape")
    await terminal.until(partial(lacks, what))


async def test_writing_and_resizing_there_and_back(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice.type("the projector is in room two")
        await alice.until("alice  the projector")
        await alice.paste("one\ntwo\nthree")
        await alice.until("│ three")
        await alice.resize(60, 16)
        small = await alice.until("│ three")
        await alice.press("Enter")
        await alice.until(re.compile(r"^ +three", re.MULTILINE).search)
        await alice.until("Ctrl+J new line, / a command")
        await alice.resize(140, 40)
        await alice.until("CHANNELS")
        wide = await alice.until("alice  the projector is in room two")
        await alice.resize(80, 24)
        await alice.until(partial(lacks, "CHANNELS"))
        back = await alice.until("alice  the projector is in room two")
        left = await leave(alice)

    assert max(map(len, small.splitlines())) <= 60
    assert "alice  the projector is in room two" in wide
    assert "CHANNELS" in wide
    assert "alice  one" in back
    assert left.split() == ["EXIT", "0"]


async def test_searching_selecting_and_looking_closer(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        for text in ("the projector is in room two", "who has the cable?"):
            await alice.type(text)
            await alice.until(f"alice  {text}")
        await alice.press("C-f")
        await alice.until("Search")
        await alice.type("proj")
        await alice.until("proj: hit 1 of 1")
        await close(alice, "hit 1 of 1")
        await alice.press("C-t")
        await alice.until("Enter details")
        await alice.press("Enter")
        details = await alice.until("Lamport")
        await close(alice, "Lamport")
        await alice.press("y")
        await alice.until("Copied the message")
        await alice.press("q")
        quoted = await alice.until("│ > alice: who has the cable?")
        await leave(alice)

    assert "Message " in details
    assert "hit 1 of 1" not in quoted


async def test_every_screen_opens_by_its_key_and_closes(tmp_path: Path) -> None:
    colours = {"COLORTERM": "truecolor"}
    async with chatting(tmp_path, "alice", size=(140, 40), environment=colours) as alice:
        await alice.type("hello")
        await alice.until("alice  hello")
        await alice.press("F2", "4")
        opened_at = await alice.until("[4Sync]")
        for number, name in enumerate(TABS):
            await alice.press(str(number))
            await alice.until(f"[{number}{name}]")
        await close(alice, "[7Group]")
        await alice.press("F3")
        await alice.until("PEERS  0 people known")
        await close(alice, "0 people known")
        await alice.press("F4", ".")
        await alice.until('writes "')
        await close(alice, "DEMO")
        await alice.press("F6")
        await alice.until("Esc closes")
        await close(alice, "Del resets")
        await alice.type("/theme textual-light")
        await alice.until("theme is textual-light now.")
        await alice.press("F1")
        await alice.until("Ctrl+T or Alt+S")
        await close(alice, "Ctrl+T or Alt+S")
        await leave(alice)
        mode = await alice.mode()
    async with chatting(tmp_path, "alice", environment=colours) as alice:
        again = await alice.styled_screen()

    assert READY in opened_at
    assert mode == LEFT_CLEAN
    assert "48;2;224;224;224" in again


async def test_keys_in_one_burst_each_reach_what_the_one_before_has_opened(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice", size=(140, 40)) as alice:
        await alice.press("a", "c", "Left", "b", "F2", "5", "/", "S", "Y", "N", "C", "Enter")
        filtered = await alice.until("with “SYNC”")
        await alice.press("Escape")
        await alice.until(partial(lacks, "with “SYNC”"))
        await alice.press("Escape")
        await alice.until(partial(lacks, "[5Wire]"))
        await alice.press("C-p", *"nick", "Enter", *"alina", "Enter")
        await alice.until("● alina")
        await leave(alice)

    assert "│ abc" in filtered


async def test_a_locale_without_utf8_gets_ascii_signs(tmp_path: Path) -> None:
    environment = {"LC_ALL": "en_US.ISO-8859-1", "PYTHONUTF8": "0"}
    async with chatting(tmp_path, "alice", environment=environment) as alice:
        await alice.type("hello there")
        screen = await alice.until(re.compile(r"alice  hello there +waiting  \.").search)
        await leave(alice)

    assert READY in screen
    assert screen.isascii()
