"""Commands about what the protocol does."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, channel_info
from chat_tui.commands.peer_names import peer_named
from chat_tui.text.sync_protocols import check_way
from chat_tui.wording import person as dossier
from chat_tui.wording import sentences as reports
from sync.errors import LocalError


async def sync(chat: Chat, rest: str, at: At) -> Result:
    """Reconcile with everybody here, or with the one named, in one of the ways there are."""
    info = channel_info(chat, at.channel)
    if rest:
        peer, way = peer_named(chat, rest, "/sync and a name")
        check_way(way)
        name = reports.name_of(chat.snapshot(), peer.peer)
        title = reports.channel_title(info)
        if not await chat.sync(info.channel, peer.peer):
            raise LocalError(f"{name} is not here in {title}; it happens by itself on a new link.")
        return Result(text=f"Comparing {title} with {name}.")
    peers = await chat.sync(info.channel)
    if not peers:
        raise LocalError("Nobody is here to compare with; it happens by itself on a new link.")
    return Result(text=f"Comparing {reports.channel_title(info)} with {peers} of the others.")


async def status(chat: Chat, _rest: str, at: At) -> Result:
    """Say how everything is."""
    snapshot = chat.snapshot()
    lines = [*dossier.disk_lines(snapshot, 0), *dossier.warning_lines(snapshot)]
    lines.append(reports.status(snapshot, reports.find(snapshot, at.channel)))
    return Result(text="\n".join(lines))


ROWS: Final = (
    Command(("/sync",), "[name] [way]", "compare this channel with everybody here, now", sync),
    Command(("/status",), "", "how everything is, in a few sentences", status),
)
