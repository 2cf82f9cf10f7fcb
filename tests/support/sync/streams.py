"""Secure streams over 127.0.0.1 for tests: who dials, who answers, and who stands between."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.machine import PeerId
from sync.net.links.handshake import IdentityHandshake
from sync.net.links.noise import CipherState, Role
from sync.net.links.stream import HANDSHAKE_DEADLINE, PLAINTEXT_MAX, SecureStream
from sync.structures.codec import encode_uvarint
from tests.support.patience import PATIENCE_S

HOST = "127.0.0.1"
PATIENCE = PATIENCE_S
"""Seconds after which a test that waits for the network fails instead of hanging."""

AT_ONCE = 0.05
"""Seconds: a deadline short enough to be waited for."""

T = TypeVar("T")
Outcome = SecureStream | RemoteError
Change = Callable[[bytes], bytes]
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


def identity(number: int) -> Identity:
    return Identity.from_seed(bytes([number]) * 32, bytes([number + 100]) * 32)


ALICE, BOB, EVE = identity(1), identity(2), identity(3)


async def within(waiting: Coroutine[Any, Any, T]) -> T:
    return await asyncio.wait_for(waiting, PATIENCE)


@asynccontextmanager
async def listening(answer: Answer) -> AsyncIterator[int]:
    """A TCP server; gives its port."""
    server = await asyncio.start_server(answer, HOST, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


@dataclass
class Bob:
    """Bob, who answers every connection; how each one went is in `outcomes`."""

    deadline: float = HANDSHAKE_DEADLINE
    outcomes: asyncio.Queue[Outcome] = field(default_factory=asyncio.Queue)
    streams: list[SecureStream] = field(default_factory=list)
    port: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            stream = await SecureStream.accept(
                reader,
                writer,
                BOB,
                X25519PrivateKey.generate,
                handshake_deadline=self.deadline,
            )
        except RemoteError as error:
            self.outcomes.put_nowait(error)
            return
        self.streams.append(stream)
        self.outcomes.put_nowait(stream)

    async def stream(self) -> SecureStream:
        outcome = await within(self.outcomes.get())
        assert isinstance(outcome, SecureStream), outcome
        return outcome

    async def refusal(self) -> RemoteError:
        outcome = await within(self.outcomes.get())
        assert isinstance(outcome, RemoteError)
        return outcome


@asynccontextmanager
async def bob_listening(deadline: float = HANDSHAKE_DEADLINE) -> AsyncIterator[Bob]:
    bob = Bob(deadline)
    async with listening(bob.answer) as bob.port:
        yield bob
        for stream in bob.streams:
            await end(stream)


async def dial(
    port: int, *, expect: PeerId | None = None, deadline: float = HANDSHAKE_DEADLINE
) -> SecureStream:
    return await SecureStream.dial(
        HOST,
        port,
        ALICE,
        X25519PrivateKey.generate,
        expect=expect,
        handshake_deadline=deadline,
    )


async def end(stream: SecureStream) -> None:
    stream.close()
    await within(stream.wait_closed())


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[SecureStream, SecureStream]]:
    """Alice's end, who dialled, and Bob's."""
    async with bob_listening() as bob:
        alice = await dial(bob.port)
        try:
            yield alice, await bob.stream()
        finally:
            await end(alice)


def begin(stream: SecureStream, size: int) -> None:
    """Send all of a frame but its last byte."""
    data = (encode_uvarint(size) + bytes(size))[:-1]
    for start in range(0, len(data), PLAINTEXT_MAX):
        sealed = stream._sender.encrypt(b"", data[start : start + PLAINTEXT_MAX])
        stream._writer.write(record(sealed))


@dataclass
class Raw:
    """A bare connection, which may carry anything; after `shake_hands` also sealed records."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    sender: CipherState = field(default_factory=lambda: CipherState(bytes(32)))

    async def shake_hands(self) -> None:
        """Become Eve, whom Bob takes for an honest peer."""
        handshake = IdentityHandshake(Role.INITIATOR, EVE, X25519PrivateKey.generate())
        while not handshake.finished:
            if handshake.our_turn:
                self.writer.write(record(handshake.write_message()))
            else:
                length = int.from_bytes(await self.reader.readexactly(2), "big")
                handshake.read(await self.reader.readexactly(length))
        self.sender, _ = handshake.split()

    def sealed(self, plaintext: bytes) -> bytes:
        return record(self.sender.encrypt(b"", plaintext))


def record(message: bytes) -> bytes:
    return len(message).to_bytes(2, "big") + message


@asynccontextmanager
async def raw(port: int) -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def wire(port: int, *, change: Change = bytes) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Somebody on the way to `port`, who sees everything and may change what the dialler sends."""
    seen: list[bytes] = []
    copies: list[asyncio.Task[None]] = []

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter, how: Change) -> None:
        while data := await source.read(1 << 16):
            seen.append(data)
            target.write(how(data))
        target.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward_writer = await asyncio.open_connection(HOST, port)
        copies.append(asyncio.ensure_future(copy(reader, onward_writer, change)))
        copies.append(asyncio.ensure_future(copy(onward_reader, writer, bytes)))

    async with listening(relay) as own_port:
        yield own_port, seen
        await asyncio.gather(*copies, return_exceptions=True)


async def drained(reader: asyncio.StreamReader) -> bool:
    """Return whether the connection ends, by whatever means."""
    try:
        while await reader.read(1 << 16):
            pass
    except ConnectionError:
        return True
    return reader.at_eof()
