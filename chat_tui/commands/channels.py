"""Commands about channels: join, found, leave, switch."""

from typing import Final

from msgspec.structs import replace

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.memberships import name_in
from chat_tui.commands.command import At, Command, Result, lines_counted, required
from chat_tui.wording import rights, sentences
from sync.errors import LocalError
from sync.view.governance_infos import GovernanceInfo, Right, Role
from sync.view.view import ChannelInfo, Snapshot

PLAIN: Final = "plain"
"""Said at the founding of a channel without roles."""

ANYWAY: Final = "anyway"


async def join(chat: Chat, rest: str, _at: At) -> Result:
    """Join a channel by name or code and switch to it."""
    way_in = required(rest, "/join #name, or /join and an invite code")
    joined = await chat.memberships.join(way_in)
    info = channel_info(chat, joined)
    title = sentences.channel_title(info)
    alike = sentences.looks_like(chat.snapshot(), info)
    elsewhere = f"#{name_in(way_in)}"
    has_other = sentences.typed_title(info) != elsewhere and sentences.channel_called(
        chat.snapshot(), elsewhere
    )
    also = f" You are in another channel called {elsewhere}, too." if has_other else ""
    also += f" {alike}" if alike else ""
    if info.governance is not None and _is_out(info):
        out = rights.why_out(chat.snapshot(), info, info.governance)
        text = out or (  # the disk that knows it may not be read yet
            f"You come into {title} as soon as somebody is here who is in it, unless you left "
            "after this code was made."
        )

        def then(snapshot: Snapshot) -> str:
            now = sentences.find(snapshot, joined)
            if now is None or now.governance is None:
                return ""
            so = rights.why_out(snapshot, now, now.governance) if _is_out(now) else _in(now)
            return f"{so}{also}" if so else ""

        return Result(text=f"{text}{also}", channel=joined, then=then)
    return Result(text=f"{_in(info)}{also}", channel=joined)


def _is_out(info: ChannelInfo) -> bool:
    return info.governance is not None and info.governance.role is Role.NONE


def _in(info: ChannelInfo) -> str:
    title, comma = sentences.channel_title(info), "," if info.governance is None else ";"
    return f"You are in {title}{comma} {sentences.openness(info)}."


async def leave(chat: Chat, rest: str, at: At) -> Result:
    """Leave the open channel; its history stays."""
    info = channel_info(chat, at.channel)
    if info.governance is not None and info.governance.role is not Role.NONE:
        return await _leave_governed(chat, info, info.governance, rest)
    title = sentences.channel_title(info)
    await chat.memberships.leave(info.channel)
    if info.governance is not None:
        return Result(
            text=f"{title} is gone from your list. Its history stays on this disk; a new code or "
            "an admin's /add brings it back.",
            channel=chat.snapshot().channels[0].channel,
        )
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


async def _leave_governed(
    chat: Chat, info: ChannelInfo, governance: GovernanceInfo, rest: str
) -> Result:
    """Sign that we leave; who cannot come back, or leaves others helpless, is told so first.

    Raises:
        LocalError: we are an owner, or the last who can let in and remove, and did not insist.
    """
    title, is_owner = sentences.channel_title(info), governance.role is Role.OWNER
    others = [one for one in governance.members if one.peer != chat.snapshot().me]
    is_last = governance.role >= Role.ADMIN and all(one.role < Role.ADMIN for one in others)
    if rest.casefold() != ANYWAY and others and is_last:
        raise LocalError(
            f"You are the last in {title} who can let in and remove: without you nobody can, for "
            f"ever. {_heir(governance)} /leave {ANYWAY} leaves them so."
        )
    if rest.casefold() != ANYWAY and is_owner:
        raise LocalError(
            f"You are an owner of {title}: an owner who leaves cannot come back. /leave {ANYWAY} "
            "leaves for ever."
        )
    await chat.governing.leave(info.channel)
    back = "" if is_owner else " A new code or an admin's /add lets you in again."
    return Result(
        text=f"You have left {title}. Its history stays on this disk.{back}",
        channel=chat.snapshot().channels[0].channel,
    )


def _heir(governance: GovernanceInfo) -> str:
    """Return how somebody else is made able to let in and remove."""
    if governance.may(Right.ADMINS):
        return "/role NAME admin makes an admin first."
    return "Only an owner could make another admin, and none is in."


async def create(chat: Chat, rest: str, _at: At) -> Result:
    """Found a private channel and switch to it; `plain` makes one that old programs can join."""
    name, _, kind = required(rest, "/create name").removeprefix("#").partition(" ")
    if kind.strip().casefold() not in {"", PLAIN}:
        raise LocalError(
            f"A channel's name is one word: write /create {name}, or /create {name} {PLAIN} for "
            "one without roles that older programs can join."
        )
    found = chat.memberships.create if kind else chat.governing.found
    created = await found(name)
    info = channel_info(chat, created)
    title, alike = sentences.channel_title(info), sentences.looks_like(chat.snapshot(), info)
    also = f" {alike}" if alike else ""
    what = (
        f"{title} is yours and private. /invite shows the code that lets others in."
        if kind
        else f"{title} is private, and you are its owner. /invite makes a code that lets others "
        "in; /members says who is."
    )
    return Result(text=f"{what}{also}", channel=created)


async def channel(chat: Chat, rest: str, _at: At) -> Result:
    """Switch to a channel we are in."""
    wanted = required(rest, "/channel #name").casefold()
    wanted = wanted if wanted.startswith(("#", "@")) else f"#{wanted}"
    if (found := sentences.channel_called(chat.snapshot(), wanted)) is not None:
        return Result(channel=found)
    how = f"/msg {wanted[1:]} opens it" if wanted.startswith("@") else f"/join {wanted} joins"
    raise LocalError(f"You are not in {wanted}. /channels lists yours; {how}.")


async def channels(chat: Chat, _rest: str, _at: At) -> Result:
    """List our channels."""
    snapshot = chat.snapshot()
    counted = tuple([await lines_counted(chat, info) for info in snapshot.channels])
    return Result(text=sentences.channels(replace(snapshot, channels=counted)))


ROWS: Final = (
    Command(("/join",), "#name or code", "join a channel and switch to it", join),
    Command(("/create",), "name [plain]", "create a private channel", create),
    Command(("/leave",), "", "leave this channel; its history is kept", leave),
    Command(("/channel",), "#name", "switch to another of your channels", channel),
    Command(("/channels",), "", "list your channels", channels),
)
