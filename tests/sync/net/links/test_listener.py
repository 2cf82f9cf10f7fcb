"""The listening port on its own, on 127.0.0.1."""

import asyncio
from collections.abc import Coroutine
from contextlib import closing
from typing import Any

import pytest

from sync.errors import RemoteError
from sync.machine import Nanos
from sync.net.links.frames import Open
from sync.net.links.listener import STRANGERS_PER_ADDRESS_MAX, Listener, Serve
from sync.net.links.stream import HANDSHAKE_DEADLINE, SecureStream, patience
from sync.structures.link_trips import GROWN_MAX, SLOW_MAX
from tests.support.patience import PATIENCE_S
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HOST, until

pytestmark = pytest.mark.net

FIRST_PORT = 20_000
"""Where looking for a free port begins."""


async def test_whoever_leaves_cuts_what_was_accepted_whatever_is_done_with_it() -> None:
    accepted: list[Coroutine[Any, Any, None]] = []

    async def admit(stream: SecureStream, opened: Open) -> Serve:
        raise RemoteError(f"nobody is met here: {stream.peer}, {opened}")

    def spawn(name: str, work: Coroutine[Any, Any, None]) -> object:
        accepted.append(work)
        return name

    listener = Listener(identity("alice"), admit, lambda who, reason: None, spawn)
    port = await listener.listen([HOST], FIRST_PORT)
    reader, writer = await asyncio.open_connection(HOST, port)
    with closing(writer):
        await until(lambda: accepted, "the connection is accepted")
        listener.close()

        listener.abort()

        async with asyncio.timeout(PATIENCE_S):
            assert await reader.read() == b""
    for work in accepted:
        work.close()


async def test_of_many_who_come_at_once_from_one_address_few_get_a_place() -> None:
    accepted: list[Coroutine[Any, Any, None]] = []
    refused: list[str] = []

    async def admit(stream: SecureStream, opened: Open) -> Serve:
        raise RemoteError(f"nobody is met here: {stream.peer}, {opened}")

    def spawn(name: str, work: Coroutine[Any, Any, None]) -> object:
        accepted.append(work)  # begun later than all have come
        return name

    listener = Listener(identity("alice"), admit, lambda who, _: refused.append(who), spawn)
    port = await listener.listen([HOST], FIRST_PORT)
    for _ in range(3 * STRANGERS_PER_ADDRESS_MAX):
        _, writer = await asyncio.open_connection(HOST, port)
        writer.close()
    await until(lambda: len(accepted) + len(refused) == 3 * STRANGERS_PER_ADDRESS_MAX, "all came")

    assert len(accepted) == STRANGERS_PER_ADDRESS_MAX
    assert refused == [HOST] * (2 * STRANGERS_PER_ADDRESS_MAX)
    await asyncio.gather(*accepted)
    _, writer = await asyncio.open_connection(HOST, port)
    await until(lambda: len(accepted) > STRANGERS_PER_ADDRESS_MAX, "places are free again")
    writer.close()
    await accepted[-1]
    listener.close()


async def test_whoever_comes_from_where_a_slow_link_leads_has_longer_for_its_handshake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deadline = 0.02
    monkeypatch.setattr("sync.net.links.listener.HANDSHAKE_DEADLINE", deadline)
    begun: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()

    async def admit(stream: SecureStream, opened: Open) -> Serve:
        raise RemoteError(f"nobody is met here: {stream.peer}, {opened}")

    def spawn(name: str, work: Coroutine[Any, Any, None]) -> object:
        begun.append(loop.create_task(work, name=name))
        return name

    def trip_from(host: str) -> Nanos:
        return SLOW_MAX if host == HOST else 0

    listener = Listener(identity("alice"), admit, lambda who, reason: None, spawn, trip_from)
    port = await listener.listen([HOST], FIRST_PORT)
    _, writer = await asyncio.open_connection(HOST, port)
    await until(lambda: begun, "the connection is accepted")
    began = loop.time()

    await begun[0]

    assert loop.time() - began > (GROWN_MAX - 1) * deadline
    writer.close()
    listener.close()


def test_nobody_else_has_longer_and_nobody_more_than_four_times_as_long() -> None:
    assert patience(HANDSHAKE_DEADLINE, 0) == HANDSHAKE_DEADLINE
    assert patience(HANDSHAKE_DEADLINE, SLOW_MAX) == GROWN_MAX * HANDSHAKE_DEADLINE
