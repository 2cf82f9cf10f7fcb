"""Commands about channels: join, found, switch, invite."""

import re
from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, channel_info, required
from chat_tui.text.qr import ascii_blocks
from chat_tui.wording import sentences as reports
from sync.errors import LocalError

SECOND_OF_ITS_NAME: Final = re.compile(r"(#.+)-[0-9]+")
"""The title of a channel here, if one of its name was there before."""


async def join(chat: Chat, rest: str, _at: At) -> Result:
    """Join a channel by name or code and switch to it."""
    joined = await chat.join(required(rest, "/join #name, or /join and an invite code"))
    info = channel_info(chat, joined)
    title = reports.channel_title(info)
    alike = reports.looks_like(chat.snapshot(), info)
    number = SECOND_OF_ITS_NAME.fullmatch(title)
    also = f" You are in another channel called {number[1]}, too." if number else ""
    also += f" {alike}" if alike else ""
    return Result(text=f"You are in {title}, {reports.openness(info)}.{also}", channel=joined)


async def leave(chat: Chat, _rest: str, at: At) -> Result:
    """Leave the open channel; its history stays."""
    info = channel_info(chat, at.channel)
    title = reports.channel_title(info)
    await chat.leave(info.channel)
    typed = reports.typed_title(info)
    again = f"/msg {typed[1:]}" if info.direct is not None else f"/join {typed}"
    what = (
        "what they write waits with them until then"
        if info.direct is not None
        else "what is written meanwhile comes then"
    )
    return Result(
        text=f"You have left {title}. Its history stays on this disk; {again} comes back, and "
        f"{what}.",
        channel=chat.snapshot().channels[0].channel,
    )


async def create(chat: Chat, rest: str, _at: At) -> Result:
    """Found a private channel and switch to it."""
    name = required(rest, "/create name").removeprefix("#")
    created = await chat.create(name)
    info = channel_info(chat, created)
    title, alike = reports.channel_title(info), reports.looks_like(chat.snapshot(), info)
    also = f" {alike}" if alike else ""
    return Result(
        text=f"{title} is yours and private. /invite shows the code that lets others in.{also}",
        channel=created,
    )


async def channel(chat: Chat, rest: str, _at: At) -> Result:
    """Switch to a channel we are in."""
    wanted = required(rest, "/channel #name").casefold()
    wanted = wanted if wanted.startswith(("#", "@")) else f"#{wanted}"
    ours = chat.snapshot().channels
    for title in (reports.channel_title, reports.typed_title):
        for info in ours:
            if title(info).casefold() == wanted:
                return Result(channel=info.channel)
    how = f"/msg {wanted[1:]} opens it" if wanted.startswith("@") else f"/join {wanted} joins"
    raise LocalError(f"You are not in {wanted}. /channels lists yours; {how}.")


async def channels(chat: Chat, _rest: str, _at: At) -> Result:
    """List our channels."""
    return Result(text=reports.channels(chat.snapshot()))


async def invite(chat: Chat, rest: str, at: At) -> Result:
    """Show the code of the open channel; with `qr`, as a code to scan, too."""
    info = channel_info(chat, at.channel)
    title = reports.channel_title(info)
    if info.open:
        return Result(
            text=f"{title} is open to everybody on this network: /join "
            f"{reports.typed_title(info)} is enough."
        )
    code = chat.invite(info.channel)
    text = f"{invitation(title)}\n\n/join {code}"
    if rest.casefold() == "qr":
        text = "\n".join([text, "", *ascii_blocks(code)])
        return Result(text=text)
    return Result(text=text, action=f"invite({info.channel!r})")


def invitation(title: str) -> str:
    """Return what a code is good for."""
    return f"Whoever has this code can read {title} and write there; give it only to them:"


ROWS: Final = (
    Command(("/join",), "#name or code", "join a channel and switch to it", join),
    Command(("/create",), "name", "found a private channel", create),
    Command(("/leave",), "", "leave this channel; its history stays", leave),
    Command(("/channel",), "#name", "switch to a channel you are in", channel),
    Command(("/channels",), "", "list your channels", channels),
    Command(("/invite",), "[qr]", "show the code of this channel, for others to join", invite),
)
