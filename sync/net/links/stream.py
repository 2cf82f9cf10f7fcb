"""One connection to one peer: TCP below, Noise around it, whole frames above.

On the wire: records, each two bytes of length (big-endian) and one Noise message. Inside, once the
handshake is over: one stream of libp2p frames, each an unsigned varint of its length and its bytes;
a frame may span records and a record may hold many frames.

Rules:
1. No frame leaves before the other end has proved who it is.
2. Reading is limited before anything is stored; the queue is limited in bytes.
3. After any error the connection is gone: `receive` and `drain` say why, `send` does nothing more.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.machine import SECOND, Nanos, PeerId
from sync.net.links.handshake import IdentityHandshake
from sync.net.links.noise import MESSAGE_MAX, TAG_SIZE, Role
from sync.structures.codec import FrameAssembler, length_prefixed
from sync.structures.link_trips import grown

CONNECT_TIMEOUT: Final = 3.0
"""Seconds until a silent address is given up; on one LAN an answer takes milliseconds."""

HANDSHAKE_DEADLINE: Final = 5.0
"""Seconds for the whole handshake, which takes milliseconds; a stranger holds a place no longer."""

HANDSHAKE_MESSAGE_MAX: Final = 1024
"""Bytes of a handshake message; ours have at most 200, the rest is room for extensions.

A stranger gets no more memory than this from us.
"""

FRAME_MAX: Final = 1024 * 1024
"""Bytes of one frame: sixteen times the largest message, and what one peer can make us hold."""

OUTBOUND_MAX: Final = 8 * 1024 * 1024
"""Bytes queued for a peer that does not read.

