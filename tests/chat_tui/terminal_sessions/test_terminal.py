"""The program in real terminals, as a person meets it."""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.terminal_chats import LEFT_CLEAN, READY, chat, chatting, lacks, leave
from tests.support.chat_tui.terminals import Terminal, ended
from tests.support.patience import PATIENCE_S
from tests.support.processes import free_port, run

pytestmark = [
    pytest.mark.net,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux makes the terminals"),
]

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
"""Of two cells in tmux, which gives a thumb with a tone four."""

NOWHERE = "192.0.2.1"
"""An address for documentation, which no interface has."""


def limited(limit: str, command: Sequence[str]) -> list[str]:
    """The command under a limit of the shell."""
    return ["sh", "-c", f'{limit}; exec "$@"', "sh", *command]


@pytest.mark.parametrize("enters", [1, 3])
async def test_a_first_run_needs_nothing_but_enter(tmp_path: Path, enters: int) -> None:
    network = ["--interface", "127.0.0.1", "--no-discovery", "--port", str(free_port())]
    command = [sys.executable, "-m", "chat_tui", *network]
    home = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    async with Terminal(command, environment=home) as terminal:
        asked = await terminal.until("Esc leaves")
        for _ in range(enters):
            await terminal.press("Enter")
        shown = await terminal.until(READY)
        await terminal.until("Discovery is off on 127.0.0.1")
        left = await leave(terminal)

    assert "Your name" in asked
    assert "to #lobby, open to everybody on this network" in shown
    assert "EXIT 0" in left
    assert (tmp_path / "data" / "chat-tui" / "default" / "identity").exists()


async def test_leaving_the_first_run_makes_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with Terminal(chat(data, "alice")) as terminal:
        await terminal.until("Esc leaves")
        left = await leave(terminal, ["Escape"])
        mode = await terminal.mode()

    assert "EXIT 0" in left
    assert mode == LEFT_CLEAN
    assert not (data / "alice").exists()


async def test_a_line_reaches_the_other_terminal_and_its_mark_becomes_full(tmp_path: Path) -> None:
    port = free_port()
    async with (
        chatting(tmp_path, "alice", "--port", str(port)) as alice,
        chatting(tmp_path, "bob", "--connect", f"127.0.0.1:{port}", size=(140, 40)) as bob,
    ):
        await alice.until("1 other here")
        await alice.type("hello bob")
        seen = await bob.until("alice  hello bob")
        await alice.until(lambda screen: bool(re.search(r"alice  hello bob +●", screen)))
        await leave(bob)
        # said in leaving: silence alone would be noticed after 15 s
        gone = await alice.until("nobody else here", within_s=8)

    assert re.search(r"[●◐] alice +\S", seen)
    assert "hello bob" in gone


async def test_pasted_lines_are_sent_by_enter_alone_and_as_one_message(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice.paste("first line\nsecond line\n/quit\n")
        pasted = await alice.until("│ /quit")
        await alice.press("Enter")
        sent = await alice.until("alice  first line")

    assert "Nothing was written" in pasted
    assert re.search(r"^ +second line$", sent, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), f"{FAMILY} \U0001f44d one"),
        (("--preset", "ssh"), "\U0001f468\U0001f469\U0001f467 \U0001f44d one"),
    ],
    ids=["asked", "ssh"],
)
async def test_families_are_shown_where_the_terminal_agrees_on_their_cells(
    tmp_path: Path, options: Sequence[str], shown: str
) -> None:
    async with chatting(tmp_path, "alice", *options) as alice:
        await alice.paste(f"{FAMILY} \U0001f44d\U0001f3fd one")
        await alice.press("Enter")
        screen = await alice.until(lambda text: " one" in text and READY in text)

    assert f"alice  {shown}" in screen
    assert len({len(line) for line in screen.splitlines() if "│" in line}) == 1


