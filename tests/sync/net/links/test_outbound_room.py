"""A writer waits for links that take what is sent, and for nobody who never reads."""

import asyncio

import pytest

from sync.machine import PeerId
from sync.net.links.outbound_room import CROWDED, OutboundRoom
from sync.net.links.stream import FRAME_MAX, SecureStream
from tests.support.sync.streams import PATIENCE, connected, within

pytestmark = pytest.mark.net

NEVER = 1e6
"""Seconds of a patience that does not end in a test."""


def crowd(stream: SecureStream) -> int:
    """Send until the system takes no more for now; returns how many frames."""
    sent = 0
    while stream.outbound_bytes <= CROWDED:
        stream.send(bytes(FRAME_MAX))
        sent += 1
    return sent


async def test_a_writer_goes_on_once_the_peer_has_read() -> None:
    async with connected() as (alice, bob):
        sent = crowd(alice)
        writer = asyncio.create_task(OutboundRoom(NEVER).wait([alice]))
        await asyncio.sleep(0)
        assert not writer.done()

        for _ in range(sent):
            assert await within(bob.receive()) is not None
        async with asyncio.timeout(PATIENCE):
            await writer

        assert alice.outbound_bytes <= CROWDED


async def test_a_peer_that_does_not_read_keeps_a_writer_once() -> None:
    room = OutboundRoom(patience=0)
    async with connected() as (alice, bob):
        sent = crowd(alice)

        await within(room.wait([alice]))
        room._patience = NEVER
        await within(room.wait([alice]))

        for _ in range(sent):
            assert await within(bob.receive()) is not None
        await within(alice.drain())
        await within(room.wait([alice]))
        crowd(alice)
        again = asyncio.create_task(room.wait([alice]))
        await asyncio.sleep(0)
        assert not again.done(), "who has read is waited for again"
        again.cancel()


async def waits_for(room: OutboundRoom, stream: SecureStream) -> bool:
    """Return whether a writer waits for a stream, on which much is queued then."""
    crowd(stream)
    writer = asyncio.create_task(room.wait([stream]))
    await asyncio.sleep(0)
    waits = not writer.done()
    writer.cancel()
    return waits


async def test_who_comes_back_with_another_link_has_used_up_the_patience_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    room = OutboundRoom(patience=0)
    async with connected() as (first, _), connected() as (second, _):
        crowd(first)
        await within(room.wait([first]))
        room._patience = NEVER
        first.abort()
        await within(room.wait([first]))

        assert not await waits_for(room, second)
    monkeypatch.setattr("sync.net.links.outbound_room.REMEMBERED", -1.0)
    room = OutboundRoom(patience=0)
    async with connected() as (first, _), connected() as (second, _):
        crowd(first)
        await within(room.wait([first]))
        room._patience = NEVER

        assert await waits_for(room, second), "after a while it is waited for again"


@pytest.mark.parametrize("guests", [True, False])
async def test_guests_of_open_channels_have_one_patience_an_address(*, guests: bool) -> None:
    room = OutboundRoom(patience=0, is_guest=lambda _: guests)
    async with connected() as (one, _), connected() as (another, _):
        another.peer = PeerId("e0" * 32)
        crowd(one)
        await within(room.wait([one]))
        room._patience = NEVER

        assert await waits_for(room, another) is not guests


async def test_a_link_that_is_gone_keeps_nobody() -> None:
    async with connected() as (alice, _):
        crowd(alice)
        writer = asyncio.create_task(OutboundRoom(NEVER).wait([alice]))
        await asyncio.sleep(0)

        alice.abort("gone")

        async with asyncio.timeout(PATIENCE):
            await writer
