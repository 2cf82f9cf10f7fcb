"""The protocol log of one start of one node, while it is in memory: rows for what is let out.

`handled` notes what a machine made of an input, before anything of it is on the disk; `let_out`
makes rows of that once it is committed, and `drop` forgets it where the commit failed. Somebody
takes the rows about once a second and writes them down.

Rules:
1. Nothing is put into words or converted here: a note costs the live chat a microsecond.
2. Rows that nobody takes in time are dropped, oldest first, and leave a hole in `seq`.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from sync.group import values
from sync.group.group import Group
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.runner.log_notes import Chunk, Details, Note, short
from sync.runner.log_rows import LogKind, Route
from sync.runner.session_log import ON_STREAMS, SessionLog
from sync.sds.message import Delivery

WAITING_MAX: Final = 50_000
"""Rows that may wait to be taken: some 10 MB, and ten seconds of the fastest synchronisation."""

MISSING_MAX: Final = 16_384
"""Missing messages remembered until they come: four times what one channel looks for at once."""

LINKS_MAX: Final = 16_384
"""Links remembered, of all channels together; more are not noted."""

REFUSED_MAX: Final = 16
"""Refusals noted of one turn: a log is not for strangers to fill."""

MARKS: Final = {
    Delivery.POSSIBLY_ACKNOWLEDGED: LogKind.POSSIBLY_ACKNOWLEDGED,
    Delivery.ACKNOWLEDGED: LogKind.ACKNOWLEDGED,
    Delivery.FAILED: LogKind.FAILED,
}

HELD_BACK: Final = frozenset({values.Status.WAITING, values.Status.LOADING})
"""Status of a stored message that waits for others: for missing ones, or for some on their way."""

BRINGING: Final = (values.Arrived, values.Transferred, values.Retrieved, values.SessionPayload)
LINKS: Final = frozenset({values.PeerJoined, values.PeerGone})
# members of an enumeration are looked up slowly, and these are needed for every message
BROADCAST: Final = Route.BROADCAST
ANSWER: Final = Route.ANSWER
TRANSFER: Final = Route.TRANSFER
ENTRY: Final = Route.ENTRY
LIVE: Final = Route.LIVE
RECEIVED: Final = LogKind.RECEIVED
DELIVERED: Final = LogKind.DELIVERED

SILENT: Final = frozenset({values.SetDelivery, values.SetStatus, values.Written})
"""The most frequent of the effects that mean nothing here: other effects tell of the same."""

OF_NO_MESSAGE: Final = ON_STREAMS | LINKS
FROM_A_PEER: Final = (values.Arrived, values.Transferred)


class Logbook:
    """See the module docstring. `room` is how many rows may wait to be taken.

    `anchor` is the lead of the node's time over the monotonic clock of its computer; None where
    nobody knows.
    """

    def __init__(
        self, room: int = WAITING_MAX, *, on: bool = True, anchor: Nanos | None = None
    ) -> None:
        self.anchor = anchor
        self._room = room
        self._on = on
        self._seq = 0
        self._notes: list[Note] = []
        self._lacking: deque[tuple[int, int]] = deque()
        """Lamport time and frame size of what was loaded to be let out, in order."""
        self._chunks: deque[Chunk] = deque()
        self._waiting = 0
        self._missing: dict[MessageId, None] = {}
        """Messages noted as missing that have not come."""
        self._sessions = SessionLog()
        self._linked: dict[tuple[ChannelId, PeerId], None] = {}
        """Noted as linked."""
        self._refused = 0
        """Refusals among the notes that wait to be let out."""

    @property
    def on(self) -> bool:
        """True if notes are taken. Events while it is off show as a hole of one row."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        if on != self._on:
            self._on = on
            self._linked.clear()
            self._seq += on and self._seq > 0

    # --- What happens --------------------------------------------------------------------------

    def handled(
        self,
        channel: ChannelId,
        group: Group,
        event: values.Input,
        effects: Sequence[values.Effect],
    ) -> None:
        """Note what an input came to."""
        if not self._on:
            return
        copy, kind = group.copy, type(event)
        peer = self._from(event)
        notes = self._notes
        if copy is not None and isinstance(event, BRINGING):
            size = len(event.payload)
            route = (
                None
                if peer is None
                else self._route(group, event, peer, copy.message_id, copy.sender_id)
            )
            notes.append(
                Note(
                    channel, LogKind.DUPLICATE, peer, copy.message_id, copy.lamport, size, route
                )
            )  # fmt: skip
        if kind in OF_NO_MESSAGE:
            if kind in LINKS:
                self._on_link(channel, event)
            else:
                self._sessions.came(channel, group, event, effects, notes)
        if effects:
            self._note_effects(channel, group, event, peer, effects)
        for entry in group.asked:
            notes.append(
                Note(channel, LogKind.REPAIR_REQUESTED, None, entry.message_id, None, None)
            )

    def decided(
        self, channel: ChannelId, peer: PeerId, protocol: str, why: str, estimate: int
    ) -> None:
        """Note that the manager begins a session, and the cost in bytes that it expects."""
        if self._on:
            details = Details(protocol=protocol, estimate=estimate, reason=short(why))
            self._notes.append(
                Note(channel, LogKind.DECIDED, peer, None, None, None, None, details)
            )

    def refused(self, channel: ChannelId, peer: PeerId | None, reason: str) -> None:
        """Note a refusal, unless very many wait already."""
        if self._on and self._refused < REFUSED_MAX:
            self._refused += 1
            details = Details(reason=short(reason))
            self._notes.append(
                Note(channel, LogKind.REFUSED, peer, None, None, None, None, details)
            )

    def loaded(self, lamport: int, size: int) -> None:
        """Something stored is let out that the machines only named: what is noted of it lacks this.

        Called in the order of the effects that name it, before `let_out`.
        """
        if self._notes:
            self._lacking.append((lamport, size))

    def let_out(self, at: Nanos) -> None:
        """Let out the notes, whose commit and release happened at the node's time `at`."""
        notes = self._notes
        if notes:
            self._notes = []
            if self._lacking:
                notes = list(self._completed(notes))
            self._chunks.append((at, self._seq + 1, notes))
            self._seq += len(notes)
            self._waiting += len(notes)
            while self._waiting > self._room:
                self._waiting -= len(self._chunks.popleft()[2])
            self._refused = 0
        self._lacking.clear()

    def drop(self) -> None:
        """Discard the notes of a turn whose commit failed, as if nothing had happened."""
        for note in self._notes:
            if note.message_id is not None and note.kind is LogKind.MISSING:
                self._missing.pop(note.message_id, None)
            elif note.message_id is not None and note.kind is LogKind.REPAIRED:
                self._miss(note.message_id)
        self._notes.clear()
        self._lacking.clear()
        self._refused = 0
        self._linked.clear()  # the links of now are told again

    @property
    def waiting(self) -> int:
        """Number of rows that were let out and not taken yet."""
        return self._waiting

    def take_chunks(self, most: int | None = None) -> list[Chunk]:
        """Return the rows that were let out and not taken yet; of many the first `most`."""
        if most is None or self._waiting <= most:
            chunks, self._waiting = list(self._chunks), 0
            self._chunks.clear()
            return chunks
        chunks = []
        self._waiting -= most
        while most:
            at, first, notes = self._chunks.popleft()
            if len(notes) > most:
                self._chunks.appendleft((at, first + most, notes[most:]))
                notes = notes[:most]
            chunks.append((at, first, notes))
            most -= len(notes)
        return chunks

    def _completed(self, notes: Sequence[Note]) -> Iterator[Note]:
        for note in notes:
            if note.lamport is None and note.kind in LOADED and self._lacking:
                lamport, size = self._lacking.popleft()
                if note.kind is LogKind.DELIVERED:
                    yield replace(note, lamport=lamport)
                else:
                    yield replace(note, lamport=lamport, size=size)
            else:
                yield note

    # --- Messages ------------------------------------------------------------------------------

    def _note_effects(
        self,
        channel: ChannelId,
        group: Group,
        event: values.Input,
        peer: PeerId | None,
        effects: Sequence[values.Effect],
    ) -> None:
        own: tuple[MessageId, int] | None = None
        delivered: MessageId | None = None
        told_by: PeerId | None = None
        notes = self._notes
        for effect in effects:
            if type(effect) in SILENT:
                continue
            match effect:
                case values.StoreMessage(stored, status):
                    header, message_id = stored.entry.header, stored.entry.message_id
                    if type(event) is values.Write:
                        own = (message_id, header.lamport)
                        continue
                    size = len(event.payload) if isinstance(event, BRINGING) else None
                    route = (
                        None
                        if peer is None
                        else self._route(group, event, peer, message_id, header.author)
                    )
                    lamport = header.lamport
                    notes.append(Note(channel, RECEIVED, peer, message_id, lamport, size, route))
                    if status in HELD_BACK:
                        notes.append(
                            Note(channel, LogKind.BUFFERED, peer, message_id, lamport, None)
                        )
                case values.Deliver(message_id, entry):
                    delivered = message_id
                    own_time = None if entry is None else entry.header.lamport
                    notes.append(Note(channel, DELIVERED, None, message_id, own_time, None))
                case values.Broadcast(payload) if own is not None:
                    notes.append(Note(channel, LogKind.SENT, None, *own, len(payload), BROADCAST))
                    own = None
                case values.DeliveryChanged(message_id, delivery):
                    mark = MARKS.get(delivery)
                    if mark is not None:  # one message may acknowledge dozens of ours
                        told_by = told_by or self._told_by(group, event, effects)
                        notes.append(Note(channel, mark, told_by, message_id, None, None))
                case values.Found(message_id, True):
                    notes.append(Note(channel, LogKind.LOST, None, message_id, None, None))
                case values.Found(message_id):
                    if self._came(message_id, delivered, group):
                        notes.append(Note(channel, LogKind.REPAIRED, peer, message_id, None, None))
                case _:
                    self._note_effect(channel, group, event, effect)

    def _note_effect(
        self, channel: ChannelId, group: Group, event: values.Input, effect: values.Effect
    ) -> None:
        """Note an effect of a rarer kind."""
        notes = self._notes
        match effect:
            case values.BroadcastStored(message_id, None):
                given = group.sds.repairs.answering.given.get(message_id)
                asker = None if given is None else given.requester
                answered = LogKind.REPAIR_ANSWERED
                notes.append(Note(channel, answered, asker, message_id, None, None, ANSWER))
            case values.BroadcastStored(message_id):
                notes.append(Note(channel, LogKind.SENT, None, message_id, None, None, BROADCAST))
            case values.Missing(message_id):
                self._miss(message_id)
                peer = self._from(event)
                notes.append(Note(channel, LogKind.MISSING, peer, message_id, None, None))
            case (
                values.OpenSession()
                | values.SessionEnded()
                | values.SendPayload()
                | values.LiveBegan()
            ):
                self._sessions.went(channel, event, effect, notes)
            case values.Refused(refused, reason):
                self.refused(channel, refused, reason)
            case _:
                pass  # it means nothing to others

    def _from(self, event: values.Input) -> PeerId | None:
        """Return the peer whose link or session an input came on."""
        if isinstance(event, FROM_A_PEER):
            return event.peer
        return self._sessions.peer(event.session) if type(event) is values.SessionPayload else None

    def _route(
        self,
        group: Group,
        event: values.Input,
        peer: PeerId,
        message_id: MessageId,
        author: PeerId,
    ) -> Route:
        """Return the way a message came: others than its author send it only when asked."""
        if type(event) is values.Transferred:
            return TRANSFER
        if type(event) is values.SessionPayload:
            return LIVE if group.sessions.is_live(event.session) else ENTRY
        if peer != author or message_id in self._missing:
            return ANSWER
        return BROADCAST

    def _on_link(self, channel: ChannelId, event: values.Input) -> None:
        """Note that there is a link where there was none, or none any more."""
        assert isinstance(event, values.PeerJoined | values.PeerGone)
        place = channel, event.peer
        if isinstance(event, values.PeerGone):
            kind = LogKind.LINK_DOWN
            self._linked.pop(place, None)
        elif place in self._linked or len(self._linked) >= LINKS_MAX:
            return
        else:
            kind = LogKind.LINK_UP
            self._linked[place] = None
        self._notes.append(Note(channel, kind, event.peer, None, None, None))

    def _miss(self, message_id: MessageId) -> None:
        self._missing[message_id] = None
        if len(self._missing) > MISSING_MAX:
            del self._missing[next(iter(self._missing))]

    def _came(self, message_id: MessageId, delivered: MessageId | None, group: Group) -> bool:
        """Return whether a found message was noted as missing and is here.

        Others may have waited for what waited here itself; and what is older than what we take
        counts as found though it never comes.
        """
        if message_id not in self._missing:
            return False
        del self._missing[message_id]
        return message_id == delivered or message_id in group.aside

    def _told_by(
        self, group: Group, event: values.Input, effects: Sequence[values.Effect]
    ) -> PeerId | None:
        """Return who wrote what acknowledges a message; a sync message comes from who wrote it."""
        for effect in effects:
            if type(effect) is values.StoreMessage:
                return effect.message.entry.header.author
        if group.copy is not None:
            return group.copy.sender_id
        return self._from(event)


LOADED: Final = frozenset({LogKind.SENT, LogKind.REPAIR_ANSWERED, LogKind.DELIVERED})
"""Kinds noted of messages that may have to be loaded first."""
