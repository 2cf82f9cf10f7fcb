"""Secure streams over 127.0.0.1: how they end if the other end is hostile."""

import asyncio
from typing import Literal

import pytest

from sync.errors import RemoteError
from sync.net.links.stream import FRAME_MAX, HANDSHAKE_MESSAGE_MAX
from sync.structures.codec import encode_uvarint, length_prefixed
from tests.support.sync.streams import (
    ALICE,
    AT_ONCE,
    BOB,
    EVE,
    bob_listening,
    dial,
    drained,
    end,
    listening,
    raw,
    record,
    wire,
    within,
)

pytestmark = pytest.mark.net


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


@pytest.mark.parametrize("size", [15, 16])
async def test_a_record_with_no_more_than_a_tag_is_refused(size: int) -> None:
    """Nobody sends empty ones, and each would be decrypted for a stranger who has no frame yet."""
    async with bob_listening() as bob, raw(bob.port) as eve:
        await eve.shake_hands()
        stream = await bob.stream()

        eve.writer.write(record(bytes(size)))

        with pytest.raises(RemoteError, match=f"a record of {size} bytes"):
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


async def dribble(writer: asyncio.StreamWriter) -> None:
    """Begin a handshake, and go on with it a byte at a time, each well within the deadline."""
    for byte in HANDSHAKE_MESSAGE_MAX.to_bytes(2, "big") + bytes(HANDSHAKE_MESSAGE_MAX - 1):
        writer.write(bytes([byte]))
        await asyncio.sleep(AT_ONCE / 10)


async def test_a_stranger_who_dribbles_is_dropped_at_the_deadline() -> None:
    async with bob_listening(deadline=AT_ONCE) as bob, raw(bob.port) as stranger:
        dribbling = asyncio.create_task(dribble(stranger.writer))

        assert "longer than" in str(await bob.refusal())
        assert not dribbling.done(), "it had more to say"
        dribbling.cancel()
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
