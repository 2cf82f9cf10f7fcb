"""A writer waits for links that take what is sent, and for nobody who never reads."""

import asyncio

import pytest

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


async def test_a_link_that_is_gone_keeps_nobody() -> None:
    async with connected() as (alice, _):
        crowd(alice)
        writer = asyncio.create_task(OutboundRoom(NEVER).wait([alice]))
        await asyncio.sleep(0)

        alice.abort("gone")

        async with asyncio.timeout(PATIENCE):
            await writer
