"""Builders for the tests of SDS: a channel of named participants, and time."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId, Tick
from sync.sds.channel import Channel
from sync.sds.events import Broadcast, Connected, Effect, Received, Sealed, Send
from sync.sds.incoming import Content
from sync.sds.message import HistoryEntry, Message
from sync.sds.parameters import LAN, Parameters

NOW: Nanos = 1_763_700_000 * SECOND
NOW_MS = NOW // MILLISECOND
CHANNEL = ChannelId("c0" * 16)
EffectT = TypeVar("EffectT", bound=Effect)


def peer(name: str) -> PeerId:
    return PeerId(hashlib.sha256(name.encode()).hexdigest())


def message_id(name: str) -> MessageId:
    """The id of a message that nobody wrote."""
    return MessageId(hashlib.sha256(f"message {name}".encode()).hexdigest())


def named(*names: str) -> tuple[HistoryEntry, ...]:
    return tuple(HistoryEntry(message_id(name)) for name in names)


def outline(sent: Message) -> Content:
    """A message with content as the disk brings it back."""
    assert sent.lamport is not None
    hint = bytes.fromhex(sent.message_id)
    return Content(sent.message_id, sent.sender_id, sent.lamport, sent.causal_history, hint)


def channel(name: str, *, peers: int = 1, parameters: Parameters = LAN, seed: int = 0) -> Channel:
    """The channel of participant `name`, with `peers` connected."""
    me = peer(name)

    def seal(lamport: int, history: tuple[HistoryEntry, ...], body: object) -> Sealed:
        content = repr((me, lamport, history, body)).encode()
        digest = hashlib.sha256(content)
        return Sealed(MessageId(digest.hexdigest()), content, digest.digest())

    made = Channel(me, CHANNEL, parameters, seal, random.Random(seed))
    if peers:
        made.handle(Connected(peers), NOW)
    return made


def message(
    name: str,
    sender: str = "bob",
    after: Sequence[HistoryEntry] = (),
    lamport: int = 1_000,
    bloom_filter: bytes | None = None,
) -> Message:
    """A content message with an id of its own."""
    return Message(
        peer(sender), message_id(name), CHANNEL, lamport, tuple(after), bloom_filter,
        content=name.encode(),
    )  # fmt: skip


def sync_message(
    sender: str, naming: Sequence[HistoryEntry] = (), bloom_filter: bytes | None = None
) -> Message:
    return Message(peer(sender), message_id("sync"), CHANNEL, 5_000, tuple(naming), bloom_filter)


def received(sent: Message, *, from_author: bool = True) -> Received:
    via = sent.sender_id if from_author else None
    return Received(sent, bytes.fromhex(sent.message_id), from_author, via)


def say(speaker: Channel, text: str, now: Nanos = NOW) -> Message:
    """Let somebody write, and return what goes out."""
    [broadcast] = only(Broadcast, speaker.handle(Send(text), now))
    return broadcast.message


def hear(listener: Channel, sent: Message, now: Nanos = NOW) -> list[Effect]:
    """Let somebody receive a message on its author's own link."""
    return listener.handle(received(sent), now)


def only(kind: type[EffectT], effects: Sequence[Effect]) -> list[EffectT]:
    return [effect for effect in effects if isinstance(effect, kind)]


def advance(one: Channel, until: Nanos, since: Nanos = 0) -> list[tuple[Nanos, Effect]]:
    """Tick at every deadline from `since` up to `until`; returns when what happened."""
    happened: list[tuple[Nanos, Effect]] = []
    while (due := one.deadline()) is not None and due <= until:
        due = max(due, since)
        happened += [(due, effect) for effect in one.handle(Tick(), due)]
    return happened


def names(history: Sequence[HistoryEntry]) -> list[MessageId]:
    return [entry.message_id for entry in history]
