"""Commands about messages that are missing: what is known of them, ask for them, hide the line."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.commands.command import At, Command, Result
from chat_tui.details.asking import _asking, ask, ask_missing
from chat_tui.details.gap import (
    NO_MORE,
    NOTHING,
    hole_parts,
    holes_of,
    in_words,
)
from chat_tui.model.command_findings import Holes, View
from chat_tui.text.safe_text import clean_text
from sync.errors import LocalError
from sync.machine import MessageId
from sync.view.view import ChannelInfo

ALL: Final = "all"
OFF: Final = "off"
NOT_HIDDEN: Final = "Line mode prints a gap only once; there is nothing to hide."


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
        raise LocalError("Select a gap first; /hide off shows all again.")
    return Result(text=NOT_HIDDEN, found=View("hide"))


ROWS: Final = (
    Command(("/gaps",), "[id]", "missing messages, and what is being done about them", gaps),
    Command(("/repair",), "[id or all]", "ask again now for missing messages", repair),
    Command(("/hide",), "[off]", "hide the selected gap; off shows all again", hide),
)
