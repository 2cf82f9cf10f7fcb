"""Commands about what was written: go somewhere in it, look closer, ask for more."""

from typing import Final

from chat_tui.client.chat import NOWHERE, Chat, channel_info
from chat_tui.client.message_names import ID_PREFIX, line_named
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.details.facts import know, read
from chat_tui.details.raw import raw_lines
from chat_tui.details.sections import as_text as as_words
from chat_tui.keys.table import with_keys
from chat_tui.model.command_findings import (
    Acted,
    Detailed,
    Goal,
    View,
    as_text,
    line_text,
)
from chat_tui.text.dates import moment
from chat_tui.text.links import ascii_host, ascii_link, host_of, links_in, warnings
from chat_tui.text.namesakes import shared_among
from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import day_of, time_of_day
from chat_tui.wording.replies import quoted_lines
from sync.errors import LocalError
from sync.machine import MILLISECOND, ChannelId, MessageId
from sync.view.view import Line, Position

LINES_AROUND: Final = 5
"""Lines printed before and after a place in line mode."""

WHICH: Final = "Choose a message: select it ({select}), or type the beginning of its id."

AGAIN: Final = 10
AGAIN_MAX: Final = 10_000
"""Messages that `/history` prints, if no number is given and at most."""

EARLIER: Final = "Earlier messages are above: scroll up to read on."

NOTHING_OPENED: Final = "Line mode opens nothing: copy an address from here."

RAW: Final = "raw"
"""Asks for the bytes of a message; no id has these letters."""


