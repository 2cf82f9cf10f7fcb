"""Commands about channels: join, found, switch, invite."""

import re
from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.text.qr import ascii_blocks
from chat_tui.wording import sentences
from sync.errors import LocalError

SECOND_OF_ITS_NAME: Final = re.compile(r"(#.+)-[0-9]+")
"""The title of a channel here, if one of its name was there before."""


async def join(chat: Chat, rest: str, _at: At) -> Result:
    """Join a channel by name or code and switch to it."""
    joined = await chat.memberships.join(required(rest, "/join #name, or /join and an invite code"))
    info = channel_info(chat, joined)
    title = sentences.channel_title(info)
    alike = sentences.looks_like(chat.snapshot(), info)
    number = SECOND_OF_ITS_NAME.fullmatch(title)
    also = f" You are in another channel called {number[1]}, too." if number else ""
    also += f" {alike}" if alike else ""
    return Result(text=f"You are in {title}, {sentences.openness(info)}.{also}", channel=joined)


async def leave(chat: Chat, _rest: str, at: At) -> Result:
    """Leave the open channel; its history stays."""
    info = channel_info(chat, at.channel)
    title = sentences.channel_title(info)
    await chat.memberships.leave(info.channel)
    typed = sentences.typed_title(info)
    again = f"/msg {typed[1:]}" if info.direct is not None else f"/join {typed}"
    what = (
        "messages sent to you wait until then"
        if info.direct is not None
        else "messages written meanwhile arrive then"
    )
    return Result(
        text=f"You have left {title}. Its history stays on this disk; {again} comes back, and "
        f"{what}.",
        channel=chat.snapshot().channels[0].channel,
    )


async def create(chat: Chat, rest: str, _at: At) -> Result:
    """Found a private channel and switch to it."""
    name = required(rest, "/create name").removeprefix("#")
    created = await chat.memberships.create(name)
    info = channel_info(chat, created)
    title, alike = sentences.channel_title(info), sentences.looks_like(chat.snapshot(), info)
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
    for title in (sentences.channel_title, sentences.typed_title):
        for info in ours:
            if title(info).casefold() == wanted:
                return Result(channel=info.channel)
    how = f"/msg {wanted[1:]} opens it" if wanted.startswith("@") else f"/join {wanted} joins"
    raise LocalError(f"You are not in {wanted}. /channels lists yours; {how}.")


async def channels(chat: Chat, _rest: str, _at: At) -> Result:
    """List our channels."""
    return Result(text=sentences.channels(chat.snapshot()))


async def invite(chat: Chat, rest: str, at: At) -> Result:
    """Show the code of the open channel; with `qr`, as a code to scan, too."""
    info = channel_info(chat, at.channel)
    title = sentences.channel_title(info)
    if info.open:
        return Result(
            text=f"{title} is open to everybody on this network: /join "
            f"{sentences.typed_title(info)} is enough."
        )
    code = chat.memberships.invite(info.channel)
    text = f"{invitation(title)}\n\n/join {code}"
    if rest.casefold() == "qr":
        text = "\n".join([text, "", *ascii_blocks(code)])
        return Result(text=text)
    return Result(text=text, action=f"invite({info.channel!r})")


def invitation(title: str) -> str:
    """Return what a code is good for."""
    return f"Anyone with this code can read and write in {title}; share it with care:"


ROWS: Final = (
    Command(("/join",), "#name or code", "join a channel and switch to it", join),
    Command(("/create",), "name", "create a private channel", create),
    Command(("/leave",), "", "leave this channel; its history is kept", leave),
    Command(("/channel",), "#name", "switch to another of your channels", channel),
    Command(("/channels",), "", "list your channels", channels),
    Command(("/invite",), "[qr]", "show this channel's invite code", invite),
)
