"""The listening port on its own, on 127.0.0.1."""

import asyncio
from collections.abc import Coroutine
from contextlib import closing
from typing import Any

import pytest

from sync.errors import RemoteError
from sync.net.links.frames import Open
from sync.net.links.listener import STRANGERS_PER_ADDRESS_MAX, Listener, Serve
from sync.net.links.stream import SecureStream
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
