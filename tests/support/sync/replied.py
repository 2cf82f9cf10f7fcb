"""Replies: texts that say which message they answer."""

from sync.entries.entry import Kind, Text, encode_text
from sync.group.values import StoredMessage
from sync.machine import MessageId
from tests.support.sync.entries import Author


def replied(
    author: Author, text: str, target: StoredMessage, *, named: bool = True, to: str = ""
) -> StoredMessage:
    """An entry that answers `target`, naming it among its parents unless told not to.

    With `to` it says that it answers that message, whatever it names.
    """
    answers = to or target.entry.message_id
    body = encode_text(Text(author.name, text, reply_to=answers))
    return author.write(kind=Kind.TEXT, body=body, after=[target] if named else [])


def nowhere() -> MessageId:
    """The id of a message that nobody ever wrote."""
    return MessageId("ab" * 32)
