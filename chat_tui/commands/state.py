"""Commands about what a channel knows besides its lines: its topic, and lines that are pinned."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.message_names import line_named
from chat_tui.commands.command import At, Command, Result
from chat_tui.commands.people import TAKES_BACK
from chat_tui.model.command_findings import Listed, line_text
from chat_tui.text.namesakes import shared_among
from chat_tui.text.times import count
from chat_tui.wording import channel_state, rights, sentences
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.governance_infos import Right
from sync.view.view import ChannelInfo, Line

NEWEST: Final = 50
"""Lines among which the newest message is looked for: acts of governance cannot be pinned."""


async def topic(chat: Chat, rest: str, at: At) -> Result:
    """Say what the topic is; with a text, set it, and with - take it back."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    if not rest:
        return Result(text=channel_state.topic_words(snapshot, info))
    rights.check_setting(snapshot, info, Right.TOPIC)
    if rest not in TAKES_BACK:
        await chat.stating.set_topic(info.channel, rest)
        return Result(text=f"The topic of {sentences.channel_title(info)} is set; all see it.")
    if info.state.topic is None:
        raise LocalError(f"{sentences.channel_title(info)} has no topic to take back.")
    await chat.stating.set_topic(info.channel, "")
    return Result(text=f"{sentences.channel_title(info)} has no topic any more.")


async def pin(chat: Chat, rest: str, at: At) -> Result:
    """Pin the line that is named or selected, else the newest."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    rights.check_setting(snapshot, info, Right.PIN)
    if rest or at.selected is not None:
        line = await line_named(chat, info.channel, rest.casefold() or str(at.selected))
    else:
        line = await _newest(chat, info.channel)
    if line.deleted:
        raise LocalError("That message is deleted; it cannot be pinned.")
    if line.act is not None or line.pending or line.parked:
        raise LocalError("Only messages with a text can be pinned, once they are delivered.")
    held = info.state.pin(line.message_id)
    if held is not None:
        raise LocalError(f"{_short(line)} is pinned already, {_by(chat, info, held.message_id)}.")
    await chat.stating.pin(info.channel, line.message_id)
    return Result(text=f"Pinned: {_short(line)}. /pins lists what is pinned, /unpin takes it off.")


async def unpin(chat: Chat, rest: str, at: At) -> Result:
    """Take the pin off the line that is named or selected, else off the one pinned last."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    rights.check_setting(snapshot, info, Right.PIN)
    message_id = _pinned(info, rest.casefold(), at)
    await chat.stating.pin(info.channel, message_id, on=False)
    found = await chat.history.named(info.channel, message_id, limit=1)
    what = _short(found[0]) if found else sentences.short_id(message_id)
    return Result(text=f"Not pinned any more: {what}.")


async def pins(chat: Chat, _rest: str, at: At) -> Result:
    """List the lines that are pinned, to go to one."""
    info = channel_info(chat, at.channel)
    lines: list[Line] = []
    for one in info.state.pins:
        lines += await chat.history.named(info.channel, one.message_id, limit=1)
    title = sentences.channel_title(info)
    if not info.state.pins:
        raise LocalError(f"Nothing is pinned in {title}. /pin pins the selected or newest line.")
    absent = info.state.pins_count - len(lines)
    note = f"{count(absent, 'pinned line')} more: not here (yet)." if absent else ""
    if not lines:
        raise LocalError(f"{count(absent, 'line')} pinned in {title}, not here yet.")
    lines.sort(key=lambda line: line.position)
    head = f"{count(len(lines), 'line')} pinned in {title}"
    shared = shared_among(lines, chat.snapshot().shared_names)
    told = [
        f"  {sentences.short_id(line.message_id)} {line_text(line, shared)} "
        f"(pinned {_by(chat, info, line.message_id)})"
        for line in lines
    ]
    text = "\n".join(part for part in (f"{head}:", *told, note) if part)
    return Result(text=text, found=Listed(head, tuple(lines), note))


def _pinned(info: ChannelInfo, prefix: str, at: At) -> MessageId:
    """Return the pinned line that is named or selected, else the one pinned last.

    Raises:
        LocalError: it is not pinned, nothing is, or several fit.
    """
    ids = [one.message_id for one in info.state.pins]
    if not ids:
        raise LocalError(f"Nothing is pinned in {sentences.channel_title(info)}.")
    if not prefix and at.selected is None:
        return ids[0]
    wanted = prefix or str(at.selected)
    fitting = [one for one in ids if one.startswith(wanted)]
    if not fitting:
        named = sentences.short_id(MessageId(wanted))
        raise LocalError(f"{named} is not pinned. /pins lists what is.")
    if len(fitting) > 1:
        raise LocalError(f"Several pinned lines begin with {wanted}; type more of the id.")
    return fitting[0]


async def _newest(chat: Chat, channel: ChannelId) -> Line:
    """Return the newest message of a channel.

    Raises:
        LocalError: there is none.
    """
    page = await chat.history.page(channel, before=None, limit=NEWEST)
    line = next((one for one in reversed(page) if one.act is None and not one.deleted), None)
    if line is None:
        raise LocalError("There is no message to pin yet.")
    return line


def _short(line: Line) -> str:
    return channel_state.quoted(line)


def _by(chat: Chat, info: ChannelInfo, message_id: MessageId) -> str:
    held = info.state.pin(message_id)
    assert held is not None
    return channel_state.by_whom(chat.snapshot(), held.by)


ROWS: Final = (
    Command(("/topic",), "[text]", "show or set the topic; - takes it back", topic),
    Command(("/pin",), "[id]", "pin the selected or newest line, for all", pin),
    Command(("/unpin",), "[id]", "take a pin off: the selected or last one", unpin),
    Command(("/pins",), "", "list pinned lines, to go to one", pins),
)
