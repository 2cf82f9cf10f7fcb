"""Resolves the channel that a script names: one of ours, or that of two with somebody."""

from chat_tui.client.chat import Chat
from chat_tui.client.peer_names import peer_named
from chat_tui.wording import sentences
from sync.errors import LocalError
from sync.machine import ChannelId


async def channel_for(chat: Chat, title: str) -> ChannelId:
    """Return the channel that a script means: one of ours, or that of two with somebody.

    Raises:
        LocalError: we are in no such channel, or nobody of that name is known.
    """
    channel = sentences.channel_called(chat.snapshot(), title)
    if channel is not None:
        return channel
    if title.strip().startswith("@"):
        peer, _ = peer_named(chat, title.strip(), "a name")
        return await chat.people.open_direct(peer.peer)
    raise LocalError(f"You are not in {title}. /join {title} joins it, if it is open.")
