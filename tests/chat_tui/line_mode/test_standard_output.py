"""Standard output: whole and in order, while the program goes on without its reader."""

import asyncio
import io
import os
import pty
import select
import socket
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

import pytest

from chat_tui.line_mode import standard_output
from chat_tui.line_mode.standard_output import StandardOutput, written_to
from sync.errors import LocalError
from tests.support.patience import PATIENCE_S

LINE: Final = "a line \N{EM DASH} of a chat\n"
SIZE: Final = len(LINE.encode())
LINES: Final = 20_000
"""Far more than a pipe, a socket or a terminal holds."""


@dataclass
class Reader:
    """Reads an output, when it wants to."""

    ours: int
    file: TextIO

    async def read(self, size: int) -> bytes:
        """Return so many bytes of what came, or all if it ends before."""

        def run() -> bytes:
            data = b""
            while len(data) < size and (some := os.read(self.ours, size - len(data))):
                data += some
            return data

        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.to_thread(run)

    def leave(self) -> None:
        os.close(self.ours)


def pipe() -> tuple[int, int]:
    return os.pipe()


def sockets() -> tuple[int, int]:
    """Return what programs in JavaScript give their children for pipes."""
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


def terminal() -> tuple[int, int]:
    ours, its = pty.openpty()
    tty.setraw(its)
    return ours, its


@pytest.fixture(params=[pipe, sockets, terminal])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    make: Callable[[], tuple[int, int]] = request.param
    ours, its = make()
    # As PYTHONUNBUFFERED has it.
    file = io.TextIOWrapper(io.FileIO(its, "w"), encoding="utf-8", write_through=True)
    yield Reader(ours, file)
    with suppress(OSError):
        file.close()
    with suppress(OSError):
        os.close(ours)


def has_come(reader: Reader) -> bool:
    ready, _, _ = select.select([reader.ours], [], [], 0)
    return bool(ready)


async def test_a_step_is_handed_out_as_a_whole_at_its_end(reader: Reader) -> None:
    output = StandardOutput(reader.file)
    async with written_to(output):
        sys.stdout.write(LINE)
        sys.stdout.write(LINE)
        before = has_come(reader)
        sys.stdout.flush()
        after = has_come(reader)

    assert (before, after) == (False, True)
    assert await reader.read(2 * SIZE) == 2 * LINE.encode()


@pytest.mark.parametrize("reader", [pipe, sockets], indirect=True)
async def test_a_reader_that_goes_is_missed_though_nothing_is_written(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_output, "LOOK_S", 0.01)
    output, gone = StandardOutput(reader.file), asyncio.Event()
    output.gone = gone.set
    async with written_to(output):
        sys.stdout.write(LINE)
        sys.stdout.flush()
        await reader.read(SIZE)
        reader.leave()
        async with asyncio.timeout(PATIENCE_S):
            await gone.wait()

    assert output.error is not None


async def test_nobody_waits_for_a_reader_and_all_of_it_is_read_in_order(reader: Reader) -> None:
    output = StandardOutput(reader.file)
    async with written_to(output):
        for number in range(LINES):
            sys.stdout.write(f"{number} {LINE}")
        sys.stdout.flush()  # where the program would have waited
        room = asyncio.create_task(output.room())
        await asyncio.sleep(0)
        waits = not room.done()
        sys.stdout.write("the end\n")
        sys.stdout.flush()
        wanted = "".join([f"{number} {LINE}" for number in range(LINES)] + ["the end\n"]).encode()
        reading = asyncio.create_task(reader.read(len(wanted)))

    assert waits
    assert await reading == wanted
    await room


async def test_above_what_may_wait_the_program_waits(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_output, "WAITING_MAX", 1000 * SIZE)
    output = StandardOutput(reader.file)
    async with written_to(output):
        reading = asyncio.create_task(reader.read(LINES * SIZE))
        await asyncio.sleep(0)  # until the thread has begun
        for _ in range(LINES):
            sys.stdout.write(LINE)
            sys.stdout.flush()
            assert len(output._waiting) <= 1000 * SIZE

    assert await reading == LINES * LINE.encode()


async def test_a_program_told_to_end_gives_its_reader_a_moment(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(standard_output, "HURRIED_S", 0.01)
    monkeypatch.setattr(standard_output, "WAITING_MAX", 1000 * SIZE)
    output = StandardOutput(reader.file)
    async with written_to(output):
        output.hurry()
        for _ in range(LINES):
            sys.stdout.write(LINE)
            sys.stdout.flush()

    lost = int(capfd.readouterr().err.split()[4].replace(",", ""))
    assert 0 < lost < LINES * SIZE
    assert await reader.read(LINES * SIZE - lost) == (LINES * LINE).encode()[:-lost]


async def test_who_is_told_to_end_while_all_wait_for_the_reader_ends(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_output, "HURRIED_S", 0.01)

    async def chat() -> None:
        async with written_to(StandardOutput(reader.file)):
            sys.stdout.write(LINES * LINE)

    chatting = asyncio.create_task(chat())
    await asyncio.sleep(0)
    chatting.cancel()
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(asyncio.CancelledError):
            await chatting


async def test_a_halted_terminal_that_errors_go_to_as_well_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(standard_output, "HURRIED_S", 0.01)
    ours, its = terminal()
    with open(its, "w", encoding="utf-8") as file:  # noqa: ASYNC230, PTH123  it is open
        monkeypatch.setattr(sys, "stderr", file)
        termios.tcflow(its, termios.TCOOFF)  # as Ctrl+S does
        output = StandardOutput(file)
        async with written_to(output):
            sys.stdout.write(LINE)
            output.hurry()
        termios.tcflow(its, termios.TCOON)
    os.close(ours)


async def test_a_reader_who_leaves_is_told_of_and_nobody_fails(reader: Reader) -> None:
    output = StandardOutput(reader.file)
    gone = asyncio.Event()
    output.gone = gone.set
    async with written_to(output):
        sys.stdout.write(LINES * LINE)
        sys.stdout.flush()
        room = asyncio.create_task(output.room())
        await asyncio.sleep(0)
        reader.leave()
        async with asyncio.timeout(PATIENCE_S):
            await gone.wait()
            await room
        sys.stdout.write(LINE)


async def test_a_pipe_that_cannot_be_opened_again_is_not_waited_for_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on systems without /proc."""
    monkeypatch.setattr(standard_output, "opened_again", lambda _: None)
    ours, its = os.pipe()
    with open(its, "w", encoding="utf-8") as file:  # noqa: ASYNC230, PTH123  it is open
        output = StandardOutput(file)
        async with written_to(output):
            sys.stdout.write(LINES * LINE)
            sys.stdout.flush()
            waits = output._waiting != b""
            reading = asyncio.create_task(Reader(ours, file).read(LINES * SIZE))

        assert waits
        assert await reading == LINES * LINE.encode()
    os.close(ours)


async def test_a_file_is_written_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("before\n")
    with path.open("a") as file:  # of this test
        async with written_to(StandardOutput(file)):
            sys.stdout.write(LINES * LINE)

    assert path.read_text() == "before\n" + LINES * LINE


async def test_a_full_disk_is_said() -> None:
    with (
        open("/dev/full", "w") as file,  # noqa: ASYNC230, PTH123  # no path of a disk
        pytest.raises(LocalError, match="No space left"),
    ):
        async with written_to(StandardOutput(file)):
            sys.stdout.write(LINE)
