"""The writer of a session's stream: order, backpressure, and whoever takes nothing."""

import asyncio
from collections.abc import Iterable

import pytest

from sync.errors import RemoteError, StorageError
from sync.net.links.stream import FRAME_MAX, SecureStream
from sync.net.links.stream_writer import QUEUED_CROWDED, QUEUED_MAX, StreamWriter
from tests.support.sync.streams import AT_ONCE, PATIENCE, connected, within

pytestmark = pytest.mark.net

LARGE = bytes(FRAME_MAX)
TOO_MANY = 64
"""Of the largest frames: more than two systems keep for a reader that does not read."""


async def read_all(stream: SecureStream) -> list[bytes]:
    frames = []
    while (frame := await stream.receive()) is not None:
        frames.append(frame)
    return frames


async def has_room(writer: StreamWriter) -> bool:
    try:
        await asyncio.wait_for(writer.room(), AT_ONCE)
    except TimeoutError:
        return False
    return True


async def test_payloads_and_pages_leave_in_the_order_given() -> None:
    loaded = []

    def page_of(*frames: bytes) -> None:
        async def load() -> Iterable[bytes]:
            await asyncio.sleep(0)
            loaded.append(frames)
            return frames

        writer.send_page(load)

    async with connected() as (alice, bob), StreamWriter(alice) as writer:
        writer.send(b"1")
        page_of(b"2", b"3")
        writer.send(b"4")
        page_of()
        page_of(b"5")
        assert loaded == []  # a page is loaded when its turn comes
        writer.close()
        writer.send(b"after the end")

        assert await within(read_all(bob)) == [b"1", b"2", b"3", b"4", b"5"]


async def test_more_than_a_stream_may_queue_arrives_at_a_reader_that_is_slow() -> None:
    count = 3 * QUEUED_MAX // FRAME_MAX
    memory = []

    async def load() -> Iterable[bytes]:
        memory.append(alice.outbound_bytes)
        return [LARGE]

    async with connected() as (alice, bob), StreamWriter(alice) as writer:
        for _ in range(count):
            writer.send_page(load)
        writer.close()
        frames = await within(read_all(bob))

        assert len(frames) == count
        assert max(memory) < QUEUED_CROWDED  # the next is loaded once the last has left


async def test_who_asks_more_than_it_takes_is_not_read_and_then_ended() -> None:
    async with connected() as (alice, bob), StreamWriter(alice) as writer:
        sent = 0
        while await has_room(writer):  # as much as the two systems keep between them
            writer.send(LARGE)
            sent += 1
            assert sent < TOO_MANY
        for _ in range(sent):
            await within(bob.receive())
        await within(writer.room())
        assert not alice.closed

        for _ in range(TOO_MANY):
            writer.send(LARGE)
        assert alice.closed


async def test_who_takes_nothing_for_so_long_has_ended_the_stream() -> None:
    async def load() -> Iterable[bytes]:
        return [LARGE] * TOO_MANY

    async with connected() as (alice, _), StreamWriter(alice, stall_max=AT_ONCE) as writer:
        writer.send_page(load)
        with pytest.raises(RemoteError, match="does not take"):
            await within(writer.finished())

        with pytest.raises(RemoteError, match="does not take"):
            await within(alice.receive())


async def test_what_was_sent_leaves_before_the_stream_closes_however_slow_the_reader() -> None:
    async with connected() as (alice, bob), StreamWriter(alice) as writer:
        for _ in range(4):
            writer.send(LARGE)
        writer.close()
        assert not alice.closed

        assert await within(read_all(bob)) == [LARGE] * 4
        await within(writer.finished())
        assert alice.closed


async def test_a_page_that_cannot_be_loaded_ends_the_stream_and_says_why() -> None:
    async def load() -> Iterable[bytes]:
        raise StorageError("the disk does not answer")

    async with connected() as (alice, bob):

        async def write() -> None:
            async with StreamWriter(alice) as writer:
                writer.send_page(load)
                writer.send(b"never sent")
                assert await within(read_all(bob)) == []

        with pytest.raises(StorageError):
            await write()


async def test_an_error_of_the_block_comes_out_as_it_is() -> None:
    async with connected() as (alice, _):
        with pytest.raises(RemoteError, match="gone"):
            async with StreamWriter(alice):
                raise RemoteError("gone")


async def test_a_writer_whose_block_is_cancelled_ends_with_it() -> None:
    entered = asyncio.Event()

    async def write(stream: SecureStream) -> None:
        async with StreamWriter(stream) as writer:
            entered.set()
            await writer.finished()

    async with connected() as (alice, _):
        task = asyncio.create_task(write(alice))
        await within(entered.wait())
        task.cancel()
        await asyncio.wait((task,), timeout=PATIENCE)
        assert task.cancelled()
