"""A journal in memory: what is committed survives a crash, nothing else does.

It has the faults of real disks: commits that fail or take long, reads that fail, bytes that rot.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from itertools import islice

from sync.calimero.governance.ops import OpId
from sync.calimero.governance.pending import Dropped
from sync.calimero.governance.wire import SIGNATURE_SIZE, op_id
from sync.calimero.state.entry import RegisterKey
from sync.calimero.state.entry import parse as parse_state
from sync.entries.changes import (
    CHANGING,
    UNCHANGED,
    Look,
    Redaction,
    TakenBack,
    look_of,
    touched_by,
)
from sync.entries.entry import Entry, Kind
from sync.errors import StorageError
from sync.group.ingest import history_of, outline_of
from sync.group.logs import ChannelLogs, LogState, place_of
from sync.group.records import DROPPED_MAX, GAPS_MAX, Contradiction, StoredOp, stamped_row
from sync.group.status import UNSENT
from sync.group.values import (
    Altered,
    ChannelState,
    ClockKept,
    Discard,
    DropSnapshot,
    DropState,
    EndPending,
    Outline,
    OwnState,
    Record,
    SetClock,
    SetCompared,
    SetCounter,
    SetDelivery,
    SetDropped,
    SetLog,
    SetStatus,
    StagedSnapshot,
    StageSnapshot,
    Status,
    StoredMessage,
    StoreMessage,
    StoreOp,
    StorePending,
    StoreState,
)
from sync.machine import MessageId, Nanos, PeerId
from sync.runner.journal import PAGE_BYTES, EntriesPage, Loaded
from sync.sds.message import Delivery
from sync.sim.governance.hiding import hides
from sync.sim.log_links import LogLink, broken, fork, is_false, links_of
from sync.structures.log_spans import LogSpan
from sync.structures.ordered_set import SyncId

TIPS_MAX = 64


SHOWN = (Status.DELIVERED, Status.LOADING)
"""Statuses of messages that are on somebody's screen, or may be."""


@dataclass(slots=True)
class Row:
    """One stored message."""

    message: StoredMessage
    status: Status
    after_gap: bool
    delivery: Delivery | None
    attempts: int = 0


