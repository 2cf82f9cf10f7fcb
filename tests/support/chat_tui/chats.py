"""Real chats for tests: a profile on a temporary disk, and a node on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.line_mode.output import TextFace
from chat_tui.settings.preferences import Preferences
from sync.net.options import Options


def setup_of(data_dir: Path, name: str, *, channel: str | None = None) -> Setup:
    """The setup of `name`, who is on loopback alone and looks for nobody."""
    network = Options(interface="127.0.0.1", discovery=False)
    return Setup(data_dir, profile=name, nick=name, channel=channel, network=network)


@asynccontextmanager
async def opened(data_dir: Path, name: str, *, channel: str | None = None) -> AsyncIterator[Client]:
    """A chat with its disk open and no network."""
    client = await Client.open(setup_of(data_dir, name, channel=channel))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def running(
    data_dir: Path, name: str, *, channel: str | None = None
) -> AsyncIterator[Client]:
    """A chat that others on this computer can reach by address."""
    async with opened(data_dir, name, channel=channel) as client, client.running():
        yield client


@asynccontextmanager
async def line_mode(data_dir: Path) -> AsyncIterator[tuple[Client, TextFace]]:
    """Alice's chat with no network, and what line mode prints of it."""
    async with opened(data_dir, "alice") as alice:
        yield alice, TextFace(alice, Preferences())


async def run(client: Client, line: str) -> Result:
    """Enter a line in the channel that the chat begins in."""
    return await Commands(client).run(line, At(client.first_channel))


async def meet(one: Client, other: Client) -> None:
    """Connect two running chats."""
    port = other.snapshot().port
    assert port is not None
    await one.connect("127.0.0.1", port)
