"""Secure streams over 127.0.0.1: what they carry, and how they end if the other end is hostile."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.codec import encode_uvarint, length_prefixed
from sync.errors import RemoteError
from sync.identity import Identity
from sync.machine import PeerId
from sync.net.handshake import IdentityHandshake
from sync.net.noise import CipherState, Role
from sync.net.stream import (
    FRAME_MAX,
    HANDSHAKE_DEADLINE,
    HANDSHAKE_MESSAGE_MAX,
    OUTBOUND_MAX,
    DisconnectedError,
    SecureStream,
)

pytestmark = pytest.mark.net

HOST = "127.0.0.1"
PATIENCE = 20.0
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
    """Who answers every connection; how each one went is in `outcomes`."""

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
                self.writer.write(record(handshake.write()))
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


async def test_both_ends_know_each_other_and_their_session() -> None:
    async with connected() as (alice, bob):
        assert (alice.peer, bob.peer) == (BOB.peer_id, ALICE.peer_id)
        assert (alice.role, bob.role) == (Role.INITIATOR, Role.RESPONDER)
        assert alice.handshake_hash == bob.handshake_hash
        assert alice.remote_noise_static == BOB.noise_public
        assert bob.remote_address[0] == HOST


async def test_frames_arrive_whole_and_in_order_both_ways() -> None:
    frames = [b"", b"one", bytes(range(256)) * 1000, b"x" * FRAME_MAX, b"last"]
    async with connected() as (alice, bob):
        for frame in frames:
            alice.send(frame)
        bob.send(b"answer")

        received = [await within(bob.receive()) for _ in frames]
        answer = await within(alice.receive())

    assert received == frames
    assert answer == b"answer"


async def test_a_batch_of_small_frames_travels_in_few_records() -> None:
    frames = [number.to_bytes(2, "big") * 50 for number in range(3000)]
    async with connected() as (alice, bob):
        alice.send_batch(frames)

        received: list[bytes] = []
        batches = 0
        while len(received) < len(frames):
            received += await within(bob.receive_batch())
            batches += 1

        plain = sum(len(length_prefixed(frame)) for frame in frames)
        records = -(-plain // (65_535 - 16))
        assert received == frames
        assert alice.bytes_out == plain + records * 18 == bob.bytes_in
        assert batches < 100


async def test_small_frames_are_not_held_back_by_the_system() -> None:
    async with connected() as (alice, bob):
        for stream in (alice, bob):
            raw_socket = stream._writer.get_extra_info("socket")
            assert raw_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_an_orderly_end_is_none_after_everything_sent() -> None:
    async with connected() as (alice, bob):
        alice.send(b"bye")
        alice.close()

        assert await within(bob.receive()) == b"bye"
        assert await within(bob.receive()) is None
        assert await within(bob.receive_batch()) == []


async def test_our_own_close_ends_our_own_receiving() -> None:
    async with connected() as (alice, _):
        receiving = asyncio.ensure_future(alice.receive())
        alice.close()

        assert await asyncio.wait_for(receiving, PATIENCE) is None
        alice.send(b"too late")
        assert alice.bytes_out == 0


async def test_our_own_close_is_orderly_even_with_half_a_message_in_hand() -> None:
    async with bob_listening() as bob, raw(bob.port) as eve:
        await eve.shake_hands()
        stream = await bob.stream()
        eve.writer.write(eve.sealed(length_prefixed(b"whole") + length_prefixed(b"half")[:-1]))
        assert await within(stream.receive()) == b"whole"

        stream.close()

        assert await within(stream.receive()) is None


async def test_nothing_readable_is_on_the_wire() -> None:
    secret = b"the treasure is under the old oak"
    async with bob_listening() as bob, wire(bob.port) as (port, seen):
        alice = await dial(port)
        answers = await bob.stream()
        alice.send(secret)
        answers.send(secret)
        assert await within(answers.receive()) == secret
        assert await within(alice.receive()) == secret
        await end(alice)
        await end(answers)

    everything = b"".join(seen)
    assert len(everything) > 2 * len(secret)
    for hidden in (secret, bytes.fromhex(ALICE.peer_id), ALICE.peer_id.encode()):
        assert hidden not in everything


@pytest.mark.parametrize("position", [0, 1, 2, 20, -1])
async def test_a_byte_changed_on_the_way_ends_the_link(position: int) -> None:
    armed = False

    def change(data: bytes) -> bytes:
        changed = bytearray(data)
        changed[position] ^= int(armed)
        return bytes(changed)

    async with bob_listening() as bob, wire(bob.port, change=change) as (port, _):
        alice = await dial(port)
        stream = await bob.stream()
        armed = True
        alice.send(b"meet me at eight" * 20)
        alice.send(b"meet me at eight" * 20)
        alice.close()

        with pytest.raises(RemoteError):
            await within(stream.receive())

        assert stream.closed


async def test_a_replayed_record_ends_the_link() -> None:
    async with bob_listening() as bob, raw(bob.port) as eve:
        await eve.shake_hands()
        stream = await bob.stream()
        recorded = eve.sealed(length_prefixed(b"pay 5"))
        eve.writer.write(recorded)
        assert await within(stream.receive()) == b"pay 5"

        eve.writer.write(recorded)

        with pytest.raises(RemoteError, match="authentication"):
            await within(stream.receive())
        assert stream.closed


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\n\r\n", bytes(200), b"\x00\x20" + bytes(32)]
)
async def test_garbage_instead_of_a_handshake_is_refused_and_bob_goes_on(garbage: bytes) -> None:
    async with bob_listening() as bob:
        async with raw(bob.port) as stranger:
            stranger.writer.write(garbage)
            stranger.writer.write_eof()
            await bob.refusal()
            assert await within(drained(stranger.reader))

        alice = await dial(bob.port, expect=BOB.peer_id)
        alice.send(b"still there?")

        assert await within((await bob.stream()).receive()) == b"still there?"
        await end(alice)


async def drained(reader: asyncio.StreamReader) -> bool:
    """Whether the connection ends, by whatever means."""
    try:
        while await reader.read(1 << 16):
            pass
    except ConnectionError:
        return True
    return reader.at_eof()


async def test_garbage_after_the_handshake_ends_that_link_only() -> None:
    async with bob_listening() as bob, raw(bob.port) as eve:
        alice = await dial(bob.port)
        with_alice = await bob.stream()
        await eve.shake_hands()
        with_eve = await bob.stream()

        eve.writer.write(record(bytes(64)))
        with pytest.raises(RemoteError, match="authentication"):
            await within(with_eve.receive())
        alice.send(b"hello")

        assert await within(with_alice.receive()) == b"hello"
        assert with_eve.closed
        await end(alice)


async def test_a_handshake_message_over_the_limit_is_refused_by_its_length() -> None:
    async with bob_listening() as bob, raw(bob.port) as stranger:
        stranger.writer.write((HANDSHAKE_MESSAGE_MAX + 1).to_bytes(2, "big"))

        assert "announces 1025 bytes" in str(await bob.refusal())


@pytest.mark.parametrize("length", [FRAME_MAX + 1, 2**40, 2**64])
async def test_a_giant_frame_is_refused_by_its_length(length: int) -> None:
    prefix = encode_uvarint(length) if length < 2**64 else b"\xff" * 11
    async with bob_listening() as bob, raw(bob.port) as eve:
        await eve.shake_hands()
        stream = await bob.stream()

        eve.writer.write(eve.sealed(prefix))

        with pytest.raises(RemoteError):
            await within(stream.receive())
        assert stream.closed


async def test_a_record_too_short_for_its_tag_is_refused() -> None:
    async with bob_listening() as bob, raw(bob.port) as eve:
        await eve.shake_hands()
        stream = await bob.stream()

        eve.writer.write(record(bytes(15)))

        with pytest.raises(RemoteError, match="15 bytes"):
            await within(stream.receive())


@pytest.mark.parametrize("cut", ["length", "record", "frame"])
async def test_a_link_cut_in_the_middle_of_a_message_is_no_orderly_end(
    cut: Literal["length", "record", "frame"],
) -> None:
    async with bob_listening() as bob, raw(bob.port) as eve:
        await eve.shake_hands()
        stream = await bob.stream()
        whole = length_prefixed(b"half a message")
        match cut:
            case "length":
                eve.writer.write(b"\x00")
            case "record":
                eve.writer.write(eve.sealed(whole)[:-1])
            case "frame":
                eve.writer.write(eve.sealed(whole[:-1]))
        eve.writer.write_eof()

        with pytest.raises(RemoteError, match="middle of a message"):
            await within(stream.receive())


async def test_a_stranger_who_dribbles_is_dropped_at_the_deadline() -> None:
    async with bob_listening(deadline=AT_ONCE) as bob, raw(bob.port) as stranger:
        stranger.writer.write(b"\x00")

        assert "longer than" in str(await bob.refusal())
        assert await within(drained(stranger.reader))


async def test_a_server_that_says_nothing_is_given_up_at_the_deadline() -> None:
    async def listen_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await drained(reader)
        writer.close()

    async with listening(listen_only) as port:
        with pytest.raises(RemoteError, match="longer than"):
            await within(dial(port, deadline=AT_ONCE))


async def test_another_peer_than_expected_is_refused() -> None:
    async with bob_listening() as bob:
        with pytest.raises(RemoteError, match=f"not to {EVE.peer_id}"):
            await within(dial(bob.port, expect=EVE.peer_id))

        await bob.refusal()


async def test_an_address_where_nobody_listens_is_disconnected() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))

        with pytest.raises(DisconnectedError, match="cannot be reached"):
            await within(dial(taken.getsockname()[1]))


async def test_an_address_that_never_answers_is_given_up() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind((HOST, 0))
        full.listen(0)
        for caller in (first, second):  # The system now drops whoever else knocks.
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())

        with pytest.raises(DisconnectedError, match="does not answer"):
            await SecureStream.dial(
                HOST,
                full.getsockname()[1],
                ALICE,
                X25519PrivateKey.generate,
                connect_timeout=AT_ONCE,
            )


async def test_the_dialler_chooses_the_address_it_dials_from() -> None:
    async with bob_listening() as bob:
        alice = await SecureStream.dial(
            HOST, bob.port, ALICE, X25519PrivateKey.generate, local_address="127.0.0.2"
        )

        assert (await bob.stream()).remote_address[0] == "127.0.0.2"
        await end(alice)


async def test_a_peer_that_does_not_read_loses_its_link() -> None:
    async with connected() as (alice, _):
        sent = 0
        while not alice.closed:
            alice.send(bytes(FRAME_MAX))
            sent += FRAME_MAX
            assert sent < 20 * OUTBOUND_MAX
            assert alice.outbound_bytes <= OUTBOUND_MAX + FRAME_MAX

        with pytest.raises(DisconnectedError, match="does not take"):
            await within(alice.receive())
        with pytest.raises(RemoteError, match="does not take"):
            await within(alice.drain())


async def test_who_drains_may_send_any_amount() -> None:
    frames = 3 * OUTBOUND_MAX // FRAME_MAX
    async with connected() as (alice, bob):

        async def send_all() -> None:
            for _ in range(frames):
                alice.send(bytes(FRAME_MAX))
                await alice.drain()

        sending = asyncio.ensure_future(send_all())
        received = [await within(bob.receive()) for _ in range(frames)]
        await sending

        assert received == [bytes(FRAME_MAX)] * frames


async def test_a_peer_that_vanishes_is_disconnected() -> None:
    async with connected() as (alice, bob):
        alice._writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00"
        )
        alice._writer.transport.abort()

        with pytest.raises(DisconnectedError, match="broke"):
            await within(bob.receive())