@dataclass(slots=True)
class Disk:
    """One node's disk for one channel."""

    me: PeerId
    log_number: int
    rows: dict[MessageId, Row] = field(default_factory=dict)
    full: bool = False
    """Whether commits fail."""
    clock: ClockKept = field(default_factory=ClockKept)
    counter: int = 0
    """Counter of the node's last announcement: each of its disks has it."""
    compared: dict[PeerId, Nanos] = field(default_factory=dict)
    """When everything was last compared with each peer."""
    unreadable: bool = False
    """Whether reads fail."""
    slowness: Nanos = 0
    """Time by which a commit takes longer than that of others."""
    ops: dict[OpId, StoredOp] = field(default_factory=dict)
    """Ops of governance, ancestors first."""
    pending: dict[MessageId, StoredMessage] = field(default_factory=dict)
    """Entries that wait for ops."""
    dropped: dict[MessageId, Dropped] = field(default_factory=dict)
    """Entries that were dropped, the latest last."""
    state: dict[RegisterKey, bytes] = field(default_factory=dict)
    """Entries of the channel's state that stand."""
    staged: list[StageSnapshot] = field(default_factory=list)
    """Pages of a snapshot that are not swapped in yet."""
    swapping: bool = False
    """True if some of them are history already."""
    rotten: set[MessageId] = field(default_factory=set)
    """Rows that are no longer what was stored; nothing but their bytes tells."""
    contradictions: list[Contradiction] = field(default_factory=list)
    """Findings at commits, each once."""
    found: list[MessageId] = field(default_factory=list)
    """Rows of these that were read and not yet discarded: the reader has to tell the machines."""
    _withheld: dict[MessageId, list[Entry]] = field(default_factory=dict)
    """Redactions that rotted, by target: what they hid stays hidden."""
    _by_hash: dict[bytes, MessageId] = field(default_factory=dict)
    _changes: dict[MessageId, list[MessageId]] = field(default_factory=dict)
    """By target, what changes it; the target may come later, or never."""
    _places: dict[tuple[PeerId, int, int], MessageId] = field(default_factory=dict)
    """First entry at each author, log and number."""
    _named: dict[MessageId, list[LogLink]] = field(default_factory=dict)
    """Words of other entries of its log about each entry."""
    _log: list[tuple[int, MessageId]] = field(default_factory=list)
    """(lamport, message id) of what is delivered, ascending."""

    def commit(self, records: Sequence[Record]) -> list[Altered]:
        """Write all of `records`, or nothing; see `sync.runner.journal.Journal.commit`.

        Raises:
            StorageError: the disk is full.
        """
        if self.full:
            raise StorageError("The disk is full: free some space.")
        fresh = {_about(record) for record in records}  # nobody has seen these before
        touched = self._touched(records)
        before = {one: UNCHANGED if one in fresh else self.look(one) for one in touched}
        for record in records:
            match record:
                case StoreMessage(message, status, after_gap, delivery, attempts):
                    self._store(Row(message, status, after_gap, delivery, attempts))
                case SetStatus(_, message_id, status, after_gap):
                    self._set_status(self.rows[message_id], status, after_gap=after_gap)
                case SetDelivery(_, message_id, delivery, attempts):
                    self.rows[message_id].delivery = delivery
                    self.rows[message_id].attempts = attempts
                case SetLog(_, log):
                    self.log_number = log
                case SetClock(_, kept):
                    self.clock = kept
                case SetCounter(counter):
                    self.counter = counter
                case SetCompared(_, peer, at_ns):
                    self.compared[peer] = at_ns
                case Discard(_, message_id):
                    self._discard(message_id)
                case StoreOp() | StorePending() | EndPending() | SetDropped():
                    self._keep_governance(record)
                case StoreState(_, content):
                    self.state[parse_state(content).key] = content
                case DropState(_, key):
                    del self.state[key]
                case StageSnapshot():
                    assert record.number == len(self.staged), "pages are staged in order"
                    self.staged.append(record)
                case DropSnapshot():
                    self.staged.clear()
                    self.swapping = False
        self.contradictions += self._contradict(records)
        return [altered for one in before for altered in self._altered(one, before[one])]

    def _keep_governance(self, record: StoreOp | StorePending | EndPending | SetDropped) -> None:
        match record:
            case StoreOp(_, content, judgement):
                stored_id = op_id(content[:-SIGNATURE_SIZE])
                self.ops.pop(stored_id, None)
                self.ops[stored_id] = StoredOp(content, judgement)
            case StorePending(message):
                self.pending.setdefault(message.entry.message_id, message)
            case EndPending(_, message_id):
                self.pending.pop(message_id, None)
            case SetDropped(_, message_id, label):
                self.dropped.pop(message_id, None)
                self.dropped[message_id] = label
                while len(self.dropped) > DROPPED_MAX:
                    del self.dropped[next(iter(self.dropped))]

    def _contradict(self, records: Sequence[Record]) -> Iterator[Contradiction]:
        """Yield what of these records cannot be true beside what was here of its log."""
        for record in records:
            if isinstance(record, StoreMessage):
                channel, entry = record.message.channel, record.message.entry
                header, stored_id = entry.header, entry.message_id
                place = (header.author, header.log, header.seq)
                first = self._places.setdefault(place, stored_id)
                if first != stored_id and first in self.rows:
                    yield Contradiction(channel, *fork(entry), stored_id, first)
                for link in links_of(entry):
                    self._named.setdefault(link.target, []).append(link)
                    named = self.rows.get(link.target)
                    if named is not None and is_false(link, named.message.entry):
                        yield broken(link, channel)
                for link in self._named.get(stored_id, ()):
                    if is_false(link, entry):
                        yield broken(link, channel)

    def look(self, message_id: MessageId) -> Look:
        """Return what the delivered changes of a message have made of it."""
        changes = self._changes.get(message_id)
        row = self.rows.get(message_id)
        if changes is None or row is None or row.status not in SHOWN:
            return UNCHANGED
        counting = self._counting(message_id)
        return look_of(row.message.entry, counting, partial(hides, self.ops), self.me)

    def _counting(self, message_id: MessageId) -> list[Entry]:
        """Return the changes of a message that have effect."""
        made = self._changes.get(message_id, ())
        back = [one for change in made for one in self._changes.get(change, ())]
        rows = [self.rows[one] for one in (*made, *back)]
        counting = [one.message.entry for one in rows if _counts(one)]
        return counting + self._withheld.get(message_id, [])

    def changes_of(self, message_id: MessageId) -> list[Entry]:
        """Return the delivered entries that change a message, in their order."""
        rows = [self.rows[one] for one in self._changes.get(message_id, ())]
        delivered = [one.message.entry for one in rows if one.status is Status.DELIVERED]
        entries = [one for one in delivered if not self._is_taken_back(one.message_id)]
        return sorted(entries, key=lambda entry: (entry.header.lamport, entry.message_id))

    def _touched(self, records: Sequence[Record]) -> dict[MessageId, None]:
        """Return the messages whose look the records may change."""
        touched: dict[MessageId, None] = {}
        for record in records:
            match record:
                case StoreMessage(message):
                    entry = message.entry
                case SetStatus(_, message_id) if message_id in self.rows:
                    entry = self.rows[message_id].message.entry
                case _:
                    continue
            change = touched_by(entry)
            if change is not None:
                touched[change.target] = None
            if isinstance(change, TakenBack) and change.target in self.rows:
                undone = touched_by(self.rows[change.target].message.entry)
                if undone is not None:
                    touched[undone.target] = None
            if entry.message_id in self._changes:
                touched[entry.message_id] = None
        return touched

    def _altered(self, message_id: MessageId, before: Look) -> list[Altered]:
        look, row = self.look(message_id), self.rows.get(message_id)
        if row is None or row.status not in SHOWN or look == before:
            return []
        return [
            Altered(
                channel=row.message.channel,
                message_id=message_id,
                entry=row.message.entry,
                after_gap=row.after_gap,
                delivery=row.delivery,
                look=look,
                rewritten=(look.text, look.hidden, look.hidden_by)
                != (before.text, before.hidden, before.hidden_by),
                reacted=look.reacted != before.reacted,
                loading=row.status is Status.LOADING,
            )
        ]

    def __len__(self) -> int:
        """Return the number of delivered messages."""
        return len(self._log)

    def log(self) -> list[tuple[int, MessageId]]:
        """Return the delivered messages in (lamport, message id) order."""
        return list(self._log)

    def lines(self) -> list[tuple[int, MessageId]]:
        """Return those of the log that are shown, and do not only change what is."""
        kinds = {one: self.rows[one].message.entry.header.kind for _, one in self._log}
        return [(lamport, one) for lamport, one in self._log if kinds[one] not in CHANGING]

    def is_line(self, message_id: MessageId) -> bool:
        """Return whether a stored message is no change of another, nor hidden by its author."""
        entry = self.rows[message_id].message.entry
        hidden = look_of(entry, self._counting(message_id), partial(hides, self.ops)).hidden
        return entry.header.kind not in CHANGING and not hidden

    def _is_replaced(self, message_id: MessageId) -> bool:
        row = self.rows[message_id]
        if row.status is not Status.PARKED or row.message.entry.header.author != self.me:
            return False
        changes = [self.rows[one].message.entry for one in self._changes[message_id]]
        return look_of(row.message.entry, changes).replaced or self._is_taken_back(message_id)

    def _is_taken_back(self, message_id: MessageId) -> bool:
        header = self.rows[message_id].message.entry.header
        rows = [self.rows[one] for one in self._changes.get(message_id, ())]
        return any(
            isinstance(touched_by(row.message.entry), TakenBack)
            and row.message.entry.header.author == header.author
            and row.message.entry.header.lamport < header.lamport
            and _counts(row)
            for row in rows
        )

    def parked(self) -> list[MessageId]:
        """Return what is set aside until its time."""
        return [one for one, row in self.rows.items() if row.status is Status.PARKED]

    def looks(self, but: Collection[MessageId] = ()) -> dict[MessageId, Look]:
        """Return how all messages look that were changed, `but` these and what these change."""
        looks = {
            message_id: self.look(message_id)
            for message_id, changes in self._changes.items()
            if not but or (message_id not in but and not any(one in but for one in changes))
        }
        return {message_id: look for message_id, look in looks.items() if look != UNCHANGED}

    def read(self, message_ids: Iterable[MessageId]) -> list[Row]:
        """Return the stored messages among these that are still what was stored.

        Raises:
            StorageError: the disk cannot be read.
        """
        if self.unreadable:
            raise StorageError("The disk cannot be read.")
        held = [one for one in message_ids if one in self.rows]
        bad = [one for one in held if one in self.rotten]
        self.found += [one for one in bad if one not in self.found]
        return [self.rows[one] for one in held if one not in self.rotten]

    def load(self, message_id: MessageId) -> Loaded:
        """Return a stored message."""
        row = self.rows[message_id]
        message = row.message
        return Loaded(
            message_id,
            message.entry,
            message.payload,
            message.waku_hash,
            row.after_gap,
            row.delivery,
        )

    def load_by_sync_ids(self, ids: Sequence[SyncId]) -> list[Loaded]:
        """Return the messages with these sync ids that can be read, by time and hash."""
        hashes = {one.hash for one in ids}
        held = [self._by_hash[one] for one in hashes if one in self._by_hash]
        found = [row.message for row in self.read(held)]
        found.sort(key=lambda message: (message.entry.header.created_ns, message.waku_hash))
        return [self.load(message.entry.message_id) for message in found]

    def under(
        self, heads: Sequence[MessageId], wanted: Sequence[MessageId]
    ) -> tuple[MessageId, ...]:
        """Return those of `wanted` that are among `heads` or their ancestors."""
        below, stack = set[MessageId](), list(heads)
        while stack:
            one = stack.pop()
            if one not in below:
                below.add(one)
                row = self.rows.get(one)
                if row is not None:
                    stack += [parent.message_id for parent in row.message.entry.header.parents]
        return tuple([one for one in wanted if one in below])

    def load_ops(self, ops: Sequence[OpId]) -> tuple[bytes, ...]:
        """Return the bytes of these ops of governance, in that order."""
        return tuple([self.ops[one].content for one in ops if one in self.ops])

    def load_held_back(
        self, after: tuple[int, MessageId] | None, limit: int
    ) -> tuple[Outline, ...]:
        """Return what waits for history on its way, by Lamport time and id."""
        places = [
            (row.message.entry.header.lamport, message_id)
            for message_id, row in self.rows.items()
            if row.status is Status.LOADING
        ]
        behind = sorted(place for place in places if after is None or place > after)
        return tuple([_outline(row) for row in self.read(one for _, one in behind[:limit])])

    def entries_page(
        self, spans: Sequence[LogSpan], after: tuple[int, MessageId] | None, limit: int
    ) -> EntriesPage:
        """Return a page of what is in spans of logs; see `Journal.entries_page`."""
        wanted = {(one.key.hex(), one.log): one for one in spans}
        found: list[Row] = []
        size = 0
        for _, message_id in self._in_order(after):
            row = self.rows[message_id]
            header = row.message.entry.header
            span = wanted.get((header.author, header.log))
            if span is None or not span.after < header.seq <= span.height:
                continue
            if not self.read([message_id]):
                continue
            size += len(row.message.payload)
            if len(found) == limit or (found and size > PAGE_BYTES):
                return EntriesPage(tuple([self.load(_id_of(one)) for one in found]), more=True)
            found.append(row)
        return EntriesPage(tuple([self.load(_id_of(one)) for one in found]), more=False)

    def newest_page(self, before: tuple[int, MessageId] | None, most: int) -> EntriesPage:
        """Return delivered entries, the newest first, below a place; see `Journal.newest_page`."""
        found: list[Row] = []
        size = 0
        end = len(self._log) if before is None else bisect_left(self._log, before)
        for _, message_id in reversed(self._log[:end]):
            for row in self.read([message_id]):
                size += len(row.message.entry.content)
                if found and size > most:
                    return EntriesPage(tuple([self.load(_id_of(one)) for one in found]), more=True)
                found.append(row)
        return EntriesPage(tuple([self.load(_id_of(one)) for one in found]), more=False)

    def _in_order(self, after: tuple[int, MessageId] | None) -> Iterator[tuple[int, MessageId]]:
        """Yield the places of what is not parked, ascending, behind a place."""
        start = 0 if after is None else bisect_right(self._log, after)
        held_back = (
            sorted(
                (row.message.entry.header.lamport, message_id)
                for message_id, row in self.rows.items()
                if row.status in {Status.WAITING, Status.LOADING}
            )
            if len(self._log) < len(self.rows)
            else []
        )
        behind = [place for place in held_back if after is None or place > after]
        return merge(islice(self._log, start, None), behind)

    def restore(self) -> ChannelState:
        """Return what the machines need, from committed rows alone.

        Raises:
            StorageError: the disk cannot be read.
        """
        if self.unreadable:
            raise StorageError("The disk cannot be read.")
        delivered = [row for row in self.rows.values() if row.status is Status.DELIVERED]
        own = [
            row.message.entry
            for row in self.rows.values()
            if row.message.entry.header.author == self.me
        ]
        current = sorted(
            (entry for entry in own if entry.header.log == self.log_number),
            key=lambda entry: entry.header.seq,
        )
        return ChannelState(
            log_number=self.log_number,
            log=b"".join(
                [
                    stamped_row(lamport, bytes.fromhex(message_id))
                    for lamport, message_id in self._log
                ]
            ),
            sync_ids=b"".join(
                sorted(
                    stamped_row(kept.message.entry.header.created_ns, kept.message.waku_hash)
                    for kept in self.rows.values()
                    if kept.status is not Status.PARKED
                )
            ),
            logs=self._logs(),
            own_log=tuple(entry.message_id for entry in current),
            own_created_ns=max(
                [entry.header.created_ns for entry in own if self._counts(entry.message_id)],
                default=0,
            ),
            tips=self._tips(delivered),
            outgoing=tuple(
                OwnState(
                    message_id,
                    row.delivery,
                    row.attempts,
                    row.message.entry.header.created_ns,
                    row.message.waku_hash,
                    row.message.entry.header.kind,
                )
                for message_id, row in self.rows.items()
                if row.delivery is not None
                and row.delivery is not Delivery.ACKNOWLEDGED
                and self._counts(message_id)
            ),
            waiting=self._outlines(Status.WAITING),
            parked=tuple(
                sorted(
                    (
                        outline_of(row.message)
                        for row in self.rows.values()
                        if row.status is Status.PARKED
                    ),
                    key=_place,
                )
            ),
            loading=frozenset(
                message_id for message_id, row in self.rows.items() if row.status is Status.LOADING
            ),
            gaps=tuple(
                sorted((_outline(kept) for kept in delivered if kept.after_gap), key=_place)
            )[-GAPS_MAX:],
            replaced=frozenset(
                message_id
                for message_id in self._changes
                if message_id in self.rows and self._is_replaced(message_id)
            ),
            unsent=frozenset(
                message_id
                for message_id, row in self.rows.items()
                if row.status is Status.PARKED and row.attempts == UNSENT
            ),
            clock=self.clock,
            counter=self.counter,
            compared=tuple(sorted(self.compared.items())),
            ops=tuple(self.ops.values()),
            pending=tuple(self.pending.values()),
            dropped=tuple(self.dropped.items()),
            state=tuple(self.state.values()),
            snapshot=staged_of(self.staged, swapping=self.swapping),
        )

    def _logs(self) -> tuple[LogState, ...]:
        logs = ChannelLogs()
        for message_id, row in self.rows.items():
            if row.status is not Status.PARKED:
                header = row.message.entry.header
                logs.add(header.author, message_id, place_of(header))
        return logs.states()

    def _counts(self, message_id: MessageId) -> bool:
        """Return whether a message counts: it is not set aside until its time."""
        return self.rows[message_id].status is not Status.PARKED

    def _store(self, row: Row) -> None:
        message_id = row.message.entry.message_id
        assert message_id not in self.rows, "stored twice"
        self.rows[message_id] = row
        change = touched_by(row.message.entry)
        if change is not None:
            self._changes.setdefault(change.target, []).append(message_id)
        self._by_hash[row.message.waku_hash] = message_id
        if row.status is Status.DELIVERED:
            self._add_to_log(row)

    def _discard(self, message_id: MessageId) -> None:
        row = self.rows.pop(message_id, None)
        self.rotten.discard(message_id)
        if message_id in self.found:
            self.found.remove(message_id)
        if row is None:
            return
        entry = row.message.entry
        del self._by_hash[row.message.waku_hash]
        if row.status is Status.DELIVERED:
            self._log.remove((entry.header.lamport, message_id))
        change = touched_by(entry)
        if change is not None:
            self._changes[change.target].remove(message_id)
            if isinstance(change, Redaction) and row.status is not Status.PARKED:
                self._withheld.setdefault(change.target, []).append(entry)
        for child in self.rows.values():
            named = [parent.message_id for parent in child.message.entry.header.parents]
            if message_id in named and child.status is Status.DELIVERED:
                child.after_gap = True

    def _set_status(self, row: Row, status: Status, *, after_gap: bool) -> None:
        if row.status is Status.DELIVERED:
            assert status is Status.PARKED, "delivered, and only a wrong clock takes that back"
            self._log.remove((row.message.entry.header.lamport, row.message.entry.message_id))
        row.status = status
        row.after_gap = after_gap
        if status is Status.DELIVERED:
            self._add_to_log(row)

    def _add_to_log(self, row: Row) -> None:
        entry = row.message.entry
        insort(self._log, (entry.header.lamport, entry.message_id))

    def _tips(self, delivered: Sequence[Row]) -> tuple[Outline, ...]:
        named = {
            parent.message_id for row in delivered for parent in row.message.entry.header.parents
        }
        ordered = sorted((_outline(row) for row in delivered), key=_place)
        newest = {outline.message_id for outline in ordered[-2:]}
        tips = [
            outline
            for outline in ordered
            if outline.message_id not in named or outline.message_id in newest
        ]
        return tuple(tips[-TIPS_MAX:])

    def _outlines(self, status: Status) -> tuple[Outline, ...]:
        outlines = (_outline(row) for row in self.rows.values() if row.status is status)
        return tuple(sorted(outlines, key=_place))


