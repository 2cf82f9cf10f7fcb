"""Secure streams over 127.0.0.1: what they carry, and how they end."""

import asyncio
import socket

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.errors import RemoteError
from sync.net.links.noise import Role
from sync.net.links.stream import FRAME_MAX, OUTBOUND_MAX, DisconnectedError, SecureStream
from sync.structures.codec import length_prefixed
from tests.support.sync.streams import (
    ALICE,
    AT_ONCE,
    BOB,
    HOST,
    PATIENCE,
    bob_listening,
    connected,
    dial,
    end,
    raw,
    within,
)

pytestmark = pytest.mark.net


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


async def test_an_address_where_nobody_listens_is_disconnected() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))

        with pytest.raises(DisconnectedError, match="cannot be reached: Connection refused"):
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
