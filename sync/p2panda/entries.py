"""Entries as a session carries them: header and signature, and the body as operation.

Both together are the content of the SDS message that carries the entry (PROTOCOL 2): the body is
its last field, so the bytes are only cut in two.
"""

from sync.entries.entry import Entry as SignedEntry
from sync.entries.entry import encode_content, open_content
from sync.errors import DecodeError
from sync.p2panda.messages import Entry, Reason, ReplicationError


def entry_message(session: int, entry: SignedEntry) -> Entry:
    """Return the message that carries an entry."""
    signed = encode_content(entry.header_bytes, entry.signature, b"")
    return Entry(session, signed, entry.body)


def content_of(message: Entry) -> bytes:
    """Return the content of the entry that a message carries.

    Raises:
        ReplicationError: it has no operation.
    """
    if message.operation is None:
        raise ReplicationError(Reason.FIELDS, "an entry without its operation")
    return message.entry + encode_content(b"", b"", message.operation)


def open_entry(message: Entry) -> SignedEntry:
    """Return the entry that a message carries, checked but for its signature and its channel.

    Raises:
        ReplicationError: it has no operation, or is no entry in its one form.
    """
    content = content_of(message)
    try:
        return open_content(content)
    except DecodeError as error:
        raise ReplicationError(Reason.FIELDS, str(error)) from error
