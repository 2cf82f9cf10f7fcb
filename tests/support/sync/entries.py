"""Builders of signed messages, as they stand in a channel: whole author logs, written by name."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from sync.entries.entry import Header, Kind, Parent, Text, encode_text, lipmaa, seal
from sync.entries.identity import Identity
from sync.group.values import StoredMessage
from sync.machine import MILLISECOND, ChannelId, MessageId, Nanos
from sync.sds.message import HistoryEntry, Message
from sync.sds.wire import encode_canonical
from sync.waku.message import (
    TIMESTAMP_MAX,
    WakuMessage,
    content_topic,
    deterministic_hash,
    pubsub_topic,
)

CHANNEL = ChannelId("c0" * 16)


def identity(name: str) -> Identity:
    """The identity that belongs to `name` in every test."""
    seeds = [hashlib.sha256(f"{use} {name}".encode()).digest() for use in ("signing", "noise")]
    return Identity.from_seed(*seeds)


@dataclass
class Author:
    """Somebody with a log in a channel; `entries` are all they wrote there, seq 1 first."""

    name: str
    channel: ChannelId = CHANNEL
    log: int = 1
    entries: list[StoredMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.identity = identity(self.name)
        self.peer_id = self.identity.peer_id

    def fork(self) -> "Author":
        """The same author and log, going on elsewhere without knowing of it."""
        return Author(self.name, self.channel, self.log, list(self.entries))

    def write(
        self,
        text: str = "hello",
        *,
        after: Sequence[StoredMessage] = (),
        lamport: int | None = None,
        created_ns: Nanos | None = None,
        kind: int = Kind.TEXT,
        body: bytes | None = None,
        governance: Sequence[bytes] = (),
    ) -> StoredMessage:
        """The next entry of the log, with the messages of `after` as its causal history.

        Its Lamport time is one above all it knows, and its wall clock that many milliseconds.
        """
        if body is None:
            body = encode_text(Text(self.name, text))
        if lamport is None:
            known = [message.entry.header.lamport for message in (*self.entries[-1:], *after)]
            lamport = max(known, default=0) + 1
        seq = len(self.entries) + 1
        skipped = lipmaa(seq)
        header = Header(
            author=self.peer_id,
            channel_id=self.channel,
            log=self.log,
            seq=seq,
            backlink=self._id_at(seq - 1),
            skiplink=None if skipped == seq - 1 else self._id_at(skipped),
            created_ns=lamport * MILLISECOND if created_ns is None else created_ns,
            lamport=lamport,
            parents=tuple([_parent(message) for message in after]),
            kind=kind,
            body_size=len(body),
            body_hash=hashlib.sha256(body).digest(),
            governance=tuple(sorted(governance)),
        )
        message = _stored(header, body, self.identity)
        self.entries.append(message)
        return message

    def _id_at(self, seq: int) -> MessageId | None:
        return self.entries[seq - 1].entry.message_id if seq else None


def _parent(message: StoredMessage) -> Parent:
    return Parent(message.entry.message_id, message.entry.header.author, message.waku_hash)


def _stored(header: Header, body: bytes, author: Identity) -> StoredMessage:
    entry = seal(header, body, author.sign)
    payload = encode_canonical(
        Message(
            sender_id=header.author,
            message_id=entry.message_id,
            channel_id=header.channel_id,
            lamport=header.lamport,
            causal_history=tuple(
                [
                    HistoryEntry(parent.message_id, parent.waku_hash, parent.author)
                    for parent in header.parents
                ]
            ),
            content=entry.content,
        )
    )
    return StoredMessage(header.channel_id, entry, _waku_hash(header, payload), payload)


def _waku_hash(header: Header, payload: bytes) -> bytes:
    if header.created_ns > TIMESTAMP_MAX:
        # Waku has no such time; the tables must keep it in order all the same.
        return hashlib.sha256(payload).digest()
    return deterministic_hash(
        pubsub_topic(header.channel_id),
        WakuMessage(payload, content_topic(header.channel_id), header.created_ns),
    )
