"""The one writer of a session's stream: payloads and pages leave in order, as the peer takes them.

Rules:
1. Payloads and pages leave in the order given; a page is loaded when its turn comes, not before.
2. The next is written once the system has taken most of the last: memory holds one of them.
3. Whoever takes nothing for `STALL_MAX` has ended the stream.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Final, Self, TypeAlias

from sync.errors import ChatError, RemoteError
from sync.machine import PeerId
from sync.net.links.stream import SecureStream

STALL_MAX: Final = 30.0
"""Seconds without progress after which a stream is given up: as long as the receiving machine
waits."""

WRITE_BYTES: Final = 256 * 1024
"""Bytes written between two looks at whether the peer takes them, or one frame."""

QUEUED_CROWDED: Final = 1024 * 1024
"""Bytes of payloads that wait for their turn, beyond which the peer is not read: one of the
largest. An honest peer sends its next payload once it has some of our answer."""

QUEUED_MAX: Final = 8 * 1024 * 1024
"""The same at which the stream ends: room for the answers to all that was read of a peer before it
was not read any more (`sync.runner.input_queue.PAYLOADS_MAX`). One answer has 4 MiB at most
(`sync.waku.turn`), and no more than that is made of the next before the peer is not read."""

Page: TypeAlias = Callable[[], Awaitable[Iterable[bytes]]]
"""Loads the frames of a page, which are made as they are written."""


class StreamWriter:
    """See the module docstring; writes while it is entered (`async with`)."""

    def __init__(self, stream: SecureStream, stall_max: float = STALL_MAX) -> None:
        self._stream = stream
        self._stall_max = stall_max
        self._queue: deque[bytes | Page] = deque()
        self._queued_bytes = 0
        self._closing = False
        self._news = asyncio.Event()
        """Something was given, or the end was asked for."""
        self._room = asyncio.Event()
        """Less waits than may."""
        self._room.set()
        self._tasks = asyncio.TaskGroup()
        self._writing: asyncio.Task[None] | None = None
        self._failure: ChatError | OSError | None = None

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._writing = self._tasks.create_task(self._write_all(), name="a stream's writer")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop writing: whoever read the stream has seen its end, or gives it up.

        An error of the block comes out as it is, not in a group of one.

        Raises:
            ChatError: a page could not be loaded.
        """
        assert self._writing is not None
        self._writing.cancel()
        if isinstance(error, asyncio.CancelledError):  # the group knows whether it was the cause
            await self._tasks.__aexit__(kind, error, traceback)
        else:
            await self._tasks.__aexit__(None, None, None)
        if error is None and not isinstance(self._failure, RemoteError | None):
            raise self._failure

    @property
    def stream(self) -> SecureStream:
        """The stream that is written to."""
        return self._stream

    @property
    def peer(self) -> PeerId:
        """Peer at the other end."""
        return self._stream.peer

    def send(self, payload: bytes) -> None:
        """Queue a payload; without effect once the end was asked for.

        Where more than `QUEUED_MAX` would wait the stream ends instead.
        """
        if self._closing or self._stream.closed:
            return
        if self._queued_bytes + len(payload) > QUEUED_MAX:
            self._stream.abort("asks for more than it takes")
            return
        self._queue.append(payload)
        self._queued_bytes += len(payload)
        if self._queued_bytes > QUEUED_CROWDED:
            self._room.clear()
        self._news.set()

    def send_page(self, page: Page) -> None:
        """Queue a page behind what was given before."""
        if not self._closing:
            self._queue.append(page)
            self._news.set()

    def close(self) -> None:
        """Close the stream once all that was given has left."""
        self._closing = True
        self._news.set()

    async def room(self) -> None:
        """Return when the peer has taken enough of what was sent for us to go on reading it."""
        await self._room.wait()

    async def finished(self) -> None:
        """Wait until all that was given has left, after `close`.

        Raises:
            RemoteError: the stream has failed.
            ChatError: a page could not be loaded.
        """
        assert self._writing is not None
        await asyncio.wait((self._writing,))
        if self._failure is not None:
            raise self._failure

    async def _write_all(self) -> None:
        try:
            while (item := await self._next()) is not None:
                await self._write([item] if isinstance(item, bytes) else await item())
            await self._in_time(self._stream.flushed)  # who is slow must not be cut off at the end
        except (ChatError, OSError) as error:
            self._failure = error
        finally:
            self._room.set()
            self._stream.close()

    async def _next(self) -> bytes | Page | None:
        """Return what is to be written next; None once the end was asked for and all is written."""
        while not self._queue:
            if self._closing:
                return None
            self._news.clear()
            await self._news.wait()
        item = self._queue.popleft()
        if isinstance(item, bytes):
            self._queued_bytes -= len(item)
            if self._queued_bytes <= QUEUED_CROWDED:
                self._room.set()
        return item

    async def _write(self, frames: Iterable[bytes]) -> None:
        """Write frames, no faster than the peer takes them."""
        batch: list[bytes] = []
        size = 0
        for frame in frames:
            batch.append(frame)
            size += len(frame)
            if size >= WRITE_BYTES:
                self._stream.send_batch(batch)
                batch, size = [], 0
                await self._in_time(self._stream.drain)
        self._stream.send_batch(batch)
        await self._in_time(self._stream.drain)

    async def _in_time(self, wait: Callable[[], Awaitable[None]]) -> None:
        """Wait until the peer has taken what is written, as long as it takes anything of it.

        Raises:
            RemoteError: it takes nothing any more, or the stream has failed.
        """
        while True:
            before = self._stream.outbound_bytes
            try:
                async with asyncio.timeout(self._stall_max):
                    await wait()
            except TimeoutError:
                if self._stream.outbound_bytes < before:
                    continue
                self._stream.abort("does not take what is sent to it")
                raise RemoteError("the peer does not take what is sent to it") from None
            else:
                return
