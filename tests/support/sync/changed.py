"""Entries about other ones: edits, redactions, reactions, and texts that answer."""

from collections.abc import Sequence

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from sync.entries import changes
from sync.entries.changes import encode
from sync.entries.entry import Kind, Text, encode_text
from sync.group.values import StoredMessage
from sync.machine import MessageId
from tests.support.sync.entries import Author


def changed(
    author: Author,
    change: changes.Change,
    target: StoredMessage,
    *,
    lamport: int | None = None,
    named: bool = True,
    governance: Sequence[bytes] = (),
) -> StoredMessage:
    """An entry that changes `target`, naming it unless told not to."""
    return author.write(
        kind=changes.kind_of(change),
        body=encode(change),
        after=[target] if named else [],
        lamport=lamport,
        governance=governance,
    )


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


def released_body(data: bytes) -> Message:
    """Return a text's body as a program reads it whose schema ends before replies."""
    file = descriptor_pb2.FileDescriptorProto(name="released.proto", syntax="proto3")
    body = file.message_type.add(name="TextBody")
    for number, (name, kind) in enumerate((("nick", 9), ("text", 9), ("replaces", 12)), start=1):
        body.field.add(name=name, number=number, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    read = message_factory.GetMessageClass(pool.FindMessageTypeByName("TextBody"))
    return read.FromString(data)
