"""Commands about channels: join, found, switch, invite."""

from typing import Final

from chat_tui import reports
from chat_tui.chat import Chat
from chat_tui.commands.command import At, Command, Result, channel_info, required
from sync.errors import LocalError


async def join(chat: Chat, rest: str, _at: At) -> Result:
    """Join a channel by name or code and switch to it."""
    joined = await chat.join(required(rest, "/join #name, or /join and an invite code"))
    info = channel_info(chat, joined)
    return Result(
        text=f"You are in {reports.channel_title(info)}, {reports.openness(info)}.",
        channel=joined,
    )


async def create(chat: Chat, rest: str, _at: At) -> Result:
    """Found a private channel and switch to it."""
    name = required(rest, "/create name").removeprefix("#")
    created = await chat.create(name)
    title = reports.channel_title(channel_info(chat, created))
    return Result(
        text=f"{title} is yours and private. /invite shows the code that lets others in.",
        channel=created,
    )


async def channel(chat: Chat, rest: str, _at: At) -> Result:
    """Switch to a channel we are in."""
    wanted = "#" + required(rest, "/channel #name").removeprefix("#").casefold()
    for info in chat.snapshot().channels:
        if reports.channel_title(info).casefold() == wanted:
            return Result(channel=info.channel)
    raise LocalError(f"You are not in {wanted}. /channels lists yours; /join {wanted} joins.")


async def channels(chat: Chat, _rest: str, _at: At) -> Result:
    """List our channels."""
    return Result(text=reports.channels(chat.snapshot()))


async def invite(chat: Chat, _rest: str, at: At) -> Result:
    """Show the code of the open channel."""
    info = channel_info(chat, at.channel)
    title = reports.channel_title(info)
    if info.open:
        return Result(
            text=f"{title} is open to everybody on this network: /join {title} is enough."
        )
    code = chat.invite(info.channel)
    return Result(
        text=f"Whoever has this code can read {title} and write there; give it only to them:"
        f"\n\n/join {code}"
    )


ROWS: Final = (
    Command(("/join",), "#name or code", "join a channel and switch to it", join),
    Command(("/create",), "name", "found a private channel", create),
    Command(("/channel",), "#name", "switch to a channel you are in", channel),
    Command(("/channels",), "", "list your channels", channels),
    Command(("/invite",), "", "show the code of this channel, for others to join", invite),
)
