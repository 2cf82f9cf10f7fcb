"""The tour of all scenarios in a real terminal: the screen is read as somebody reads it."""

import os
import re
import shutil
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from chat_tui.cli.cast import SIGNALLED
from chat_tui.demo.run import Run
from chat_tui.demo.scenario import SEED
from chat_tui.demo.scenarios import CROWD_MIN, SCENARIOS, scenario
from tests.support.chat_tui.casts import checked
from tests.support.chat_tui.demos import assert_kinds_whole, assert_whole, words_of
from tests.support.chat_tui.terminal_chats import LEFT_CLEAN
from tests.support.chat_tui.terminals import Terminal, ended

pytestmark = [
    pytest.mark.net,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux makes the terminals"),
]

LAST = len(SCENARIOS)
SCRUBBER = re.compile("[\u2501\u2500\u25cf\u254b\u2717]{4,}")
FIGURES = ["has all"]
"""Words beside a crowd, of which not every moment is told."""

OPENED = "Esc leave"

BUSY = "Playing it again"


def look(screen: str, size: tuple[int, int]) -> None:
    """Assert that nothing on a screen is cut."""
    lines = screen.splitlines()
    assert len(lines) <= size[1]
    assert max(map(len, lines)) <= size[0]
    assert_whole(words_of(screen))
    assert_kinds_whole(lines)


def has_opened(title: str, about: str, screen: str) -> bool:
    """Return whether a scenario stands at its beginning, with the sentence of what will be seen."""
    return title in screen and "paused" in screen and about in words_of(screen)


async def see(terminal: Terminal, part: float, sentences: list[str]) -> str:
    """Click a part of the scrubber, and wait until one of some sentences stands there whole."""
    line = (await terminal.screen()).splitlines()[1]
    found = SCRUBBER.search(line)
    assert found is not None, line
    clock = line.split()[-1]
    await terminal.click(found.start() + int(part * (len(found[0]) - 1)), 1)

    def is_there(screen: str) -> bool:
        words = words_of(screen)
        is_new = BUSY not in screen and clock not in words
        return is_new and any(words_of(one) in words for one in sentences)

    return await terminal.until(is_there)


@pytest.mark.parametrize(
    "size",
    [
        pytest.param((60, 16), marks=pytest.mark.grid),
        (80, 24),
        pytest.param((140, 40), marks=pytest.mark.grid),
        pytest.param((200, 50), marks=pytest.mark.grid),
    ],
    ids=lambda size: f"{size[0]}x{size[1]}",
)
async def test_every_scenario_opens_with_its_sentence_and_ends_with_its_promises(
    size: tuple[int, int], tmp_path: Path
) -> None:
    options = ["--once", "--speed=16", f"--peers={CROWD_MIN}", f"--seed={SEED}"]
    command = [sys.executable, "-m", "chat_tui", "demo", *options]
    async with Terminal(command, size=size, environment=home_of(tmp_path)) as terminal:
        await terminal.until("DEMO")
        for number in range(1, LAST + 1):
            one = scenario(number, CROWD_MIN)
            run = Run(one, SEED)
            run.finish()
            # Time stands still at once, so that a slow computer misses nothing.
            await terminal.press("n" if number > 1 else "1", "Space")
            title, about = f"{number}/{LAST}", words_of(one.about)
            opening = await terminal.until(partial(has_opened, title, about))
            look(opening, size)
            said = FIGURES if one.people else [told.plain for told in run.said]
            look(await see(terminal, 0.5, said), size)
            if number == LAST:
                await terminal.press("Space")
            else:
                await see(terminal, 1.0, ["Every promise holds."])
            closing = await terminal.until("Every promise holds.")
            look(closing, size)
            for verdict in run.verdicts:
                assert words_of(f"\u2713 {verdict.claim} ({verdict.because})") in words_of(closing)
        left = await terminal.until("EXIT")

    assert left.split() == ["EXIT", "0"]


def home_of(directory: Path) -> dict[str, str]:
    """The environment of somebody who has no settings."""
    return {"HOME": str(directory), "XDG_CONFIG_HOME": str(directory)}


def at_home(home: Path, command: str, *options: str) -> Terminal:
    """A terminal with a command of theirs."""
    words: Sequence[str] = [sys.executable, "-m", "chat_tui", command, *options]
    return Terminal(words, environment=home_of(home))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_demo_that_is_ended_gives_the_terminal_back(
    number: signal.Signals, tmp_path: Path
) -> None:
    async with at_home(tmp_path, "demo") as terminal:
        await terminal.until(OPENED)
        during = await terminal.mode()
        os.kill(await terminal.process(), number)
        left = await terminal.until("EXIT")
        after = await terminal.mode()

    assert during != LEFT_CLEAN
    assert left.split() == ["EXIT", "0"]
    assert after == LEFT_CLEAN


async def test_a_demo_asks_for_no_mouse_where_it_is_set_off(tmp_path: Path) -> None:
    async with at_home(tmp_path, "demo", "--set", "mouse=off") as terminal:
        await terminal.until(OPENED)

        assert await terminal.mode() == "1 0 0"


async def test_a_cast_that_is_ended_gives_the_terminal_back_and_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "casts" / "x.cast"
    file.parent.mkdir()
    async with at_home(tmp_path, "demo", "--cast", str(file)) as terminal:
        await terminal.until(OPENED)
        os.kill(await terminal.process(), signal.SIGTERM)
        left = await terminal.until("EXIT")
        after = await terminal.mode()

    assert left.split() == ["EXIT", str(SIGNALLED + signal.SIGTERM)]
    assert after == LEFT_CLEAN
    assert [*file.parent.iterdir()] == [file]
    checked(file.read_text())


async def test_a_cast_is_kept_where_the_terminal_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "casts" / "x.cast"
    file.parent.mkdir()
    async with at_home(tmp_path, "demo", "--cast", str(file)) as terminal:
        await terminal.until(OPENED)
        recorder = await terminal.process()
        await terminal.hang_up()
        await ended(recorder)

    assert [*file.parent.iterdir()] == [file]
    checked(file.read_text())


async def test_a_cast_that_finds_no_room_gives_the_terminal_back(tmp_path: Path) -> None:
    file = tmp_path / "casts" / "x.cast"
    file.parent.mkdir()
    # no file may be larger than 8 blocks of 512 bytes
    small = 'ulimit -f 8; exec "$0" -m chat_tui demo --scenario 1 --cast "$1"'
    command = ["sh", "-c", small, sys.executable, str(file)]
    async with Terminal(command, environment=home_of(tmp_path)) as terminal:
        left = await terminal.until("EXIT")
        after = await terminal.mode()

    assert "cannot be written" in left
    assert after == LEFT_CLEAN
    assert not [*file.parent.iterdir()]


async def test_a_recording_that_finds_no_directory_any_more_is_said_at_the_end(
    tmp_path: Path,
) -> None:
    file = tmp_path / "demos" / "mine.demo"
    file.parent.mkdir()
    async with at_home(tmp_path, "demo", "--record", str(file)) as terminal:
        await terminal.until(OPENED)
        shutil.rmtree(file.parent)
        await terminal.press("Escape")
        left = await terminal.until("EXIT")

    assert "The recording cannot be written" in left
    assert left.split()[-2:] == ["EXIT", "1"]
