"""Pins of messages in memory, and who has read them, from the state of a channel."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Row
from chat_tui.wording import sentences
from sync.machine import MessageId
from sync.view.view import ChannelInfo, Position, Snapshot

READERS_NAMED: Final = 6
"""Readers named under a line; the details of the message name all."""


def pinned(info: ChannelInfo) -> frozenset[MessageId]:
    """Return the messages that are pinned."""
    return frozenset(one.message_id for one in info.state.pins)


def read_by(snapshot: Snapshot, info: ChannelInfo, rows: Sequence[Row]) -> Mapping[MessageId, str]:
    """Return the line under own messages: under the newest that each reader has read, their names.

    A reader whose mark is before all own messages in memory has none.
    """
    marks = [
        ((one.lamport, one.message_id), one.peer)
        for one in info.state.reads
        if one.peer != snapshot.me
    ]
    if not marks:
        return {}
    readers: defaultdict[MessageId, list[str]] = defaultdict(list)
    marks.sort(reverse=True)
    for row in reversed(rows):
        line = row.line
        if not line.own or row.dim or line.act is not None or line.deleted:
            continue
        reached = [one for one in marks if one[0] >= line.position]
        for _, peer in reached:
            readers[line.message_id].append(sentences.name_of(snapshot, peer))
        marks = marks[len(reached) :]
        if not marks:
            break
    return {message_id: words(sorted(names)) for message_id, names in readers.items()}


def read_of_others(held: Conversation) -> Position | None:
    """Return up to which line of somebody else a conversation is read; None if there is none."""
    read_to = held.read_to
    if read_to is None:
        return None
    for row in reversed(held.rows):
        line = row.line
        if line.own or row.dim or line.act is not None or line.position > read_to:
            continue
        return line.position
    return None


def words(names: Sequence[str]) -> str:
    """Return who has read, as it stands under a message."""
    named = ", ".join(names[:READERS_NAMED])
    more = len(names) - READERS_NAMED
    return f"read by {named}" + (f" and {more:,} more" if more > 0 else "")
