"""Commands about messages that are missing: what is known of them, ask for them, hide the line."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, channel_info
from chat_tui.details.gap import (
    NO_MORE,
    NOTHING,
    asked_just_now,
    hole_parts,
    holes_of,
    in_words,
    until_again,
)
from chat_tui.model.command_findings import Holes, View
from chat_tui.text.safe_text import clean_text, count, span
from chat_tui.wording import sentences as reports
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.view import ChannelInfo

ALL: Final = "all"
OFF: Final = "off"
NOBODY: Final = "Nobody is here to ask; missing messages are asked for when somebody is."
NOT_HIDDEN: Final = (
    "Line mode prints a gap once, with the message that follows it; there is nothing to hide."
)


async def ask(chat: Chat, channel: ChannelId, after_gap: MessageId | None = None) -> str:
    """Ask now for what is missing before a message, or for all that is; returns what to say of it.

    Raises:
        LocalError: nothing is missing, or nobody is here to ask.
    """
    info = channel_info(chat, channel)
    if after_gap is None:
        ids = (*info.missing, *info.lost_ids)
        said = _asking(chat, info, ids, info.missing_count + info.lost)
        await chat.repair(channel, ())
        return said
    holes = await holes_of(chat, channel, after_gap)
    ids = tuple([hole.entry.message_id for hole in holes])
    said = _asking(chat, info, ids, len(ids))
    await chat.repair_before(channel, after_gap)
    return said


async def ask_missing(chat: Chat, channel: ChannelId) -> str:
    """Ask now for what others wait for, and not for what was given up; as `ask`."""
    info = channel_info(chat, channel)
    said = _asking(chat, info, info.missing, info.missing_count)
    await chat.repair(channel, info.missing)
    return said


def _asking(chat: Chat, info: ChannelInfo, ids: tuple[MessageId, ...], number: int) -> str:
    """Return what the wish leads to: a request now, or when the last one had its time."""
    snapshot = chat.snapshot()
    if not ids:
        raise LocalError(NOTHING)
    if not reports.peers_of(snapshot, info):
        raise LocalError(NOBODY)
    asked_at = asked_just_now(snapshot, info, ids)
    if asked_at is None:
        return f"Asking for {count(number, 'missing message')} now; what comes takes its place."
    return (
        f"It was asked for {span(snapshot.now - asked_at)} ago; unless it comes, it is asked for "
        f"again in {until_again(snapshot, info, asked_at)}."
    )


async def repair(chat: Chat, rest: str, at: At) -> Result:
    """Ask for missing messages again, now."""
    info = channel_info(chat, at.channel)
    wanted = rest.casefold()
    if not wanted and at.on_gap:
        if at.selected is None:
            return Result(text=await ask_missing(chat, info.channel))
        return Result(text=await ask(chat, info.channel, at.selected))
    if wanted in {"", ALL}:
        return Result(text=await ask(chat, info.channel))
    ids = tuple(one for one in (*info.missing, *info.lost_ids) if one.startswith(wanted))
    if not ids:
        row = await _after_gap(chat, info, wanted)
        return Result(text=await ask(chat, info.channel, row))
    said = _asking(chat, info, ids, len(ids))
    await chat.repair(info.channel, ids)
    return Result(text=said)


async def gaps(chat: Chat, rest: str, at: At) -> Result:
    """Say what is known of messages that are missing."""
    info = channel_info(chat, at.channel)
    row = at.selected if at.on_gap else None
    holes = None
    if rest:
        prefix = rest.casefold()
        all_of_them = await holes_of(chat, info.channel)
        holes = tuple([one for one in all_of_them if one.entry.message_id.startswith(prefix)])
        if not holes:
            row = await _after_gap(chat, info, prefix)
            holes = None
    if holes is None:
        holes = await holes_of(chat, info.channel, row)
    none = NOTHING if row is None else NO_MORE
    text = in_words(hole_parts(chat, info.channel, holes, none))
    return Result(text=text, found=Holes(row) if not rest or row is not None else None)


async def _after_gap(chat: Chat, info: ChannelInfo, prefix: str) -> MessageId:
    """Return the message after a gap whose id begins so.

    Raises:
        LocalError: there is none.
    """
    found = await chat.history.named(info.channel, prefix, limit=2)
    after_gap = [line.message_id for line in found if line.after_gap]
    if len(found) != 1 or not after_gap:
        raise LocalError(
            f"No missing message begins with {clean_text(prefix)}, and none that follows a gap. "
            "/gaps lists what is missing; /repair all also asks for what was given up."
        )
    return after_gap[0]


async def hide(_chat: Chat, rest: str, _at: At) -> Result:
    """Hide the line of a gap, or show all of them again."""
    if rest.casefold() == OFF:
        return Result(text=NOT_HIDDEN, found=View("show_gaps"))
    if rest:
        raise LocalError("/hide is about the line the cursor is on; /hide off shows all again.")
    return Result(text=NOT_HIDDEN, found=View("hide"))


ROWS: Final = (
    Command(("/gaps",), "[id]", "what is missing, and what is done about it", gaps),
    Command(("/repair",), "[id or all]", "ask again for what is missing, now", repair),
    Command(("/hide",), "[off]", "hide the selected line of a gap; off shows all again", hide),
)
