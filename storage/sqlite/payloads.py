"""Stored messages, read again: the bytes are those that were checked on their one way in."""

from functools import lru_cache
from typing import Final

from sync.entries.changes import Change
from sync.entries.changes import decode as decode_change
from sync.entries.entry import Entry, Kind, open_content
from sync.errors import DecodeError, StorageError
from sync.sds.message import Message

REACTIONS_KNOWN: Final = 1024
"""Bodies of reactions kept parsed, half a kilobyte each at most: those to a message are all read
again for each further one."""


def message_of(payload: bytes) -> Message:
    """Return the SDS message that was stored.

    Raises:
        StorageError: it is not what was stored.
    """
    from sync.sds.wire import decode  # noqa: PLC0415  # protobuf: a first paint needs none

    try:
        return decode(payload)
    except DecodeError as error:
        raise _damaged(error) from error


def entry_of(payload: bytes) -> Entry:
    """Return the entry that was stored.

    Raises:
        StorageError: it is not what was stored.
    """
    try:
        return open_content(message_of(payload).content)
    except DecodeError as error:
        raise _damaged(error) from error


def change_in(kind: int, body: bytes) -> Change:
    """Return the change that an entry was noted for.

    Raises:
        StorageError: it is not what was stored.
    """
    try:
        return _reactions_in(body) if kind == Kind.REACTION else decode_change(kind, body)
    except DecodeError as error:
        raise _damaged(error) from error


@lru_cache(REACTIONS_KNOWN)
def _reactions_in(body: bytes) -> Change:
    return decode_change(Kind.REACTION, body)


def _damaged(error: DecodeError) -> StorageError:
    """Only whole messages were stored, so the disk or somebody else has changed one."""
    return StorageError(
        f"A stored message is damaged ({error}): put the profile's chat.db back from a backup, "
        "or move it away and join your channels again; what others hold comes back from them."
    )