def staged_of(pages: Sequence[StageSnapshot], *, swapping: bool = False) -> StagedSnapshot | None:
    """Return what is known of staged pages after a start."""
    if not pages:
        return None
    last = pages[-1]
    return StagedSnapshot(last.scope, last.floor, last.cursor, last.count, len(pages), swapping)


def _id_of(row: Row) -> MessageId:
    return row.message.entry.message_id


def _place(outline: Outline) -> tuple[int, MessageId]:
    return (outline.lamport, outline.message_id)


def _counts(row: Row) -> bool:
    """Return whether a change has effect; a redaction has it before its delivery."""
    if row.message.entry.header.kind == Kind.REDACTION:
        return row.status is not Status.PARKED
    return row.status is Status.DELIVERED


def _about(record: Record) -> MessageId | None:
    """Return the message that a record stores, or gives another status."""
    match record:
        case StoreMessage(message):
            return message.entry.message_id
        case SetStatus(_, message_id):
            return message_id
        case _:
            return None


def _outline(row: Row) -> Outline:
    entry = row.message.entry
    return Outline(
        message_id=entry.message_id,
        sender_id=entry.header.author,
        lamport=entry.header.lamport,
        created_ns=entry.header.created_ns,
        causal_history=history_of(entry),
        retrieval_hint=row.message.waku_hash,
    )
