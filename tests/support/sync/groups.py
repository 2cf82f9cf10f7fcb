"""Builders for the tests of a group: a member with a disk, and what it is told."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec.structs import replace

from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import Identity, verify
from sync.group import group as machine
from sync.group import values
from sync.group.ingest import Gate, Verify
from sync.group.writer import Author
from sync.machine import MILLISECOND, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.registry import PROTOCOLS
from sync.sds.message import HistoryEntry, Message
from sync.sds.parameters import LAN
from sync.sds.wire import encode
from sync.sessions.protocol import Protocols
from sync.sim.disk import Disk
from tests.support.sync.entries import CHANNEL, identity

NOW: Nanos = 1_763_700_000 * SECOND
NOW_MS = NOW // MILLISECOND
EffectT = TypeVar("EffectT", bound=values.Effect)


@dataclass
class Member:
    """A participant: its group, and the disk that every record goes to at once."""

    name: str
    disk: Disk = field(init=False)
    group: machine.Group = field(init=False)
    drawn: int = 100
    retention: Nanos | None = None
    protocols: Protocols = PROTOCOLS
    in_steps: bool = False
    """Whether a session is told to go on by whoever tells it, and not at once."""
    channel: ChannelId = CHANNEL
    identity_of: Callable[[str], Identity] = identity
    governed: bool = False
    anybody: bool = False
    gates: type[Gate] = Gate
    verify: Verify = verify

    def __post_init__(self) -> None:
        self.identity = self.identity_of(self.name)
        self.peer_id = self.identity.peer_id
        self.disk = Disk(self.peer_id, log_number=1)
        self.start()

    def start(self) -> list[values.Effect]:
        """Begin anew from the disk."""
        author = Author(
            self.peer_id,
            self.identity.sign,
            self.verify,
            self._draw_log,
            gates=self.gates,
            retention=self.retention,
        )
        self.group = machine.Group(
            author,
            self.channel,
            LAN,
            random.Random(0),
            protocols=self.protocols,
            governed=self.governed,
            anybody=self.anybody,
        )
        return self.tell(values.Restored(self.disk.restore()))

    def tell(self, event: values.Input, now: Nanos = NOW) -> list[values.Effect]:
        """Give the group an input, and the disk the records that come of it."""
        effects = list(self.group.handle(event, now))
        while not self.in_steps and (going_on := only(values.Continue, effects)):
            effects = [one for one in effects if one not in going_on]
            for one in going_on:
                effects += self.group.handle(one, now)
        self.disk.commit([effect for effect in effects if isinstance(effect, values.Record)])
        return effects

    def hear(self, sent: values.StoredMessage, now: Nanos = NOW) -> list[values.Effect]:
        """Receive a message on its author's own link."""
        return self.tell(values.Arrived(sent.entry.header.author, sent.payload), now)

    def write(self, text: str, now: Nanos = NOW) -> values.StoredMessage:
        """Write a line; returns it as it was stored."""
        event = values.Write(1, Kind.TEXT, encode_text(Text(self.name, text)))
        [stored] = only(values.StoreMessage, self.tell(event, now))
        return stored.message

    def join(self, *peers: PeerId) -> None:
        for peer in peers:
            self.tell(values.PeerJoined(peer))

    def advance(self, until: Nanos) -> list[values.Effect]:
        """Tick at every deadline up to `until`."""
        effects: list[values.Effect] = []
        while (due := self.group.deadline()) is not None and due <= until:
            effects += self.tell(Tick(), due)
        return effects

    def shown(self) -> list[str]:
        """Ids of the delivered messages, in the order of the log."""
        return [message_id for _, message_id in self.disk.log()]

    def _draw_log(self) -> int:
        self.drawn += 1
        return self.drawn


def only(kind: type[EffectT], effects: Sequence[values.Effect]) -> list[EffectT]:
    return [effect for effect in effects if isinstance(effect, kind)]


def sds_of(sent: values.StoredMessage) -> Message:
    """The SDS message around an entry, to be tampered with."""
    entry = sent.entry
    history = tuple(
        HistoryEntry(parent.message_id, parent.waku_hash, parent.author)
        for parent in entry.header.parents
    )
    return Message(
        entry.header.author,
        entry.message_id,
        CHANNEL,
        entry.header.lamport,
        history,
        content=entry.content,
    )


def name_of(sent: values.StoredMessage) -> HistoryEntry:
    """Return the history entry by which others name a message."""
    return HistoryEntry(sent.entry.message_id, sent.waku_hash, sent.entry.header.author)


def arrived(message: Message, link: PeerId) -> values.Arrived:
    return values.Arrived(link, encode(message))


def with_content(sent: values.StoredMessage, content: bytes) -> Message:
    return replace(sds_of(sent), content=content)
