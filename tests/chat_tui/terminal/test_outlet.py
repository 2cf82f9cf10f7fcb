"""Output to a terminal: at once as far as it takes it, in order, the rest when it takes more."""

import asyncio
import os
import pty
import tty
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TextIO

import pytest

from chat_tui.terminal.outlet import BEHIND, WAITING_MAX, Outlet
from tests.support.patience import PATIENCE_S

MUCH: Final = WAITING_MAX // 4


@dataclass
class Screen:
    """A terminal, which shows what comes only where somebody reads it."""

    ours: int
    file: TextIO
    outlet: Outlet = field(init=False)
    caught_up: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.outlet = Outlet(self.file, self.caught_up.set)
        self.outlet.open()

    async def read(self, size: int) -> str:
        """Return so many bytes of what it got, read by a thread."""

        def run() -> bytes:
            data = b""
            while len(data) < size and (some := os.read(self.ours, size - len(data))):
                data += some
            return data

        return (await asyncio.to_thread(run)).decode()


@pytest.fixture
def screen() -> Iterator[Screen]:
    ours, its = pty.openpty()
    tty.setraw(its)
    # Where the terminal is closed, so is the file, with an error.
    with suppress(OSError), open(its, "w", encoding="utf-8") as file:  # noqa: PTH123  it is open
        yield Screen(ours, file)
        with suppress(OSError):
            os.close(ours)


async def test_what_is_written_is_there_at_once(screen: Screen) -> None:
    screen.outlet.write("picture")
    assert os.read(screen.ours, 7) == b"picture"
    screen.outlet.close()


async def test_what_a_slow_terminal_does_not_take_comes_later_and_nothing_goes_before_it(
    screen: Screen,
) -> None:
    much = "ä" * MUCH
    screen.outlet.write(much)
    screen.outlet.write("after")
    assert (screen.outlet.behind, screen.caught_up.is_set()) == (True, False)

    assert await screen.read(2 * MUCH + 5) == f"{much}after"
    await screen.caught_up.wait()
    assert (screen.outlet.behind, screen.caught_up.is_set()) == (False, True)
    screen.outlet.write("at once again")
    assert os.read(screen.ours, 13) == b"at once again"
    screen.outlet.close()


async def test_beyond_what_may_wait_texts_are_lost_as_a_whole(screen: Screen) -> None:
    piece = "x" * BEHIND
    for _ in range(WAITING_MAX // BEHIND):
        screen.outlet.write(piece)  # the first goes out, in part
    screen.outlet.write("y" * 2 * BEHIND)
    screen.outlet.write("z")

    shown = await screen.read(WAITING_MAX + 1)
    assert shown == piece * (WAITING_MAX // BEHIND) + "z"
    screen.outlet.close()


async def test_a_terminal_that_takes_nothing_holds_nobody_up_at_the_end(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat_tui.terminal.outlet.LAST_S", 0.0)
    screen.outlet.write("x" * MUCH)
    screen.outlet.close()
    assert not screen.outlet.behind
    assert not screen.caught_up.is_set()


async def test_the_rest_leaves_before_the_end_where_somebody_reads(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat_tui.terminal.outlet.LAST_S", PATIENCE_S)
    screen.outlet.write("x" * BEHIND)
    reading = asyncio.create_task(screen.read(BEHIND))
    await asyncio.sleep(0)  # until the thread has begun
    screen.outlet.close()
    assert await reading == "x" * BEHIND


async def test_a_terminal_without_a_name_here_is_not_waited_for_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nameless(_: int) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "ttyname", nameless)
    ours, its = pty.openpty()
    tty.setraw(its)
    with open(its, "w", encoding="utf-8") as file:  # noqa: ASYNC230, PTH123  it is open
        named_elsewhere = Screen(ours, file)
        named_elsewhere.outlet.write("x" * MUCH)
        assert named_elsewhere.outlet.behind
        assert await named_elsewhere.read(MUCH) == "x" * MUCH
        named_elsewhere.outlet.close()
    os.close(ours)


async def test_a_closed_terminal_loses_what_is_written(screen: Screen) -> None:
    os.close(screen.ours)
    screen.outlet.write("picture")
    screen.outlet.close()


async def test_a_terminal_that_is_closed_while_much_waits_is_written_to_no_more(
    screen: Screen,
) -> None:
    screen.outlet.write("x" * MUCH)
    os.close(screen.ours)
    await screen.caught_up.wait()
    screen.outlet.close()


def test_what_is_no_terminal_is_written_to_as_any_file() -> None:
    ours, its = os.pipe()
    with open(its, "w", encoding="utf-8") as file:  # noqa: PTH123  it is open
        outlet = Outlet(file, lambda: None)
        outlet.open()
        outlet.write("picture")
        outlet.close()
    assert os.read(ours, 9) == b"picture"
    os.close(ours)
