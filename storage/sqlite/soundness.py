"""Check that a stored message is unchanged on the disk: one SHA-256, 2 us for a usual line.

The Waku hash beside each message is over its bytes, its channel and its time. The other columns
that are shown or ordered by are compared with the bytes, at their ends: author, id, Lamport time
and size of the body.
"""

import hashlib
from binascii import hexlify
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from storage.sqlite.columns import message_id, to_u64
from sync.machine import ChannelId, MessageId
from sync.structures.codec import encode_uvarint
from sync.waku.topics import content_topic, pubsub_topic

CHANNELS_KNOWN: Final = 256
"""Topics kept ready; a person is in some ten channels."""

SENDER, MESSAGE, CHANNEL = b"\x0a\x40", b"\x12\x40", b"\x1a\x20"
"""Tags and lengths that canonical SDS bytes begin with: each id in hexadecimal characters."""
LAMPORT, BODY = b"\x50", b"\x1a"
"""Tags of the Lamport timestamp, which follows, and of the body, which is the end."""
SIGNATURE, SIGNED = b"\x12\x40", 66
"""Tag and length of the signature, and the bytes of all three: the end, where the body is empty."""

CLAIMS: Final = 8
"""Columns that `is_sound` takes, with which queries of messages begin."""

Place: TypeAlias = tuple[bytes, bytes]
"""A channel and the id of a message in it."""

Told: TypeAlias = Callable[[ChannelId, tuple[MessageId, ...]], None]


def is_sound(  # noqa: PLR0913, PLR0917  # the columns of a row
    channel: bytes,
    stored_id: bytes,
    author: bytes,
    lamport: int,
    created_ns: int,
    waku_hash: bytes,
    body_size: int,
    payload: bytes,
) -> bool:
    """Return whether these columns of a row, as read from the disk, are what was stored."""
    try:
        before, after, named = _around(channel)
        time = to_u64(created_ns).to_bytes(8, "big", signed=True)  # times of Waku messages are
        if hashlib.sha256(before + payload + after + time).digest() != waku_hash:
            return False
        whose = SENDER + hexlify(author) + MESSAGE + hexlify(stored_id) + named
        if not payload.startswith(whose + encode_uvarint(to_u64(lamport))):
            return False
        if body_size <= 0:
            return not body_size and payload[-SIGNED:].startswith(SIGNATURE)
        return payload.endswith(BODY + encode_uvarint(body_size), 0, len(payload) - body_size)
    except (OverflowError, TypeError):  # a time that no message has, or no longer a number at all
        return False


@lru_cache(CHANNELS_KNOWN)
def _around(channel: bytes) -> tuple[bytes, bytes, bytes]:
    """Return what the hash takes before and after a message, and how the message names these."""
    named = ChannelId(hexlify(channel).decode())
    return (
        pubsub_topic(named).encode(),
        content_topic(named).encode(),
        CHANNEL + named.encode() + LAMPORT,
    )


class Damage:
    """Messages found damaged and not yet set aside; watchers are told of them on the event loop."""

    def __init__(self) -> None:
        self._found: dict[Place, None] = {}
        self._told: list[Told] = []

    def watch(self, told: Told) -> None:
        """Have `told` hear of what is found, and of what was found before."""
        self._told.append(told)
        _tell(self._found, told)

    def note_damaged(self, places: Sequence[Place]) -> None:
        """These were found damaged; what is known already is told to nobody again."""
        fresh = [place for place in places if place not in self._found]
        self._found.update(dict.fromkeys(fresh))
        for told in self._told:
            _tell(fresh, told)

    def forget(self, places: Sequence[Place]) -> None:
        """These are set aside."""
        for place in places:
            self._found.pop(place, None)

    def __len__(self) -> int:
        return len(self._found)


def _tell(places: Iterable[Place], told: Told) -> None:
    by_channel: dict[ChannelId, list[MessageId]] = {}
    for channel, stored_id in places:
        by_channel.setdefault(ChannelId(channel.hex()), []).append(message_id(stored_id))
    for named, ids in by_channel.items():
        told(named, tuple(ids))
