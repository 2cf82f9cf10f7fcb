"""The listening port on its own, on 127.0.0.1."""

import asyncio
from collections.abc import Coroutine
from contextlib import closing
from typing import Any

import pytest

from sync.errors import RemoteError
from sync.net.links.frames import Open
from sync.net.links.listener import Listener, Serve
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