async def test_the_chat_follows_the_size_of_the_terminal(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice", size=(140, 40)) as alice:
        await alice.type("a line of many words " * 8)
        wide = await alice.until("waiting")
        await alice.resize(70, 24)
        await alice.until(lambda screen: "CHANNELS" not in screen and "F1 Help" in screen)
        await alice.type("still here")
        narrow = await alice.until("alice  still here")
        await alice.resize(50, 12)
        await alice.until("Please enlarge the window")
        await alice.resize(80, 24)
        again = await alice.until("alice  still here")

    assert "CHANNELS" in wide
    assert max(map(len, narrow.splitlines())) <= 70
    assert "Please enlarge" not in again


async def test_alt_keys_act_and_type_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        for key, shown in (
            ("M-h", "complete a /command"),
            ("M-p", "Waiting for parents"),
            ("M-n", "Nobody yet"),
        ):
            await alice.press(key)
            await alice.until(shown)
            await alice.press("Escape")
            await alice.until(partial(lacks, shown))
        await alice.press("M-a")
        await alice.press("x")
        typed = await alice.until("│ x")

    assert "Nothing was written" in typed


async def test_quitting_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        during = await alice.mode()
        left = await leave(alice)
        after = await alice.mode()

    assert during != LEFT_CLEAN
    assert left.split() == ["EXIT", "0"]
    assert after == LEFT_CLEAN


async def test_what_was_submitted_just_before_quitting_is_kept(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await leave(alice, ["h", "i", "Enter", "C-q"])
    async with chatting(tmp_path, "alice") as alice:
        await alice.until("alice  hi")


async def test_history_is_there_without_a_network_and_a_line_stays_in_the_input(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice.type("remember this")
        await alice.until("alice  remember this")
        await leave(alice)
    async with chatting(tmp_path, "alice", "--interface", NOWHERE) as alice:
        await alice.until("alice  remember this")
        await alice.until(NOWHERE)
        await alice.type("and this")
        refused = await alice.until("│ and this")
        left = await leave(alice)

    assert NOWHERE in refused
    assert "EXIT 0" in left


async def test_a_dumb_terminal_gets_line_mode(tmp_path: Path) -> None:
    command = ["env", "TERM=dumb", *chat(tmp_path / "data", "alice", "--name", "alice")]
    async with Terminal(command) as terminal:
        screen = await terminal.until("* You are alice in #lobby")
        await terminal.type("/quit")
        await terminal.until("EXIT 0")

    assert "─" not in screen


async def test_a_pipe_gets_line_mode(tmp_path: Path) -> None:
    finished = await run(chat(tmp_path / "data", "alice", "--name", "alice"))

    assert finished.code == 0
    assert finished.stdout.startswith("* You are alice in #lobby")
    assert "\x1b" not in finished.stdout


async def test_no_color_is_obeyed(tmp_path: Path) -> None:
    colours = {"COLORTERM": "truecolor"}
    async with chatting(tmp_path, "alice", environment=colours) as alice:
        coloured = await alice.styled_screen()
        await leave(alice)
    async with chatting(tmp_path, "alice", environment={**colours, "NO_COLOR": "1"}) as alice:
        plain = await alice.styled_screen()

    assert any(len(set(colour)) > 1 for colour in rgb(coloured))
    assert all(len(set(colour)) == 1 for colour in rgb(plain))


def rgb(screen: str) -> list[tuple[str, ...]]:
    """All the colours in use, as red, green and blue."""
    return re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", screen)


async def test_a_profile_in_use_is_refused_in_a_sentence(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice"):
        command = chat(tmp_path / "data", "alice")
        async with Terminal(command) as second:
            screen = await second.until("EXIT 1")
            mode = await second.mode()

    assert "--profile" in screen
    assert "Traceback" not in screen
    assert mode == LEFT_CLEAN


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_to_end_leaves_like_a_person(tmp_path: Path, number: signal.Signals) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice.type("before the end")
        await alice.until("alice  before the end")
        os.kill(await alice.process(), number)
        left = await alice.until("EXIT")
        mode = await alice.mode()
    async with chatting(tmp_path, "alice") as alice:
        await alice.until("alice  before the end")

    assert left.split() == ["EXIT", "0"]
    assert mode == LEFT_CLEAN


async def test_closing_the_terminal_ends_the_chat_and_loses_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice.type("before the end")
        await alice.until("alice  before the end")
        process = await alice.process()
        await alice.hang_up()
        await ended(process)
    async with chatting(tmp_path, "alice") as alice:
        await alice.until("alice  before the end")


async def test_a_full_disk_is_said_and_what_it_refuses_waits_in_memory(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await leave(alice)
    command = limited("ulimit -f 160", chat(tmp_path / "data", "alice"))
    async with Terminal(command) as terminal:
        screen = await terminal.until(READY)
        while "DISK: " not in screen:
            await terminal.paste("as long as a message may be " * 530)
            await terminal.until("│ as long as")
            await terminal.press("Enter")
            screen = await terminal.until(READY)
        waits = await terminal.until(" in memory until then")
        left = await leave(terminal)

    assert re.search(r"\d+ lines? waits?", " ".join(waits.split()))
    assert "EXIT 0" in left


async def test_a_damaged_history_is_a_sentence(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await leave(alice)
    (tmp_path / "data" / "alice" / "chat.db").write_bytes(b"no database " * 1000)
    async with Terminal(chat(tmp_path / "data", "alice")) as terminal:
        screen = await terminal.until("EXIT 1")
        mode = await terminal.mode()

    assert "chat.db" in screen
    assert "Traceback" not in screen
    assert mode == LEFT_CLEAN


async def test_a_crash_restores_the_terminal_and_names_the_log(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await leave(alice)
    command = limited("ulimit -n 11", chat(tmp_path / "data", "alice"))
    log = tmp_path / "data" / "alice" / "chat.log"
    async with Terminal(command, size=(200, 24)) as terminal:
        screen = await terminal.until("EXIT 1")
        mode = await terminal.mode()

    assert "Something broke, and the chat had to close (OSError: [Errno 24]" in screen
    assert str(log) in screen
    assert "Traceback" not in screen
    assert "Traceback" in log.read_text()
    assert mode == LEFT_CLEAN


async def test_a_terminal_that_goes_without_a_signal_ends_the_chat(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = ["chat", "--profile", "alice", "--data-dir", str(tmp_path), "--no-discovery"]
    async with opened(tmp_path, "alice"):
        pass
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "chat_tui", *words, "--interface", "127.0.0.1",
        stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    try:
        os.close(theirs)
        await seen(ours, b"nter sends")  # the cursor is on the first letter
        os.close(ours)

        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()


async def seen(terminal: int, text: bytes) -> None:
    """Read what a program paints until it has painted `text`.

    Raises:
        TimeoutError: it did not.
    """
    readable = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(terminal, readable.set)
    shown = b""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while text not in shown:
                await readable.wait()
                readable.clear()
                shown += os.read(terminal, 65_536)
    finally:
        loop.remove_reader(terminal)