async def goto(chat: Chat, rest: str, at: At) -> Result:
    """Go to a day, a time, or a message."""
    place = required(rest, "/goto and a day, a time or an id, as in /goto yesterday 14:30")
    channel = channel_info(chat, at.channel).channel
    begin = moment(place, chat.snapshot().now)
    if begin is not None:
        position: Position = (max(0, begin // MILLISECOND), MessageId(""))
        after = await chat.history.page_after(channel, after=position, limit=1)
        if not after:
            raise LocalError(
                f"Nothing was written from {day_of(begin)}, {time_of_day(begin)} on. "
                "End goes to the newest message."
            )
        goal = Goal(after[0].position, after[0].message_id)
    elif not ID_PREFIX.fullmatch(place.casefold()):
        raise LocalError(
            f"{clean_text(place)!r} is not a day, time or id. Write 2026-11-21, 21.11., yesterday, "
            "14:30, or at least four characters of a message id."
        )
    else:
        line = await line_named(chat, channel, place.casefold())
        goal = Goal(line.position, line.message_id)
    return Result(text=await around(chat, channel, goal), found=goal)


async def info(chat: Chat, rest: str, at: At) -> Result:
    """Show all about a message."""
    words = rest.split()
    raw = RAW in words
    line = await line_meant(chat, " ".join(word for word in words if word != RAW), at)
    known = know(chat, line, await read(chat.history, line))
    text = "\n".join(raw_lines(known)) if raw else as_words(known)
    return Result(text=text, found=Detailed(line, raw))


async def unread(_chat: Chat, _rest: str, _at: At) -> Result:
    """Go to the first unread message."""
    said = "Line mode prints every message when it arrives; nothing is unread."
    return Result(text=said, found=View("unread"))


async def copy(chat: Chat, rest: str, at: At) -> Result:
    """Copy the text of a message."""
    if not rest and at.selected is not None:
        return Result(found=View("copy"))
    line = await line_meant(chat, rest, at)
    return Result(text=clean_text(line.text), found=Acted("copy", line))


async def quote(chat: Chat, rest: str, at: At) -> Result:
    """Quote a message."""
    if not rest and at.selected is not None:
        return Result(found=View("quote"))
    quoted = await line_meant(chat, rest, at)
    said = "\n".join(f"> {line}" for line in quoted_lines(quoted))
    return Result(text=said, found=Acted("quote", quoted))


async def links(chat: Chat, rest: str, at: At) -> Result:
    """Open a link of the selected message, or say where those of a message lead."""
    if not rest and at.selected is not None:
        return Result(found=View("open_link"))
    line = await line_meant(chat, rest, at)
    found = links_in(clean_text(line.text))
    if not found:
        raise LocalError("There is no http or https link in this message.")
    said = [f"{ascii_link(link)} leads to {ascii_host(host_of(link))}" for link in found]
    said += [warning for link in found for warning in warnings(link)] if len(found) == 1 else []
    return Result(text="\n".join([*said, NOTHING_OPENED]), found=Acted("open_link", line))


async def without_markup(chat: Chat, rest: str, at: At) -> Result:
    """Show the selected message without markup, or with it again; print the text of another one."""
    if not rest and at.selected is not None:
        return Result(found=View("raw"))
    line = await line_meant(chat, rest, at)
    return Result(text=clean_text(line.text))


async def fold(_chat: Chat, _rest: str, at: At) -> Result:
    """Unfold the selected message, or fold it again."""
    if at.selected is None:
        return Result(text="Line mode folds nothing; on the screen, select a long message first.")
    return Result(found=View("fold"))


async def bare(_chat: Chat, _rest: str, _at: At) -> Result:
    """Show text without boxes."""
    return Result(text="Line mode has no boxes: select and copy as usual.", found=View("bare"))


async def clear(_chat: Chat, _rest: str, _at: At) -> Result:
    """Empty the view."""
    said = "Line mode cannot clear the screen; most terminals do with Ctrl+L."
    return Result(text=said, found=View("clear"))


async def line_meant(chat: Chat, prefix: str, at: At) -> Line:
    """Return the message that is named, else the selected one.

    Raises:
        LocalError: neither, or no single message fits.
    """
    channel = channel_info(chat, at.channel).channel
    if not prefix and at.selected is None:
        raise LocalError(with_keys(WHICH, chat.settings.keys()))
    return await line_named(chat, channel, prefix.casefold() or str(at.selected))


async def around(chat: Chat, channel: ChannelId, goal: Goal) -> str:
    """Return the lines around a place, for line mode."""
    before = await chat.history.page(channel, before=goal.position, limit=LINES_AROUND)
    [line] = await chat.history.named(channel, str(goal.message_id), limit=1)
    after = await chat.history.page_after(channel, after=goal.position, limit=LINES_AROUND)
    shared = shared_among([*before, line, *after], chat.snapshot().shared_names)
    shown = as_text([*before, line, *after], shared)
    here = f"  {line.message_id[:6]} {line_text(line, shared)}"
    return f"Around {day_of(line.created_ns)}:\n" + shown.replace(here, f">{here[1:]}", 1)


async def history(_chat: Chat, rest: str, at: At) -> Result:
    """Print the last messages again, where lines are only printed; screens have them already."""
    if at.channel is None:
        raise LocalError(NOWHERE)
    if rest and not (rest.isascii() and rest.isdigit() and 0 < int(rest) <= AGAIN_MAX):
        raise LocalError(f"/history takes a number from 1 to {AGAIN_MAX:,}.")
    return Result(text=EARLIER, again=int(rest or AGAIN))


ROWS: Final = (
    Command(("/history",), "[n]", "print the last messages again, in line mode", history),
    Command(("/goto",), "day or id", "go to: yesterday, 21.11., 14:30, 3fa2", goto),
    Command(("/unread",), "", "go to the first unread message", unread),
    Command(("/info",), "[raw] [id]", "details of a message; raw: its bytes", info),
    Command(("/copy",), "[id]", "copy the text of a message", copy),
    Command(("/quote",), "[id]", "quote a message", quote),
    Command(("/open",), "[id]", "open a link of the selected message", links),
    Command(("/raw",), "[id]", "show a message without markup, or with it again", without_markup),
    Command(("/fold",), "", "unfold the selected long message, or fold it", fold),
    Command(("/bare",), "", "show plain text, to select and copy", bare),
    Command(("/clear",), "", "clear the screen; nothing is deleted", clear),
)
