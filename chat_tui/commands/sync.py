"""Commands about what the protocol does."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.peer_names import peer_named
from chat_tui.commands.command import At, Command, Result
from chat_tui.text.sync_protocols import protocol_of
from chat_tui.wording import sentences
from sync.errors import LocalError


async def sync(chat: Chat, rest: str, at: At) -> Result:
    """Reconcile with everybody here, or with the one named, in one of the ways there are."""
    info = channel_info(chat, at.channel)
    if rest:
        peer, way = peer_named(chat, rest, "/sync and a name")
        protocol = protocol_of(way)
        name = sentences.name_of(chat.snapshot(), peer.peer)
        title = sentences.channel_title(info)
        if not await chat.sync(info.channel, peer.peer, protocol):
            raise LocalError(
                f"{name} is not here in {title}; it starts by itself when they connect."
            )
        return Result(text=f"Comparing {title} with {name}.")
    peers = await chat.sync(info.channel)
    if not peers:
        raise LocalError("Nobody is here to sync with; it starts by itself when somebody connects.")
    return Result(text=f"Comparing {sentences.channel_title(info)} with {peers} of the others.")


ROWS: Final = (
    Command(("/sync",), "[name] [way]", "sync this channel with everybody here, now", sync),
)
