"""The author, and our own entries in a channel: sealed, and remembered until others have them."""

import hashlib
from collections.abc import Callable, Collection, Set

from msgspec import Struct

from sync.entries.entry import Header, Kind, seal
from sync.group import values
from sync.group.author_log import AuthorLog
from sync.group.ingest import Gate, Verify, parents_of
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds import events as sds
from sync.sds.message import HistoryEntry, Limits, Message
from sync.structures.ordered_set import SyncId

FORGET_FROM = 1024
"""Own messages from which on those that are acknowledged are forgotten, all at once."""


class Author(Struct, frozen=True):
    """Identity that writes here. The system's random numbers come in through `draw_log`."""

    me: PeerId
    sign: Callable[[bytes], bytes]
    verify: Verify
    draw_log: Callable[[], int]
    gate_of: Callable[[ChannelId], Gate] | None = None
    """Makes the gate of a channel; without it each group has one of its own, as live nodes do."""

    gates: type[Gate] = Gate
    """Class of these."""

    retention: Nanos | None = None
    """Age beyond which nothing is compared with others or taken from them; None: everything is."""

    def gate(self, channel: ChannelId, limits: Limits, *, governed: bool = False) -> Gate:
        """Return the gate of a channel."""
        if self.gate_of is not None:
            return self.gate_of(channel)
        return self.gates.of(channel, self.verify, limits, governed=governed)

    def draw_salt(self) -> bytes:
        """Return 16 fresh random bytes."""
        return b"".join([self.draw_log().to_bytes(8, "big") for _ in range(2)])


class Writer:
    """Seals what the person writes, in one author log."""

    def __init__(
        self,
        me: PeerId,
        channel: ChannelId,
        gate: Gate,
        sign: Callable[[bytes], bytes],
    ) -> None:
        self.log = AuthorLog(0)
        self.created_ns: Nanos = 0
        """The newest time any entry of ours has."""
        self.lamport = 0
        """The highest Lamport time of those written in this run."""
        self.cut: tuple[bytes, ...] = ()
        """Heads of governance that the next entry names."""
        self.stamp: Nanos = 0
        """The reference clock, for the next entry."""
        self.sealed: values.StoredMessage | None = None
        """Entry sealed last and not yet taken."""
        self._me = me
        self._channel = channel
        self._gate = gate
        self._sign = sign
        self._waiting: dict[MessageId, SyncId] = {}
        self._changes: set[MessageId] = set()
        """Those of them that change another message: nobody sees them as messages."""

    def restore(self, state: values.ChannelState) -> None:
        """Take up where the disk left off."""
        self.log = AuthorLog(state.log_number, state.own_log)
        self.created_ns = state.own_created_ns
        self._waiting = {
            own.message_id: SyncId(own.created_ns, own.waku_hash) for own in state.outgoing
        }
        self._changes = {own.message_id for own in state.outgoing if own.kind != Kind.TEXT}

    @property
    def next_created_ns(self) -> Nanos:
        """The time that the next entry gets."""
        return max(self.stamp, self.created_ns + 1)

    def seal(self, lamport: int, history: tuple[HistoryEntry, ...], body: object) -> sds.Sealed:
        """Make the next entry of our log (PROTOCOL 2); stamped with the reference clock."""
        assert isinstance(body, values.Write)
        backlink, skiplink = self.log.links()
        header = Header(
            author=self._me,
            channel_id=self._channel,
            log=self.log.number,
            seq=self.log.next_seq,
            backlink=backlink,
            skiplink=skiplink,
            created_ns=self.next_created_ns,
            lamport=lamport,
            parents=parents_of(history),
            kind=body.kind,
            body_size=len(body.body),
            body_hash=hashlib.sha256(body.body).digest(),
            governance=self.cut,
        )
        entry = seal(header, body.body, self._sign)
        message = Message(
            sender_id=self._me,
            message_id=entry.message_id,
            channel_id=self._channel,
            lamport=lamport,
            causal_history=history,
            content=entry.content,
        )
        self.sealed = self._gate.store(entry, message)
        return sds.Sealed(entry.message_id, entry.content, self.sealed.waku_hash)

    def take_pending(self, pending: Collection[MessageId]) -> values.StoredMessage:
        """Return what was sealed: it is in our log now; `pending` waits for acknowledgement."""
        stored, self.sealed = self.sealed, None
        assert stored is not None
        message_id, header = stored.entry.message_id, stored.entry.header
        self.log.append(message_id)
        self.created_ns = header.created_ns
        self.lamport = header.lamport
        self._waiting[message_id] = SyncId(header.created_ns, stored.waku_hash)
        if header.kind != Kind.TEXT:
            self._changes.add(message_id)
        if len(self._waiting) > 2 * len(pending) + FORGET_FROM:
            self._waiting = {id_: self._waiting[id_] for id_ in pending if id_ in self._waiting}
            self._changes &= self._waiting.keys()
        return stored

    def changes_among(self, pending: Set[MessageId]) -> int:
        """Return how many of `pending` change another message."""
        return len(self._changes & pending)

    def held_by(
        self, pending: Collection[MessageId], floor: Nanos, holds: Callable[[SyncId], bool]
    ) -> tuple[MessageId, ...]:
        """Return those of `pending` that somebody holds who has proved it (from `floor` on)."""
        known = [(id_, self._waiting[id_]) for id_ in pending if id_ in self._waiting]
        return tuple([id_ for id_, one in known if one.timestamp >= floor and holds(one)])