Eight of the largest frames; a chat of 50 messages of 2 kB a second fills it in 80 s, long after the
pings have found the peer dead. Reconciliation later brings what is dropped here.
"""

READ_SIZE: Final = 64 * 1024
"""Bytes read at a time: as large as a record."""

READ_AHEAD: Final = 8 * 1024
"""Bytes that asyncio reads for us while we do something else: it stops once there are twice as
many, so a link that is not read for now holds `READ_SIZE` and that."""

CLOSE_LINGER: Final = 2.0
"""Seconds that a closed connection may still take to get rid of what is queued."""

LENGTH_MAX: Final = 10
"""Bytes of the length in front of a frame, at most."""

LENGTH_SIZE: Final = 2
"""Bytes of the length in front of a record."""

PLAINTEXT_MAX: Final = MESSAGE_MAX - TAG_SIZE
"""Bytes of plaintext in one record."""


def patience(seconds: float, trip: Nanos) -> float:
    """Return how many seconds to wait on a link of that step; see `sync.structures.link_trips`."""
    return grown(round(seconds * SECOND), trip) / SECOND


class DisconnectedError(RemoteError):
    """The peer, or the network on the way to it, is gone; nobody misbehaved."""


class SecureStream:
    """See the module docstring; made by `dial` and `accept`.

    Attributes:
        peer: who is at the other end, proved.
        role: our end; the initiator is who dialled.
        handshake_hash: names this connection alike at both ends, 32 bytes.
        remote_noise_static: the peer's Noise key, 32 bytes.
        remote_address: host and port of the other end.
        bytes_in: received since the handshake.
        bytes_out: sent or queued since the handshake.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        handshake: IdentityHandshake,
    ) -> None:
        self.peer: PeerId = handshake.peer
        self.role: Role = handshake.role
        self.handshake_hash: bytes = handshake.handshake_hash
        self.remote_noise_static: bytes = handshake.remote_static
        self.remote_address: tuple[str, int] = _remote_address(writer)
        self.bytes_in = 0
        self.bytes_out = 0
        self._reader = reader
        self._writer = writer
        self._sender, self._receiver = handshake.split()
        self._sealed = bytearray()
        self._assembler = FrameAssembler(FRAME_MAX)
        self._pending_max = FRAME_MAX
        self._frames: deque[bytes] = deque()
        self._failure: Callable[[], RemoteError] | None = None
        """Makes the error anew each time: one that was raised leads back to this stream."""
        self._tell_held: Callable[[SecureStream, int], None] | None = None
        self._held = 0

    @classmethod
    async def dial(  # noqa: PLR0913 - who, where from and for how long are the caller's to say
        cls,
        host: str,
        port: int,
        identity: Identity,
        draw_key: Callable[[], X25519PrivateKey],
        *,
        local_address: str | None = None,
        expect: PeerId | None = None,
        connect_timeout: float = CONNECT_TIMEOUT,
        handshake_deadline: float = HANDSHAKE_DEADLINE,
    ) -> Self:
        """Connect to `host`.

        Args:
            host: name or address.
            port: TCP port.
            identity: who we are.
            draw_key: draws the ephemeral key from the system's generator.
            local_address: the address to dial from; None lets the system choose.
            expect: refuse any other peer than this.
            connect_timeout: seconds until TCP is connected.
            handshake_deadline: seconds until the handshake is over.

        Raises:
            DisconnectedError: nobody answers there.
            RemoteError: who answers does not speak our protocol, is ourselves or is not `expect`.
        """
        local = (local_address, 0) if local_address else None
        try:
            async with asyncio.timeout(connect_timeout):
                reader, writer = await asyncio.open_connection(
                    host, port, local_addr=local, limit=READ_AHEAD
                )
        except TimeoutError:
            raise DisconnectedError(f"{host}:{port} does not answer") from None
        except (OSError, UnicodeError) as error:
            raise DisconnectedError(f"{host}:{port} cannot be reached: {_why(error)}") from error
        read_little(writer.transport)
        handshake = IdentityHandshake(Role.INITIATOR, identity, draw_key(), expect=expect)
        await _shake_hands(reader, writer, handshake, handshake_deadline)
        return cls(reader, writer, handshake)

    @classmethod
    async def accept(
        cls,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        identity: Identity,
        draw_key: Callable[[], X25519PrivateKey],
        *,
        handshake_deadline: float = HANDSHAKE_DEADLINE,
    ) -> Self:
        """Answer somebody who connected to us; on any error the connection is closed.

        Raises:
            RemoteError: the other end is too slow, does not speak our protocol or is ourselves.
        """
        handshake = IdentityHandshake(Role.RESPONDER, identity, draw_key())
        await _shake_hands(reader, writer, handshake, handshake_deadline)
        return cls(reader, writer, handshake)

    @property
    def closed(self) -> bool:
        """True if nothing can be sent any more."""
        return self._writer.is_closing()

    def limit_frames(self, limit: int, *, pending: int | None = None) -> None:
        """Take smaller frames only from now on: of at most `limit` bytes.

        Of a frame that is not complete no more than `pending` bytes are kept, where given, once
        whoever reads has had a look at all that came before it.
        """
        self._assembler.limit = limit
        self._pending_max = limit if pending is None else pending

    def tell_held(self, tell: "Callable[[SecureStream, int], None] | None") -> None:
        """Have `tell` hear how many bytes are held that came and were not taken, as that changes.

        A batch is taken when the next one is asked for.
        """
        self._tell_held, self._held = tell, 0
        self._hold(0)

    @property
    def outbound_bytes(self) -> int:
        """Bytes that the system has not taken from us yet."""
        return self._writer.transport.get_write_buffer_size()

    def send(self, frame: bytes) -> None:
        """Queue one frame; see `send_batch`."""
        self.send_batch((frame,))

    def send_batch(self, frames: Sequence[bytes]) -> None:
        """Queue frames, in as few records as they fit in; returns at once.

        Without effect on a closed connection. If the peer reads so slowly that more than
        `OUTBOUND_MAX` bytes would be queued, the connection is closed instead.
        """
        if self.closed:
            return
        assert all(len(frame) <= FRAME_MAX for frame in frames), "a frame is over FRAME_MAX"
        plaintext = b"".join(map(length_prefixed, frames))
        if self.outbound_bytes + len(plaintext) > OUTBOUND_MAX:
            self._fail(DisconnectedError(f"peer {self.peer} does not take what is sent to it"))
            return
        records = b"".join(
            _record(self._sender.encrypt(b"", plaintext[start : start + PLAINTEXT_MAX]))
            for start in range(0, len(plaintext), PLAINTEXT_MAX)
        )
        self.bytes_out += len(records)
        self._writer.write(records)

    async def drain(self) -> None:
        """Wait until little is queued; who sends much awaits this in between.

        Raises:
            RemoteError: the connection has failed.
        """
        try:
            await self._writer.drain()
        except OSError as error:
            if self._failure is not None:
                raise self._failure() from error
            raise DisconnectedError(f"the link to {self.peer} broke") from error

    async def flushed(self) -> None:
        """Wait until the system has taken everything; who closes after sending much awaits this.

        Raises:
            RemoteError: the connection has failed.
        """
        self._writer.transport.set_write_buffer_limits(high=0)
        await self.drain()

    async def receive(self) -> bytes | None:
        """The next frame, or None when the peer has closed the connection in order.

        Raises:
            DisconnectedError: the connection broke.
            RemoteError: the peer sent what it must not send; the connection is closed.
        """
        if not self._frames:
            self._frames.extend(await self.receive_batch())
        return self._frames.popleft() if self._frames else None

    async def receive_batch(self) -> list[bytes]:
        """All frames that have arrived, at least one; empty when the peer has closed in order.

        Raises:
            DisconnectedError: the connection broke.
            RemoteError: the peer sent what it must not send; the connection is closed.
        """
        while not self._frames:
            self._hold(0)
            data = await self._read()
            if not data:
                return []
            try:
                self._frames.extend(self._open(data))
                if not self._frames and self._assembler.pending > self._pending_max + LENGTH_MAX:
                    raise RemoteError(f"over {self._pending_max} bytes of one frame")  # noqa: TRY301
            except RemoteError as error:
                self._fail(error)
                raise
        frames = list(self._frames)
        self._hold(sum(map(len, frames)))
        self._frames.clear()
        return frames

    def close(self) -> None:
        """Close once what is queued is sent, or after `CLOSE_LINGER`."""
        if not self.closed:
            self._writer.close()
            asyncio.get_running_loop().call_later(CLOSE_LINGER, self._writer.transport.abort)

    def abort(self, why: str = "was silent for too long") -> None:
        """Close at once; what is queued is lost. `receive` then says that the link broke."""
        self._fail(DisconnectedError(f"the link to {self.peer} {why}"))

    async def wait_closed(self) -> None:
        """Wait until the connection is gone, after `close` or an error."""
        try:
            await self._writer.wait_closed()
        except OSError:
            return  # How it ended no longer matters.

    async def _read(self) -> bytes:
        """Return the bytes that arrived; none at an orderly end, by the peer or by us."""
        try:
            data = await self._reader.read(READ_SIZE)
        except OSError as error:
            broken = DisconnectedError(f"the link to {self.peer} broke: {error}")
            self._fail(broken)
            raise broken from error
        if self._failure is not None:
            raise self._failure()
        if not data and not self.closed and (self._sealed or self._assembler.pending):
            cut = RemoteError(f"peer {self.peer} closed the link in the middle of a message")
            self._fail(cut)
            raise cut
        self.bytes_in += len(data)
        return data

    def _open(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes."""
        self._sealed += data
        plaintexts = []
        start = 0
        while len(self._sealed) >= start + LENGTH_SIZE:
            body = start + LENGTH_SIZE
            length = int.from_bytes(self._sealed[start:body], "big")
            if length <= TAG_SIZE:  # nobody sends empty ones, of which a read holds thousands
                raise RemoteError(f"a record of {length} bytes has nothing behind its tag")
            if len(self._sealed) < body + length:
                break
            start = body + length
            plaintexts.append(self._receiver.decrypt(b"", bytes(self._sealed[body:start])))
        del self._sealed[:start]
        return self._assembler.feed(b"".join(plaintexts))

    def _hold(self, taken: int) -> None:
        """Tell how much is held, besides what was given out."""
        held = len(self._sealed) + self._assembler.pending + taken
        if held != self._held and self._tell_held is not None and self._failure is None:
            self._held = held
            self._tell_held(self, held)

    def _fail(self, failure: RemoteError) -> None:
        """End the connection, and let go of what is held at once."""
        self._writer.transport.abort()
        if self._failure is not None:
            return
        self._sealed.clear()
        self._assembler.clear()
        self._hold(0)
        self._failure = partial(type(failure), str(failure))


def read_little(transport: asyncio.BaseTransport) -> None:
    """Have a connection take no more than `READ_SIZE` from the system at a time.

    asyncio takes up to 256 kB, however little of it we want; of 256 links that are not read for now
    that is 64 MB. A transport that has no such attribute stays as it is.
    """
    if hasattr(transport, "max_size"):
        transport.max_size = READ_SIZE


async def _shake_hands(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    handshake: IdentityHandshake,
    deadline: float,
) -> None:
    """Finish `handshake` within `deadline` seconds, or the connection is gone."""
    try:
        async with asyncio.timeout(deadline):
            while not handshake.finished:
                if handshake.our_turn:
                    writer.write(_record(handshake.write_message()))
                else:
                    handshake.read(await _read_handshake_message(reader))
    except TimeoutError:
        raise RemoteError(f"the handshake took longer than {deadline} s") from None
    except asyncio.IncompleteReadError:
        raise RemoteError("the other end closed during the handshake") from None
    except OSError as error:
        raise DisconnectedError(f"the connection broke in the handshake: {error}") from error
    finally:
        if not handshake.finished:
            writer.transport.abort()


async def _read_handshake_message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(LENGTH_SIZE), "big")
    if length > HANDSHAKE_MESSAGE_MAX:
        raise RemoteError(f"a handshake message announces {length} bytes")
    return await reader.readexactly(length)


def _record(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH_SIZE, "big") + message


def _remote_address(writer: asyncio.StreamWriter) -> tuple[str, int]:
    name = writer.get_extra_info("peername")
    return (name[0], name[1]) if name else ("", 0)


def _why(error: OSError | UnicodeError) -> str:
    """Return why dialling failed, in the system's words without its numbers and addresses."""
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error)  # names that nobody knows are below 0
