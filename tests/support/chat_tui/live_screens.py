"""The real screen over a live chat: waits for texts, types, meets a second person."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.cli.start_screen import Online
from chat_tui.client.live import Client
from chat_tui.model.reading_state import NOTHING_KEPT, Kept
from sync.machine import ChannelId
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.chat_tui.readings import shown
from tests.support.patience import PATIENCE_S


@asynccontextmanager
async def screen(
    client: Client, size: tuple[int, int] = (80, 24), kept: Kept = NOTHING_KEPT
) -> AsyncIterator[tuple[ChatApp, Pilot[None]]]:
    """Somebody's screen, once it is on the network."""
    async with asyncio.TaskGroup() as tasks:
        online = Online(client, tasks)
        app = ChatApp(client, online.start, channel=client.first_channel, kept=kept)
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: client.snapshot().port is not None)
            yield app, pilot
        await online.stop()


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Let the screen and the network work until `true()`."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():
            await pilot.pause()


async def type_in(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*["space" if key == " " else key for key in text], "enter")


def lobby(client: Client) -> ChannelId:
    """The channel everybody begins in."""
    assert client.first_channel is not None
    return client.first_channel


async def get_together(pilot: Pilot[None], app: ChatApp, bob: Client, alice: Client) -> None:
    """Connect bob to the person at the screen, who sees him come."""
    await meet(bob, alice)
    await until(pilot, lambda: "1 other here" in shown(app))


@asynccontextmanager
async def beside_bob(
    data_dir: Path, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[ChatApp, Pilot[None], Client]]:
    """Alice's screen, which says that bob is here; and his chat."""
    async with (
        opened(data_dir, "alice") as alice,
        running(data_dir, "bob") as bob,
        screen(alice, size) as (app, pilot),
    ):
        await get_together(pilot, app, bob, alice)
        yield app, pilot, bob
