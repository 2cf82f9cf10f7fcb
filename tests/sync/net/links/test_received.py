"""One budget for the bytes that streams received; peers that left keep none of it."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.errors import RemoteError
from sync.machine import PeerId
from sync.net.links.received import Received
from sync.net.links.stream import READ_AHEAD, READ_SIZE, SecureStream
from sync.structures.places import Standing
from tests.support.sync.streams import (
    ALICE,
    HOST,
    PATIENCE,
    Bob,
    Raw,
    begin,
    bob_listening,
    connected,
    end,
    identity,
    record,
    within,
)

pytestmark = pytest.mark.net

BUDGET = 1_000_000
HALF = 100_000


def standing(peer: PeerId) -> Standing:
    """Alice is somebody whom the person knows; all others are anybody."""
    return Standing.VERIFIED if peer == ALICE.peer_id else Standing.OPEN


class Crowd:
    """People linked with Bob, who reads them all and counts what they make him hold."""

    def __init__(self, bob: Bob) -> None:
        self.received = Received(standing, BUDGET)
        self.most = 0
        self.cut: list[PeerId] = []
        self.dialled: list[SecureStream] = []
        self._bob = bob
        self._reading: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()

    async def join(self, number: int, local: str = HOST) -> SecureStream:
        who = identity(number)
        draw = X25519PrivateKey.generate
        stream = await SecureStream.dial(HOST, self._bob.port, who, draw, local_address=local)
        self.dialled.append(stream)
        accepted = await self._bob.stream()
        self.received.watch(accepted)
        self._reading.add(asyncio.create_task(self._read(accepted)))
        return stream

    async def _read(self, stream: SecureStream) -> None:
        with suppress(RemoteError):
            while await stream.receive():
                pass
        self.cut.append(stream.peer)
        self.received.forget(stream)
        async with self._changed:
            self._changed.notify_all()

    async def until_cut(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.cut) >= count)


@asynccontextmanager
async def crowd() -> AsyncIterator[Crowd]:
    async with bob_listening() as bob:
        people = Crowd(bob)
        yield people
        for stream in people.dialled:
            await end(stream)


async def test_half_frames_of_all_streams_have_one_budget_and_a_friend_s_stays() -> None:
    async with crowd() as people:
        friend = await people.join(1)
        begin(friend, 2 * HALF)
        for number in range(10, 30):
            begin(await people.join(number), HALF)
        await within(people.until_cut(20 - (BUDGET - 2 * HALF) // HALF))

        assert ALICE.peer_id not in people.cut
        assert HALF < people.received.total <= BUDGET
        assert not friend.closed


async def test_of_strangers_those_of_the_address_that_holds_most_are_cut() -> None:
    async with crowd() as people:
        alone = await people.join(9, "127.0.0.2")
        begin(alone, 3 * HALF)
        for number in range(10, 20):
            begin(await people.join(number), HALF)
        await within(people.until_cut(3))

        assert not alone.closed
        assert identity(9).peer_id not in people.cut


async def test_what_is_held_is_given_back_as_it_is_taken() -> None:
    async with connected() as (alice, bob):
        received = Received(standing, BUDGET)
        received.watch(bob)
        for _ in range(50):
            alice.send(bytes(HALF))
            await within(bob.receive())
        held = received.total
        begin(alice, HALF)
        alice.close()
        with suppress(RemoteError):
            await within(bob.receive())

        assert held <= HALF
        assert received.total == 0


async def full(transport: asyncio.ReadTransport) -> None:
    """Return once asyncio reads nothing more of a connection."""
    while transport.is_reading():  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0)


async def test_a_stream_that_is_not_read_holds_little() -> None:
    async with connected() as (alice, bob):
        reader: Any = alice._reader
        transport: Any = alice._writer.transport
        bob.send_batch([bytes(HALF)] * 20)
        await within(full(transport))

        assert 0 < len(reader._buffer) <= READ_SIZE + 2 * READ_AHEAD
        assert transport.max_size == READ_SIZE


async def test_nothing_is_left_of_a_stream_that_failed() -> None:
    async with bob_listening() as bob:
        reader, writer = await asyncio.open_connection(HOST, bob.port)
        raw = Raw(reader, writer)
        await raw.shake_hands()
        stream = await bob.stream()
        bob.streams.clear()
        gone = weakref.ref(stream)
        gc.collect()
        gc.disable()
        try:
            writer.write(record(bytes(100)))  # nothing that was sealed
            async with asyncio.timeout(PATIENCE):
                with suppress(RemoteError):
                    await stream.receive()
            failed = stream.closed
            del stream
            await within(reader.read())
            for _ in range(5):
                await asyncio.sleep(0)
            left = gone()
        finally:
            gc.enable()
            writer.close()

    assert failed
    assert left is None
