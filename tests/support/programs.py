"""Real chat programs as people in tests: one or several, each with a profile of its own."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.support.processes import Person, PlainProcess, everyone_sees_everyone

FOUND_CHANNEL = "/create"
"""The command that founds a private channel and goes there."""


def person(name: str, tmp_path: Path, channel: str | None = None) -> Person:
    return Person(name, tmp_path / name, interface="127.0.0.1", channel=channel)


def channel_of_its_own() -> str:
    """An open channel that no other program on this machine is in."""
    return f"#test-{uuid.uuid4().hex[:12]}"


@asynccontextmanager
async def company(tmp_path: Path, *names: str) -> AsyncIterator[list[PlainProcess]]:
    """People who are in one channel and see each other."""
    channel = channel_of_its_own()
    async with AsyncExitStack() as running:
        processes = await asyncio.gather(
            *(
                running.enter_async_context(PlainProcess(person(name, tmp_path, channel)))
                for name in names
            )
        )
        await everyone_sees_everyone(processes)
        yield list(processes)
