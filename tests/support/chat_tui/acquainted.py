"""Two people who know each other, ready to be verified or blocked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from chat_tui.client.live import Client
from sync.view.view import PeerState
from tests.support.chat_tui.chats import meet, running
from tests.support.chat_tui.live_clients import Heard


async def acquainted(one: Client, other: Client) -> None:
    """Connect two, until each knows the other's name."""
    here, there = Heard(one), Heard(other)
    await meet(one, other)
    await here.peer(PeerState.UP)
    await there.peer(PeerState.UP)


@asynccontextmanager
async def friends(data_dir: Path) -> AsyncIterator[tuple[Client, Client]]:
    """The chats of alice and bob, who know each other's name."""
    async with running(data_dir, "alice") as alice, running(data_dir, "bob") as bob:
        await acquainted(alice, bob)
        yield alice, bob
