"""One way in (PROTOCOL 3): from an SDS message to an entry that may be stored.

A refusal here is for good and for reasons in the bytes alone; so the order of arrival changes no
verdict.
"""

import re
from collections.abc import Callable
from typing import Self, TypeAlias

from msgspec import Struct

from sync.entries.columns import Columns, Signed, entry_of, open_columns
from sync.entries.entry import Entry, Header, Parent, open_content
from sync.errors import RemoteError
from sync.group.logs import place_of
from sync.group.records import Outline, StoredMessage
from sync.machine import ChannelId, Nanos, PeerId
from sync.sds.incoming import Content
from sync.sds.message import CONTENT_MAX, LAN_LIMITS, HistoryEntry, Kind, Limits, Message
from sync.sds.wire import content_in, decode, encode_canonical, encode_wrapped
from sync.sessions.protocol import Pushed, SyncProtocol
from sync.sessions.session import read_pushed
from sync.waku.message import (
    TIMESTAMP_MAX,
    WakuMessage,
    content_topic,
    deterministic_hash,
    hash_of,
    pubsub_topic,
)

Verify: TypeAlias = Callable[[PeerId, bytes, bytes], bool]
"""(author, signature, signed bytes) -> whether the author signed them."""

_is_id = re.compile(r"[0-9a-f]{64}").fullmatch


class Gate(Struct, frozen=True):
    """Checks of a channel's incoming messages; its topics are computed once."""

    channel: ChannelId
    pubsub_topic: str
    content_topic: str
    verify: Verify
    limits: Limits
    governed: bool = False
    """Whether entries name the cut of governance that their author saw: all do, or none."""

    @classmethod
    def of(
        cls,
        channel: ChannelId,
        verify: Verify,
        limits: Limits = LAN_LIMITS,
        *,
        governed: bool = False,
    ) -> Self:
        """Return the gate of `channel`, whose profile has `limits`."""
        topics = pubsub_topic(channel), content_topic(channel)
        return cls(channel, *topics, verify, limits, governed)

    def store(self, entry: Entry, message: Message) -> StoredMessage:
        """Return what is stored of a checked message, its Waku hash worked out (PROTOCOL 2)."""
        payload = encode_canonical(message)
        waku = WakuMessage(payload, self.content_topic, entry.header.created_ns)
        return StoredMessage(
            self.channel, entry, deterministic_hash(self.pubsub_topic, waku), payload
        )

    def wrap(self, columns: Columns, content: bytes) -> tuple[bytes, bytes]:
        """Return the payload and the Waku hash that `store` gives of a checked entry."""
        payload = encode_wrapped(
            columns.author,
            columns.message_id,
            columns.channel_id,
            columns.lamport,
            columns.parents,
            content,
        )
        pubsub, topic = self.pubsub_topic, self.content_topic
        return payload, hash_of(pubsub, topic, payload, columns.created_ns)

    def read(self, payload: bytes) -> Message:
        """Parse an SDS frame of this channel.

        Raises:
            RemoteError: malformed, over a limit, of another channel, or naming what is no id: an id
                goes from here to the disk and the screen.
        """
        message = decode(payload, self.limits)
        if message.channel_id != self.channel:
            raise RemoteError("a message of another channel came in this one")
        for entry in message.causal_history:
            if not _is_id(entry.message_id):
                raise RemoteError("the causal history names something that is no message id")
        for entry in message.repair_request:
            if not _is_id(entry.message_id):
                raise RemoteError("the repair request names something that is no message id")
        return message

    def check(self, message: Message) -> StoredMessage:
        """Check a content message down to its signature.

        Raises:
            RemoteError: its entry is malformed, says other things than the message around it, or is
                not signed by its author.
        """
        entry = self.check_copy(message)
        if not self.verify(entry.header.author, entry.signature, entry.header_bytes):
            raise RemoteError("the signature is not its author's")
        return self.store(entry, message)

    def check_opened(self, entry: Entry) -> tuple[Message, StoredMessage]:
        """Check an entry that came by itself, opened; the message around it follows from it.

        Raises:
            RemoteError: of another channel, of no time of Waku's, or not signed by its author.
        """
        self.check_signed(entry)
        message = message_of(entry)
        return message, self.store(entry, message)

    def check_signed(self, entry: Entry) -> None:
        """Check an entry by itself, opened.

        Raises:
            RemoteError: as `check_opened`.
        """
        self._check_header(entry.header)
        if not self.verify(entry.header.author, entry.signature, entry.header_bytes):
            raise RemoteError("the signature is not its author's")

    def check_columns(self, signed: Signed) -> None:
        """Check an entry by itself, opened as columns.

        Raises:
            RemoteError: as `check_opened`.
        """
        columns = signed.columns
        self._check_claims(columns.channel_id.hex(), columns.created_ns, columns.governance)
        if not self.verify(PeerId(columns.author.hex()), signed.signature, signed.header_bytes):
            raise RemoteError("the signature is not its author's")

    def check_copy(self, message: Message) -> Entry:
        """Check all but the signature: enough for another copy of what is here already.

        Raises:
            RemoteError: as `check`, but for the signature.
        """
        entry = open_content(message.content)
        header = entry.header
        self._check_header(header)
        if (header.author, entry.message_id, header.lamport) != (
            message.sender_id,
            message.message_id,
            message.lamport,
        ):
            raise RemoteError("sender, id or Lamport timestamp differ from what was signed")
        if history_of(entry) != message.causal_history:
            raise RemoteError("the causal history differs from what was signed")
        return entry

    def _check_header(self, header: Header) -> None:
        """Check what a header says by itself.

        Raises:
            RemoteError: of another channel, of no time of Waku's, or with heads of governance where
                there is none, or without them where there is.
        """
        self._check_claims(header.channel_id, header.created_ns, header.governance)

    def _check_claims(self, channel: str, created_ns: Nanos, governance: tuple[bytes, ...]) -> None:
        if channel != self.channel:
            raise RemoteError("an entry of another channel")
        if created_ns >= TIMESTAMP_MAX:
            raise RemoteError("a time that no Waku message can have")
        if self.governed and not governance:
            raise RemoteError("an entry of a governed channel without heads of governance")
        if governance and not self.governed:
            raise RemoteError("heads of governance in a channel without governance")

    def read_pushed(self, protocol: SyncProtocol, frame: bytes) -> Pushed:
        """Return what a protocol says was pushed.

        Raises:
            RemoteError: malformed.
        """
        return read_pushed(protocol, frame)

    def read_transfer(self, waku: WakuMessage, topic: str) -> tuple[Message, StoredMessage]:
        """Check a message that came by transfer; its bytes must be the canonical ones.

        Raises:
            RemoteError: wrong topic or time, not canonical, or whatever `check` refuses.
        """
        if topic != self.pubsub_topic or waku.content_topic != self.content_topic:
            raise RemoteError("a transferred message of another topic")
        return self._open_wrapped(waku) or self.read_step_by_step(waku)

    def read_step_by_step(self, waku: WakuMessage) -> tuple[Message, StoredMessage]:
        """Check a transferred message of our topics, and say what is wrong with it.

        Raises:
            RemoteError: as `read_transfer`.
        """
        message = self.read(waku.payload)
        if message.kind is not Kind.CONTENT:
            raise RemoteError("only content messages are transferred")
        stored = self.check(message)
        if stored.payload != waku.payload or stored.entry.header.created_ns != waku.timestamp:
            raise RemoteError("a transferred message is not in its canonical form")
        return message, stored

    def _open_wrapped(self, waku: WakuMessage) -> tuple[Message, StoredMessage] | None:
        """Check a transferred message whose bytes are those that follow from its entry.

        All are, of honest peers. The message is not parsed then, and nothing is encoded twice,
        which takes half of the time. Returns None of any other message, and of one that is
        malformed: what is wrong with it is found out step by step.

        Raises:
            RemoteError: its entry is of another channel, or not signed by its author.
        """
        payload = waku.payload
        try:
            content = content_in(payload)
            signed = open_columns(content)
        except RemoteError:
            return None
        columns = signed.columns
        wrapped, waku_hash = self.wrap(columns, content)
        if (
            wrapped != payload
            or columns.created_ns != waku.timestamp
            or len(columns.parents) > self.limits.history
            or len(content) > CONTENT_MAX
        ):
            return None
        self.check_columns(signed)
        entry = entry_of(signed, content)
        return message_of(entry), StoredMessage(self.channel, entry, waku_hash, payload)


