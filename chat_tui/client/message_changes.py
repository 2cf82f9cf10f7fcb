"""Changes of messages as a person means them: who may, and what becomes of it, in words."""

from typing import Final

from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.text.times import time_of_day
from chat_tui.wording.acts import plainly_called
from chat_tui.wording.glyphs import DELETED, EDITED, FOLDED, LATE, UNICODE, hidden_by
from chat_tui.wording.reactions import summary_of
from sync.entries.changes import NOT_HERE, Edit, Reactions, Redaction
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.governance_infos import Lateness
from sync.view.view import History, Line, LineChanged, Unshown

WAITS: Final = "That message still waits for its place; it cannot be changed before it has it."
WAITS_UNANSWERED: Final = (
    "That message still waits for its place; it cannot be answered before it has it."
)
QUOTED_CELLS: Final = 40
"""Of a message that others react to: enough to know it again."""


async def edit_of(history: History, channel: ChannelId, message_id: MessageId, text: str) -> Edit:
    """Return the edit of an own message.

    Raises:
        LocalError: it is not here, not ours, or deleted.
    """
    await own_line(history, channel, message_id, "edit")
    return Edit(message_id, text)


async def redaction_of(
    history: History, channel: ChannelId, message_id: MessageId, *, hides_others: bool = False
) -> Redaction:
    """Return what hides a message: an own one, or anybody's if we may hide those of others.

    Raises:
        LocalError: it is not here, deleted already, or not ours to hide.
    """
    if hides_others:
        await _line(history, channel, message_id)
    else:
        await own_line(history, channel, message_id, "delete")
    return Redaction(message_id)


async def refuse_answering(history: History, channel: ChannelId, message_id: MessageId) -> None:
    """Stop a reply to what cannot be answered; a deleted message still can.

    Raises:
        LocalError: it is not here, waits for its place, or is an act of governance.
    """
    await _there(history, channel, message_id, WAITS_UNANSWERED)


async def toggled(
    history: History, channel: ChannelId, message_id: MessageId, emoji: str
) -> Reactions:
    """Return our reactions to a message with `emoji` among them, or without if it was there.

    Raises:
        LocalError: the message is not here, or deleted.
    """
    line = await _line(history, channel, message_id)
    ours = {reaction.emoji for reaction in line.reactions if reaction.mine}
    return Reactions(message_id, tuple(sorted(ours ^ {emoji})))


def in_words(line: Line) -> str:
    """Return the text of a message with what changes have made of it, on one or more lines."""
    text = clean_text(line.text)
    if line.hidden_by is not None:
        text = hidden_by(plainly_called(*line.hidden_by))
    elif line.deleted:
        text = DELETED
    if line.late is Lateness.FOLDED and not line.deleted:
        return FOLDED
    edited = f" {EDITED}" if line.edited else ""
    edited += f" {LATE}" if line.late is Lateness.BEYOND else ""
    reactions = summary_of(line, UNICODE)
    return f"{text}{edited}" + (f" [{', '.join(reactions)}]" if reactions else "")


def announced(event: LineChanged, who: str) -> list[str]:
    """Return sentences about how a message looks different now; `who` wrote it."""
    line = event.line
    when = time_of_day(line.created_ns)
    sentences: list[str] = []
    if event.rewritten and line.hidden_by is not None:
        by = plainly_called(*line.hidden_by)
        sentences.append(f"The message of {who} of {when} was {hidden_by(by)}.")
    elif event.rewritten and line.deleted:
        sentences.append(f"{who} deleted their message of {when}.")
    elif event.rewritten and line.edited:
        sentences.append(f"{who} edited their message of {when}: {clean_text(line.text)}")
    elif event.rewritten:
        sentences.append(f"The message of {who} of {when} is as before: {clean_text(line.text)}")
    if event.reacted and not line.deleted:
        reactions = ", ".join(summary_of(line, UNICODE)) or "none any more"
        quote = quoted(line.text)
        sentences.append(f'Reactions to the message of {who} of {when}, "{quote}": {reactions}.')
    return sentences


def quoted(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return clip_cells(" ".join(clean_text(text).split()), QUOTED_CELLS)


async def own_line(history: History, channel: ChannelId, message_id: MessageId, what: str) -> Line:
    """Return an own message, of which we want to do `what`.

    Raises:
        LocalError: it is not here, not ours, or deleted.
    """
    line = await _line(history, channel, message_id)
    if not line.own:
        raise LocalError(
            f"That message is {clean_nick(line.nick)}'s; only its author can {what} it."
        )
    return line


async def _line(history: History, channel: ChannelId, message_id: MessageId) -> Line:
    line = await _there(history, channel, message_id, WAITS)
    if line.deleted:
        raise LocalError("That message is deleted; it can no longer be changed.")
    return line


async def _there(history: History, channel: ChannelId, message_id: MessageId, waiting: str) -> Line:
    """Return a delivered message; `waiting` says of one that waits why nothing is done with it.

    Raises:
        LocalError: it is not here, waits for its place, or is an act of governance.
    """
    found = await history.named(channel, message_id, limit=1)
    if not found:
        why = await history.answered(channel, [message_id])
        raise LocalError(waiting if why.get(message_id) is Unshown.WAITS else NOT_HERE)
    if found[0].act is not None:
        raise LocalError("That is an act of governance, no message: it stays as it is.")
    return found[0]
