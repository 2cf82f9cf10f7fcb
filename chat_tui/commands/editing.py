"""Commands that change what was written: edit, react, delete."""

import re
from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.message_changes import own_line, quoted
from chat_tui.client.message_names import ID_PREFIX, line_named
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.wording import rights, sentences
from chat_tui.wording.reactions import emoji_of
from chat_tui.wording.sentences import ID_DRAFTED, ID_SHOWN
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.governance_infos import Right
from sync.view.view import Line

PAGE: Final = 100
LOOKED_BACK: Final = 20
"""Pages searched for one's own newest message: two thousand lines are an evening of a busy room."""

AN_ID: Final = re.compile(rf"(?=.*\d)[0-9a-f]{{{ID_SHOWN},64}}|[0-9a-f]{{{ID_DRAFTED},64}}")
"""Ids are shown with six characters. A short word of letters alone, as `facade`, is a word."""

HONEST: Final = "Deleted. Programs that respect deletions hide it; others may still show it."
HIDDEN: Final = "All see by whom; the bytes stay on everybody's disk, and are passed on."


async def edit(chat: Chat, rest: str, at: At) -> Result:
    """Put another text in place of an own message; without one, offer the text of now."""
    channel = channel_info(chat, at.channel).channel
    named, text = await id_and_rest(chat, channel, rest)
    target = named or at.selected or await _own_newest(chat, channel)
    if not text:
        line = await own_line(chat.history, channel, target, "edit")
        begun = f"/edit {target[:ID_DRAFTED]}"
        says = f'{begun} and the new text changes "{quoted(line.text)}".'
        return Result(text=says, draft=f"{begun} {line.text}")
    await chat.edit(channel, target, text)
    return Result(text="Edited; others see that it was edited.")


async def react(chat: Chat, rest: str, at: At) -> Result:
    """React to a message, or take that back."""
    channel = channel_info(chat, at.channel).channel
    shape = ID_PREFIX if " " in rest else AN_ID  # behind which an emoji stands, or its name
    named, emoji = await id_and_rest(chat, channel, rest, shape)
    chosen = emoji_of(required(emoji, "/react and an emoji"))
    added = await chat.react(channel, named or at.selected or await _newest(chat, channel), chosen)
    return Result(text=f"Reacted with {chosen}." if added else f"Took {chosen} back.")


async def delete(chat: Chat, rest: str, at: At) -> Result:
    """Hide a message, here and at everybody who honours it: an own one, or as admin anybody's."""
    info = channel_info(chat, at.channel)
    channel = info.channel
    named, more = await id_and_rest(chat, channel, rest, ID_PREFIX)
    if more:
        raise LocalError(
            "Use /delete ID (its beginning is enough), or /delete for the selected message."
        )
    target = named or at.selected or await _own_newest(chat, channel)
    found = await chat.history.named(channel, target, limit=1)
    others = next((line for line in found if not line.own and not line.deleted), None)
    if others is not None and info.governance is not None:
        rights.check(chat.snapshot(), info, info.governance, Right.HIDE)
    await chat.redact(channel, target)
    if others is None:
        return Result(text=HONEST)
    name = sentences.called(chat.snapshot(), others.author, others.nick)
    return Result(text=f"Hidden what {name} wrote. {HIDDEN}")


async def id_and_rest(
    chat: Chat, channel: ChannelId, rest: str, shape: re.Pattern[str] = AN_ID
) -> tuple[MessageId | None, str]:
    """Return the message that `rest` begins with the id of, if it does, and what follows.

    `shape` is that of an id: `AN_ID` where a text may stand instead, else `ID_PREFIX`.

    Raises:
        LocalError: no message has such an id, or several have.
    """
    word, _, after = rest.partition(" ")
    prefix = word.casefold()
    if not shape.fullmatch(prefix):
        return None, rest
    return (await line_named(chat, channel, prefix)).message_id, after.strip()


async def _newest(chat: Chat, channel: ChannelId) -> MessageId:
    page = await chat.history.page(channel, before=None, limit=PAGE)
    left = [line for line in page if not line.deleted and line.act is None]
    if not left:
        raise LocalError("There is no message to react to; name one by its id.")
    return left[-1].message_id


async def _own_newest(chat: Chat, channel: ChannelId) -> MessageId:
    """Return the newest message of ours that is still to be seen.

    Raises:
        LocalError: there is none among the newest `PAGE` x `LOOKED_BACK`.
    """
    before = None
    for _ in range(LOOKED_BACK):
        page = await chat.history.page(channel, before=before, limit=PAGE)
        for line in reversed(page):
            if _is_ours(line):
                return line.message_id
        if len(page) < PAGE:
            break
        before = page[0].position
    raise LocalError("You have no recent message here; name the message by its id.")


def _is_ours(line: Line) -> bool:
    return line.own and not line.deleted and line.act is None


ROWS: Final = (
    Command(("/edit",), "[id] [text]", "edit your newest message, or this one", edit),
    Command(("/react",), "[id] emoji", "react to a message; again takes it back", react),
    Command(("/delete",), "[id]", "delete a message; an admin, anybody's", delete),
)