def message_of(entry: Entry) -> Message:
    """Return the SDS message around an entry: all that it says besides is in the header, signed.

    So the canonical bytes, and the Waku hash with them, are a function of the entry (PROTOCOL 2).
    """
    return Message(
        sender_id=entry.header.author,
        message_id=entry.message_id,
        channel_id=entry.header.channel_id,
        lamport=entry.header.lamport,
        causal_history=history_of(entry),
        content=entry.content,
    )


def history_of(entry: Entry) -> tuple[HistoryEntry, ...]:
    """Return the causal history that the header signs."""
    return tuple(
        [
            HistoryEntry(parent.message_id, parent.waku_hash, parent.author)
            for parent in entry.header.parents
        ]
    )


def parents_of(history: tuple[HistoryEntry, ...]) -> tuple[Parent, ...]:
    """Return a causal history of ours as the header signs it."""
    parents: list[Parent] = []
    for entry in history:
        assert entry.sender_id is not None
        assert entry.retrieval_hint is not None
        parents.append(Parent(entry.message_id, entry.sender_id, entry.retrieval_hint))
    return tuple(parents)


def outline_of(stored: StoredMessage) -> Outline:
    """Return a stored message without its content."""
    return outline_of_entry(stored.entry, stored.waku_hash)


def outline_of_entry(entry: Entry, waku_hash: bytes) -> Outline:
    """Return an entry, stored with this hash, without its content."""
    return Outline(
        message_id=entry.message_id,
        sender_id=entry.header.author,
        lamport=entry.header.lamport,
        created_ns=entry.header.created_ns,
        causal_history=history_of(entry),
        retrieval_hint=waku_hash,
        place=place_of(entry.header),
    )


def content_of(outline: Outline) -> Content:
    """Return a stored message as SDS knows it."""
    return Content(
        outline.message_id,
        outline.sender_id,
        outline.lamport,
        outline.causal_history,
        outline.retrieval_hint,
    )
