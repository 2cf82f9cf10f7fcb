"""Verdicts on messages that wait to be handled, found before their turn.

A verdict is a function of the bytes alone, so it may be found anywhere, also in a thread, and a
machine that asks for it gets the same. Where none was found, the gate finds it when it is asked.

Rules:
1. Nothing is foreseen that a machine would not check: no copies, nothing unwanted. Whether entries
   of a session are wanted is known where they are handled; it is on their account if they are not.
2. A gate knows verdicts on inputs that wait, and no others; `keep` forgets the rest.
3. `verdict_of` looks at no machine and changes nothing.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct, field

from sync.entries.entry import Entry, open_content
from sync.errors import RemoteError
from sync.group import values
from sync.group.ingest import Gate
from sync.group.machines import Machines
from sync.group.records import StoredMessage
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Kind, Message
from sync.sds.wire import claimed_ids
from sync.sessions.fetching import Expected
from sync.sessions.protocol import Pushed, SyncProtocol
from sync.structures.ordered_set import SyncId
from sync.waku.message import WakuMessage
from sync.waku.session import Transferred

EntriesIn: TypeAlias = Callable[[bytes], Sequence[bytes]]
"""See `sync.sessions.protocol.SyncProtocol.entries_in`."""


class Refusal(Struct, frozen=True):
    """A `RemoteError`, without the frames that it came through."""

    kind: type[RemoteError]
    text: str

    @classmethod
    def of(cls, error: RemoteError) -> "Refusal":
        """Return an error as a value."""
        return cls(type(error), str(error))

    def error(self) -> RemoteError:
        """Return the error anew."""
        return self.kind(self.text)


class Read(Struct, frozen=True):
    """Verdict on a frame of a link: what `Gate.read` gives of it, and `Gate.check` of that."""

    frame: bytes
    message: Message | Refusal
    checked: StoredMessage | Refusal | None
    """None where there is nothing to check."""

    @property
    def id(self) -> MessageId | None:
        """Id of the message, if it is one."""
        return self.message.message_id if isinstance(self.message, Message) else None


class Brought(Struct, frozen=True):
    """Verdict on a frame of a transfer: what is in it, and what `Gate.read_transfer` gives of it.

    `transferred` is what `pushed` holds.
    """

    frame: bytes
    pushed: Pushed
    transferred: Transferred
    opened: tuple[Message, StoredMessage] | Refusal

    @property
    def id(self) -> SyncId:
        """Id by which sessions want the message."""
        return self.pushed.sync_id


class Entries(Struct, frozen=True):
    """Verdict on a payload of a session: what `Gate.check_opened` gives of entries in it.

    By content, the first ones.
    """

    frame: bytes
    opened: tuple[tuple[bytes, tuple[Message, StoredMessage] | Refusal], ...]

    @property
    def id(self) -> None:
        """Nothing: it is no single message."""
        return


Verdict: TypeAlias = Read | Brought | Entries


class Waiting(Struct, frozen=True):
    """A frame with messages to be checked: in one of a transfer is `pushed`.

    Of a payload of a session, about so many `messages`, `entries_in` reads the entries.
    """

    gate: "ForeseeingGate"
    frame: bytes
    pushed: Pushed | None = None
    entries_in: EntriesIn | None = None
    messages: int = 1


class ForeseeingGate(Gate, frozen=True):
    """A gate that is told verdicts ahead of time; of all else it judges as any."""

    _read: dict[bytes, Read] = field(default_factory=dict)
    """By frame."""
    _checked: dict[int, Read] = field(default_factory=dict)
    """The same by the identity of the message that was read, which the verdict holds."""
    _brought: dict[bytes, Brought] = field(default_factory=dict)
    """By frame."""
    _opened: dict[bytes, Brought] = field(default_factory=dict)
    """The same by the payload in it."""
    _entries: dict[bytes, Entries] = field(default_factory=dict)
    """By frame."""
    _contents: dict[bytes, tuple[Message, StoredMessage] | Refusal] = field(default_factory=dict)
    """The same by the content of each entry."""

    def known(self, frame: bytes) -> Verdict | None:
        """Return the verdict on a frame, if there is one."""
        return self._read.get(frame) or self._brought.get(frame) or self._entries.get(frame)

    def __len__(self) -> int:
        return len(self._read) + len(self._brought) + len(self._entries)

    def learn(self, verdict: Verdict) -> None:
        """Take a verdict that was found."""
        if isinstance(verdict, Brought):
            self._brought[verdict.frame] = verdict
            self._opened[verdict.transferred.waku.payload] = verdict
            return
        if isinstance(verdict, Entries):
            self._entries[verdict.frame] = verdict
            self._contents.update(verdict.opened)
            return
        self._read[verdict.frame] = verdict
        if verdict.checked is not None:
            self._checked[id(verdict.message)] = verdict

    def keep(self, frames: Collection[bytes]) -> None:
        """Forget the verdicts on all other frames."""
        kept: list[Verdict] = [one for frame, one in self._read.items() if frame in frames]
        kept += [one for frame, one in self._brought.items() if frame in frames]
        kept += [one for frame, one in self._entries.items() if frame in frames]
        for verdicts in (
            self._read,
            self._checked,
            self._brought,
            self._opened,
            self._entries,
            self._contents,
        ):
            verdicts.clear()
        for verdict in kept:
            self.learn(verdict)

    def read(self, payload: bytes) -> Message:
        """See `Gate.read`."""
        known = self._read.get(payload)
        if known is None:
            return Gate.read(self, payload)
        if isinstance(known.message, Refusal):
            raise known.message.error()
        return known.message

    def check(self, message: Message) -> StoredMessage:
        """See `Gate.check`."""
        known = self._checked.get(id(message))
        if known is None or known.checked is None:
            return Gate.check(self, message)
        if isinstance(known.checked, Refusal):
            raise known.checked.error()
        return known.checked

    def check_opened(self, entry: Entry) -> tuple[Message, StoredMessage]:
        """See `Gate.check_opened`."""
        known = self._contents.get(entry.content)
        if known is None:
            return Gate.check_opened(self, entry)
        if isinstance(known, Refusal):
            raise known.error()
        return known

    def read_pushed(self, protocol: SyncProtocol, frame: bytes) -> Pushed:
        """See `Gate.read_pushed`."""
        known = self._brought.get(frame)
        return Gate.read_pushed(self, protocol, frame) if known is None else known.pushed

    def read_transfer(self, waku: WakuMessage, topic: str) -> tuple[Message, StoredMessage]:
        """See `Gate.read_transfer`."""
        known = self._opened.get(waku.payload)
        if known is None or known.transferred != Transferred(waku, topic):
            return Gate.read_transfer(self, waku, topic)
        if isinstance(known.opened, Refusal):
            raise known.opened.error()
        return known.opened


ENTRY_BYTES: Final = 512
"""Size of an entry as a session brings it, roughly."""

ENTRIES_MAX: Final = 160
"""Entries of one payload that are checked ahead: an honest page of 64 KiB has fewer, and nobody
knows yet whether a larger one was asked for."""


class Foresight:
    """A look at inputs that wait, in their order: which messages are to be checked ahead.

    Of copies that wait together only the first one is: once it is let in, nobody checks the others.
    """

    def __init__(self, now: Callable[[], Nanos]) -> None:
        self.waiting: list[Waiting] = []
        """Frames without a verdict."""
        self.frames: set[bytes] = set()
        """All frames that were looked at."""
        self._now = now
        self._taken: set[str | SyncId | None] = set()
        """Ids of messages that are foreseen, of links and of transfers."""
        self._expected: dict[tuple[ChannelId, PeerId], Expected | None] = {}
        """Messages that sessions expect of peers who push."""

    def look(self, group: Machines, event: values.Input) -> int:
        """Look at an input of a channel; returns the bytes of its frame, 0 if it has none."""
        gate = group.gate
        if not isinstance(gate, ForeseeingGate):
            return 0
        if type(event) is values.SessionPayload:
            protocol = group.sessions.protocol_of(event.session)
            entries_in = None if protocol is None else protocol.entries_in
            if entries_in is None:
                return 0
            frame = event.payload
        elif type(event) is values.Arrived or type(event) is values.Transferred:
            entries_in, frame = None, event.payload
        else:
            return 0
        if frame in self.frames:
            return 0
        self.frames.add(frame)
        if (verdict := gate.known(frame)) is not None:
            self._taken.add(verdict.id)
        elif type(event) is values.Arrived:
            self._look_at_arrived(group, gate, frame)
        elif type(event) is values.Transferred:
            self._look_at_pushed(group, gate, event.peer, frame)
        elif entries_in is not None:
            messages = min(1 + len(frame) // ENTRY_BYTES, ENTRIES_MAX)
            self.waiting.append(Waiting(gate, frame, None, entries_in, messages))
        return len(frame)

    def _look_at_arrived(self, group: Machines, gate: ForeseeingGate, frame: bytes) -> None:
        """Look at a frame of a link: no copy, nor of somebody who sends too much ahead of time."""
        ids = claimed_ids(frame)
        if ids is None or ids.message_id in self._taken or group.holds(ids.message_id):
            return
        if group.aside.is_full(ids.sender_id):
            return  # what is ahead of time is refused unchecked then
        self._taken.add(ids.message_id)
        self.waiting.append(Waiting(gate, frame))

    def _look_at_pushed(
        self, group: Machines, gate: ForeseeingGate, peer: PeerId, frame: bytes
    ) -> None:
        """Look at a frame of a transfer: with a message that a session wants of that peer."""
        key = (group.channel, peer)
        if key not in self._expected:
            self._expected[key] = group.sessions.expects_from(peer, self._now())
        expected = self._expected[key]
        if expected is None:
            return
        try:
            pushed = Gate.read_pushed(gate, expected.protocol, frame)
        except RemoteError:
            return
        wanted = pushed.sync_id
        if wanted not in self._taken and expected.wants(wanted):
            self._taken.add(wanted)
            self.waiting.append(Waiting(gate, frame, pushed))


def verdict_of(waiting: Waiting) -> Verdict | None:
    """Return the verdict on a frame; None where there is no other than that of its machine."""
    gate, frame, pushed = waiting.gate, waiting.frame, waiting.pushed
    if waiting.entries_in is not None:
        return _entries(gate, waiting.entries_in, frame)
    if pushed is None:
        return _read(gate, frame)
    item = pushed.item
    if not isinstance(item, Transferred):
        return None
    try:
        return Brought(frame, pushed, item, Gate.read_transfer(gate, item.waku, item.topic))
    except RemoteError as error:
        return Brought(frame, pushed, item, Refusal.of(error))


def _read(gate: Gate, frame: bytes) -> Read:
    try:
        message = Gate.read(gate, frame)
    except RemoteError as error:
        return Read(frame, Refusal.of(error), None)
    if message.kind is not Kind.CONTENT:
        return Read(frame, message, None)
    try:
        return Read(frame, message, Gate.check(gate, message))
    except RemoteError as error:
        return Read(frame, message, Refusal.of(error))


def _entries(gate: Gate, entries_in: EntriesIn, payload: bytes) -> Entries | None:
    opened: list[tuple[bytes, tuple[Message, StoredMessage] | Refusal]] = []
    try:
        for content in islice(entries_in(payload), ENTRIES_MAX):
            entry = open_content(content)
            try:
                opened.append((content, Gate.check_opened(gate, entry)))
            except RemoteError as error:
                opened.append((content, Refusal.of(error)))
    except RemoteError:  # its machine says what is wrong with it
        pass
    return Entries(payload, tuple(opened)) if opened else None
