"""Asks peers for missing messages when the person says so."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.details.gap import NOTHING, asked_just_now, holes_of, until_again
from chat_tui.text.times import count, span
from chat_tui.wording import sentences
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.view import ChannelInfo

NOBODY: Final = "Nobody is here to ask; missing messages are asked for when somebody is."


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
    if not sentences.peers_of(snapshot, info):
        raise LocalError(NOBODY)
    asked_at = asked_just_now(snapshot, info, ids)
    if asked_at is None:
        return f"Asking for {count(number, 'missing message')} now; what comes takes its place."
    return (
        f"It was asked for {span(snapshot.now - asked_at)} ago; unless it comes, it is asked for "
        f"again in {until_again(snapshot, info, asked_at)}."
    )
