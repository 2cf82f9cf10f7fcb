"""Standard input is read as it comes, and no further than somebody takes it."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat_tui.line_mode.standard_input import CHUNK_SIZE, chunks

TURNS = 5


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """Make a pipe: where to read, and where to write."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    yield reading, writing
    for end in (reading, writing):
        try:
            os.close(end)
        except OSError:
            assert end == writing, "a test closes it to end its input"


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def fill(descriptor: int) -> int:
    """Write as much as there is room for; return how much that was."""
    written = 0
    try:
        while True:
            written += os.write(descriptor, b"x" * 4096)
    except BlockingIOError:
        return written


async def test_what_comes_is_read_until_the_end_and_looked_for_once(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = ends
    loop = asyncio.get_running_loop()
    looks: list[int] = []
    add = loop.add_reader

    def counted(descriptor: int, callback: object) -> None:
        looks.append(descriptor)
        add(descriptor, callback)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "add_reader", counted)
    read = []
    os.write(writing, b"first")

    async for chunk in (coming := chunks(reading)):
        read.append(chunk)
        if len(read) == TURNS:
            os.close(writing)
        else:
            os.write(writing, b"more")
    await coming.aclose()

    assert (read, looks) == ([b"first", *[b"more"] * (TURNS - 1)], [reading])


async def test_whoever_writes_waits_where_nobody_takes_what_came(ends: tuple[int, int]) -> None:
    reading, writing = ends
    loop = asyncio.get_running_loop()
    os.write(writing, b"first")
    coming = chunks(reading)
    assert await anext(coming) == b"first"
    room = fill(writing)

    await turns()
    more = fill(writing)
    await turns()

    assert 0 < more <= CHUNK_SIZE
    assert fill(writing) == 0
    assert not loop.remove_reader(reading), "the loop is not woken for what nobody takes"
    taken = 0
    while taken < room + more:
        taken += len(await anext(coming))
    os.write(writing, b"last")
    assert await anext(coming) == b"last"
    await coming.aclose()


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"y" * (CHUNK_SIZE + 1))

    with path.open("rb") as file:
        read = [len(chunk) async for chunk in chunks(file.fileno())]

    assert read == [CHUNK_SIZE, 1]
