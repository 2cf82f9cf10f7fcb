"""Commands about what the protocol does."""

from typing import Final

from chat_tui import reports
from chat_tui.chat import Chat
from chat_tui.commands.command import At, Command, Result, channel_info
from sync.errors import LocalError


async def sync(chat: Chat, _rest: str, at: At) -> Result:
    """Reconcile with everybody here."""
    info = channel_info(chat, at.channel)
    peers = await chat.sync(info.channel)
    if not peers:
        raise LocalError("Nobody is here to compare with; it happens by itself on a new link.")
    return Result(text=f"Comparing {reports.channel_title(info)} with {peers} of the others.")


async def status(chat: Chat, _rest: str, at: At) -> Result:
    """Say how everything is."""
    snapshot = chat.snapshot()
    return Result(text=reports.status(snapshot, reports.find(snapshot, at.channel)))


ROWS: Final = (
    Command(("/sync",), "", "compare this channel with everybody here, now", sync),
    Command(("/status",), "", "how everything is, in a few sentences", status),
)
