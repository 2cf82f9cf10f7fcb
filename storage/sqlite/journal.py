"""The journal on SQLite: what the engine commits, and what it gets back after a start.

Nothing is judged here: entries were checked on their one way in (PROTOCOL 3). Facts that follow
from several messages, such as forks and holes in author logs, are asked of the tables, never
stored.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias, TypeVar, assert_never

from msgspec import Struct

from storage.sqlite import changes
from storage.sqlite.ancestry import under
from storage.sqlite.author_logs import logs_of
from storage.sqlite.columns import (
    DELIVERY,
    STATUS,
    delivery_of,
    from_u64,
    member_of,
    message_id,
    peer_id,
    stamped_rows,
    to_u64,
)
from storage.sqlite.contradictions import Runs, found_at_commit
from storage.sqlite.database import Database
from storage.sqlite.entry_pages import newest_page_of, page_of
from storage.sqlite.governance import (
    GovernanceRecord,
    contents_of,
    dropped_of,
    keep_governance,
    ops_of,
    pending_of,
)
from storage.sqlite.payloads import entry_of, message_of
from storage.sqlite.queries import (
    CLOCK,
    COMPARED,
    COUNTER,
    FORGET_COMPARED,
    FORKS,
    GAPS,
    HELD_BACK,
    HOLES,
    LOAD,
    LOAD_BY_SYNC_ID,
    LOADING_AFTER,
    LOADING_IDS,
    LOG,
    NEWEST_OWN,
    NEWEST_TIPS,
    OF_CHANNEL,
    OF_MESSAGE,
    REPLACED,
    SET_CLOCK,
    SET_COMPARED,
    SET_COUNTER,
    SET_DELIVERY,
    SET_LOG,
    SET_STATUS,
    SYNC_IDS,
    UNNAMED_TIPS,
    UNSENT,
)
from storage.sqlite.rows import Row, execute_for_rows
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from storage.sqlite.state import StateRecord, keep_state, state_of
from storage.sqlite.writes.staging import (
    drop,
    is_stranded,
    keep_staged,
    page_at,
    staged_of,
)
from storage.sqlite.writes.storing import Bulk, Stores, store
from storage.sqlite.writes.swapping import SqliteSwap
from sync.calimero.governance.ops import OpId
from sync.entries.entry import Entry
from sync.errors import StorageError
from sync.group.clock_values import Answer
from sync.group.ingest import outline_of_entry
from sync.group.records import GAPS_MAX, Contradiction
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
    Replayed,
    SetClock,
    SetCompared,
    SetCounter,
    SetDelivery,
    SetDropped,
    SetLog,
    SetStatus,
    StageSnapshot,
    Status,
    StoreChecked,
    StoreMessage,
    StoreOp,
    StorePending,
    StoreState,
)
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.manager.histories import COMPARED_MAX
from sync.runner.journal import EntriesPage, Loaded, Replay, Watcher
from sync.structures.log_spans import LogSpan
from sync.structures.ordered_set import SyncId

T = TypeVar("T")

TIPS_MAX: Final = 64
"""Four causal histories of a sync message (16): older tips wait for those to be named."""

WAKU_HASH: Final = 5
"""Column of the Waku hash in a row with these (`CLAIMS`)."""

NEWEST: Final = 2
"""Messages a causal history names when every message is named already."""


class Fork(Struct, frozen=True):
    """An author signed several entries with one place in their log: proof of two faces."""

    author: PeerId
    log: int
    seq: int
    message_ids: tuple[MessageId, ...]


class Hole(Struct, frozen=True):
    """An entry we lack, named by its author's next one."""

    author: PeerId
    log: int
    seq: int
    message_id: MessageId


Hides: TypeAlias = Callable[[Entry], bool]
"""Says of a redaction whether its author might hide lines of others."""


class SqliteJournal:
    """The `sync.runner.journal.Journal` of the profile that `database` belongs to and `me` owns."""

    def __init__(self, database: Database, me: PeerId) -> None:
        self._database = database
        self._me = me
        self._runs = Runs()
        self._watchers: list[Watcher] = []

    async def commit(self, records: Sequence[Record]) -> list[Altered]:
        """Write all of `records` in one transaction; see `Journal.commit`.

        Messages go first: what is set of a message is never set before the message is there.
        """
        try:
            altered, contradictions = await self._database.write(
                partial(_commit, records, self._runs, self._me, self._hides)
            )
        except StorageError:
            self._runs = Runs()  # which remembers what is not here
            raise
        finally:  # what the disk refused to set aside is told again when it is found again
            if self._database.damage:
                gone = [one for one in records if isinstance(one, Discard)]
                self._runs = Runs() if gone else self._runs
                self._database.damage.forget([_key(one.channel, one.message_id) for one in gone])
        for found in contradictions:
            for watcher in self._watchers:
                watcher.contradicted(found)
        return altered

    def _hides(self, db: sqlite3.Connection) -> Hides:
        """Return what says whether an admin's redaction hides lines of others, where one can."""

        def hides(redaction: Entry) -> bool:
            governed = bool(redaction.header.governance)
            return governed and self._database.governances.hides(db)(redaction)

        return hides

    def watch(self, watcher: Watcher) -> None:
        """Tell `watcher` what is found besides what was asked for; see `Journal`."""
        self._watchers.append(watcher)
        self._database.damage.watch(watcher.damaged)

    async def load(self, channel: ChannelId, ids: Sequence[MessageId]) -> dict[MessageId, Loaded]:
        """Return the stored messages among `ids`."""
        wanted = [(bytes.fromhex(message_id),) for message_id in ids]
        found = await self._sound(partial(_load, channel, LOAD, wanted))
        return {loaded.message_id: loaded for loaded in found}

    async def load_by_sync_ids(self, channel: ChannelId, ids: Sequence[SyncId]) -> list[Loaded]:
        """Return the stored messages with these sync ids; see `Journal.load_by_sync_ids`."""
        keys = [(from_u64(one.timestamp), one.hash) for one in ids]
        found = await self._sound(partial(_load, channel, LOAD_BY_SYNC_ID, keys))
        return sorted(found, key=lambda loaded: (loaded.entry.header.created_ns, loaded.waku_hash))

    async def load_held_back(
        self, channel: ChannelId, after: tuple[int, MessageId] | None, limit: int
    ) -> tuple[Outline, ...]:
        """Return messages that wait for history on its way; see `Journal.load_held_back`."""
        return await self._sound(partial(_loading, bytes.fromhex(channel), after, limit))

    async def entries_page(
        self,
        channel: ChannelId,
        spans: Sequence[LogSpan],
        after: tuple[int, MessageId] | None,
        limit: int,
    ) -> EntriesPage:
        """Return a page of what is in spans of logs; see `Journal.entries_page`."""
        place = None if after is None else (from_u64(after[0]), bytes.fromhex(after[1]))
        read = partial(page_of, bytes.fromhex(channel), spans, place, limit)
        rows, more = await self._sound(read)
        return EntriesPage(tuple([_loaded(*row) for row in rows]), more)

    async def newest_page(
        self, channel: ChannelId, before: tuple[int, MessageId] | None, most: int
    ) -> EntriesPage:
        """Return delivered entries, the newest first, below a place; see `Journal.newest_page`."""
        read = partial(newest_page_of, bytes.fromhex(channel), before, most)
        rows, more = await self._sound(read)
        return EntriesPage(tuple([_loaded(*row) for row in rows]), more)

    async def staged_page(self, channel: ChannelId, number: int) -> bytes | None:
        """Return a staged page of a snapshot; see `Journal.staged_page`."""
        return await self._database.read(partial(page_at, bytes.fromhex(channel), number))

    def swap(self, channel: ChannelId, replay: Replay) -> SqliteSwap:
        """Begin to make a channel's staged snapshot its history; see `Journal.swap`."""

        def write(
            records: Sequence[Replayed], runs: Runs, bulk: Bulk, db: sqlite3.Connection
        ) -> list[Contradiction]:
            return _commit(records, runs, self._me, self._hides, db, bulk)[1]

        return SqliteSwap(self._database, bytes.fromhex(channel), replay, write, self._note_swapped)

    def _note_swapped(self, found: Sequence[Contradiction]) -> None:
        self._runs = Runs()  # which knows nothing of what was swapped in
        for contradiction in found:
            for watcher in self._watchers:
                watcher.contradicted(contradiction)

    async def under(
        self, channel: ChannelId, heads: Sequence[MessageId], wanted: Sequence[MessageId]
    ) -> tuple[MessageId, ...]:
        """Return those of `wanted` that lie under heads; see `Journal.under`."""
        return await self._database.read(lambda db: under(db, channel, heads, wanted))

    async def load_ops(self, channel: ChannelId, ops: Sequence[OpId]) -> tuple[bytes, ...]:
        """Return the bytes of these ops of governance; see `Journal.load_ops`."""
        return await self._database.read(partial(contents_of, bytes.fromhex(channel), ops))

    async def restore(self, channel: ChannelId) -> ChannelState:
        """Return what the channel's machines need; the channel was added before (`Members`)."""
        stored = bytes.fromhex(channel)
        if await self._database.read(partial(is_stranded, stored)):
            await self._database.write(lambda db: drop(db, stored))
        return await self._sound(partial(_restore, stored, self._me))

    async def _sound(self, read: Callable[[sqlite3.Connection, list[Place]], T]) -> T:
        """Return what `read` reads without what is damaged, which it adds to the list."""
        damaged: list[Place] = []
        result = await self._database.read(lambda db: read(db, damaged))
        self._database.damage.note_damaged(damaged)
        return result

    async def forks(self, channel: ChannelId) -> list[Fork]:
        """Return the places in author logs that are taken more than once."""
        return await self._database.read(partial(_forks, bytes.fromhex(channel)))

    async def holes(self, channel: ChannelId) -> list[Hole]:
        """Return the entries that a backlink names and that we lack."""
        return await self._database.read(partial(_holes, bytes.fromhex(channel)))


# --- Writing -----------------------------------------------------------------------------------


def _commit(  # noqa: PLR0915  # an arm for each kind of record
    records: Sequence[Replayed],
    runs: Runs,
    me: PeerId,
    hides_by: Callable[[sqlite3.Connection], Hides],
    db: sqlite3.Connection,
    bulk: Bulk | None = None,
) -> tuple[list[Altered], list[Contradiction]]:
    stores: list[Stores] = []
    statuses: dict[tuple[bytes, bytes], Row] = {}
    deliveries: dict[tuple[bytes, bytes], Row] = {}
    logs: dict[bytes, Row] = {}
    clocks: dict[bytes, Row] = {}
    counters: list[int] = []
    compared: dict[tuple[bytes, bytes], Nanos] = {}
    discarded: list[Place] = []
    governance: list[GovernanceRecord] = []
    state: list[StateRecord] = []
    staged: list[StageSnapshot | DropSnapshot] = []
    # A record says all of what it sets, so of several the last one is enough.
    for record in records:
        match record:
            case StoreMessage() | StoreChecked():
                stores.append(record)
            case SetStatus(channel, changed, status, after_gap):
                statuses[_key(channel, changed)] = (STATUS[status], after_gap)
            case SetDelivery(channel, changed, delivery, attempts):
                deliveries[_key(channel, changed)] = (DELIVERY[delivery], attempts)
            case SetLog(channel, log):
                logs[bytes.fromhex(channel)] = (from_u64(log),)
            case SetClock(channel, kept):
                clocks[bytes.fromhex(channel)] = _clock_row(kept)
            case SetCounter(counter):
                counters.append(counter)
            case SetCompared(channel, peer, at_ns):
                compared[bytes.fromhex(channel), bytes.fromhex(peer)] = at_ns
            case Discard(channel, damaged):
                discarded.append(_key(channel, damaged))
            case StoreOp() | StorePending() | EndPending() | SetDropped():
                governance.append(record)
            case StageSnapshot() | DropSnapshot():
                staged.append(record)
            case StoreState() | DropState():
                state.append(record)
            case _:
                assert_never(record)
    stored = store(stores, db, bulk) if stores else []
    _update(db, SET_STATUS, [(*key, *values) for key, values in statuses.items()], OF_MESSAGE)
    _update(db, SET_DELIVERY, [(*key, *values) for key, values in deliveries.items()], OF_MESSAGE)
    _update(db, SET_LOG, [(key, *values) for key, values in logs.items()], OF_CHANNEL)
    execute_for_rows(db, SET_CLOCK, [(key, *values) for key, values in clocks.items()])
    db.executemany(SET_COUNTER, [(from_u64(one),) for one in counters[-1:]])
    _keep_compared(db, compared)
    keep_governance(db, governance)
    keep_state(db, state)
    keep_staged(db, staged)
    altered = changes.settle(db, stored, list(statuses), hides_by(db), me)
    found = found_at_commit(db, stored, runs) if stored else []
    if discarded:
        from storage.sqlite.damage.mending import set_aside  # noqa: PLC0415  # few disks rot

        set_aside(db, discarded)
    return altered, found


def _clock_row(kept: ClockKept) -> Row:
    return (kept.answer.value, kept.shift, kept.stayed, kept.asked_at, kept.asked_ahead)


def _clock(channel: bytes, db: sqlite3.Connection) -> ClockKept:
    row = db.execute(CLOCK, (channel,)).fetchone()
    answer = None if row is None else member_of(Answer, row[0])
    return ClockKept() if answer is None else ClockKept(answer, *row[1:])


def _keep_compared(db: sqlite3.Connection, compared: dict[tuple[bytes, bytes], Nanos]) -> None:
    for (channel, peer), at_ns in compared.items():
        db.execute(SET_COMPARED, (channel, peer, from_u64(at_ns)))
        db.execute(FORGET_COMPARED, (channel, channel, COMPARED_MAX))


def _counter(db: sqlite3.Connection) -> int:
    row = db.execute(COUNTER).fetchone()
    return 0 if row is None else to_u64(row[0])


def _key(channel: ChannelId, changed: MessageId) -> tuple[bytes, bytes]:
    return bytes.fromhex(channel), bytes.fromhex(changed)


def _update(db: sqlite3.Connection, statement: str, rows: list[Row], rest: str) -> None:
    if not rows:
        return
    changed = execute_for_rows(db, statement, rows, rest)
    assert changed == len(rows), f"{len(rows) - changed} of {len(rows)} are not there: {statement}"


# --- Reading -----------------------------------------------------------------------------------


def _load(
    channel: ChannelId,
    query: str,
    wanted: Sequence[Row],
    db: sqlite3.Connection,
    damaged: list[Place],
) -> list[Loaded]:
    channel_id = bytes.fromhex(channel)
    found = [db.execute(query, (*key, channel_id)).fetchall() for key in wanted]
    return [_loaded(*row) for row in _but_damaged([one for rows in found for one in rows], damaged)]


def _but_damaged(rows: Iterable[Row], damaged: list[Place]) -> list[Row]:
    """Return the rows that are what was stored; the places of the others go to `damaged`."""
    sound: list[Row] = []
    for row in rows:
        if is_sound(*row[:CLAIMS]):
            sound.append(row)
        else:
            damaged.append(row[:2])
    return sound


def _loaded(  # a row of `LOAD`
    _channel: bytes,
    stored_id: bytes,
    _author: bytes,
    _lamport: int,
    _created_ns: int,
    waku_hash: bytes,
    _body_size: int,
    payload: bytes,
    after_gap: int,
    delivery: int | None,
) -> Loaded:
    return Loaded(
        message_id=message_id(stored_id),
        entry=entry_of(payload),
        payload=payload,
        waku_hash=waku_hash,
        after_gap=bool(after_gap),
        delivery=None if delivery is None else delivery_of(delivery),
    )


def _restore(
    channel: bytes, me: PeerId, db: sqlite3.Connection, damaged: list[Place]
) -> ChannelState:
    joined = db.execute("SELECT own_log FROM channels WHERE channel = ?", (channel,)).fetchone()
    assert joined is not None, f"channel {channel.hex()} was not added"
    (own_log,) = joined
    author = bytes.fromhex(me)
    (newest_own,) = db.execute(NEWEST_OWN, (channel, author)).fetchone()
    log = stamped_rows(db.execute(LOG, (channel,)))
    sync_ids = stamped_rows(db.execute(SYNC_IDS, (channel,)))
    outgoing = db.execute(
        "SELECT message_id, delivery, attempts, created_ns, waku_hash, kind FROM unacknowledged "
        "WHERE channel = ? AND status != ? ORDER BY lamport, message_id",
        (channel, STATUS[Status.PARKED]),
    )
    return ChannelState(
        log_number=to_u64(own_log),
        log=log,
        sync_ids=sync_ids,
        logs=logs_of(channel, db, damaged),
        own_log=_own_log(channel, author, own_log, db),
        own_created_ns=0 if newest_own is None else to_u64(newest_own),
        tips=_tips(channel, db, damaged),
        outgoing=tuple(
            [
                OwnState(
                    message_id(stored),
                    delivery_of(delivery),
                    attempts,
                    to_u64(created_ns),
                    waku_hash,
                    kind,
                )
                for stored, delivery, attempts, created_ns, waku_hash, kind in outgoing
            ]
        ),
        waiting=_held_back(channel, Status.WAITING, db, damaged),
        parked=_parked(channel, db, damaged),
        loading=frozenset(
            [
                message_id(stored)
                for (stored,) in db.execute(LOADING_IDS, (channel, STATUS[Status.LOADING]))
            ]
        ),
        gaps=_gaps(channel, db, damaged),
        replaced=frozenset(
            [
                message_id(stored)
                for (stored,) in db.execute(REPLACED, (channel, STATUS[Status.PARKED], author))
            ]
        ),
        unsent=frozenset([message_id(stored) for (stored,) in db.execute(UNSENT, (channel,))]),
        clock=_clock(channel, db),
        counter=_counter(db),
        compared=tuple(
            [(peer_id(peer), to_u64(at_ns)) for peer, at_ns in db.execute(COMPARED, (channel,))]
        ),
        ops=ops_of(channel, db),
        pending=pending_of(ChannelId(channel.hex()), db),
        dropped=dropped_of(channel, db),
        state=state_of(channel, db),
        snapshot=staged_of(channel, db),
    )


def _own_log(
    channel: bytes, author: bytes, stored_log: int, db: sqlite3.Connection
) -> tuple[MessageId, ...]:
    """Return our entries from 1 on without a gap; where we forked, the one stored first."""
    rows = db.execute(
        "SELECT seq, message_id FROM messages WHERE channel = ? AND author = ? AND log = ? "
        "ORDER BY seq, number",
        (channel, author, stored_log),
    )
    own_log: list[MessageId] = []
    for seq, stored_id in rows:
        if to_u64(seq) == len(own_log) + 1:
            own_log.append(message_id(stored_id))
    return tuple(own_log)


def _tips(channel: bytes, db: sqlite3.Connection, damaged: list[Place]) -> tuple[Outline, ...]:
    """Return the delivered messages that no delivered one names, and the newest; newest last."""
    newest = db.execute(NEWEST_TIPS, (channel, NEWEST)).fetchall()
    unnamed = db.execute(UNNAMED_TIPS, (channel, TIPS_MAX)).fetchall()
    outlines = {*_outlines(newest + unnamed, damaged)}
    return tuple(sorted(outlines, key=lambda tip: (tip.lamport, tip.message_id))[-TIPS_MAX:])


def _gaps(channel: bytes, db: sqlite3.Connection, damaged: list[Place]) -> tuple[Outline, ...]:
    rows = db.execute(GAPS, (channel, GAPS_MAX)).fetchall()
    return _outlines(reversed(rows), damaged)


def _held_back(
    channel: bytes, status: Status, db: sqlite3.Connection, damaged: list[Place]
) -> tuple[Outline, ...]:
    return _outlines(db.execute(HELD_BACK, (channel, STATUS[status])), damaged)


def _parked(channel: bytes, db: sqlite3.Connection, damaged: list[Place]) -> tuple[Outline, ...]:
    rows = _but_damaged(db.execute(HELD_BACK, (channel, STATUS[Status.PARKED])), damaged)
    return tuple([outline_of_entry(entry_of(row[CLAIMS - 1]), row[WAKU_HASH]) for row in rows])


def _loading(
    channel: bytes,
    after: tuple[int, MessageId] | None,
    limit: int,
    db: sqlite3.Connection,
    damaged: list[Place],
) -> tuple[Outline, ...]:
    lamport, last = (0, b"") if after is None else (after[0], bytes.fromhex(after[1]))
    place = (from_u64(lamport), last)
    return _outlines(db.execute(LOADING_AFTER, (channel, *place, limit)), damaged)


def _outlines(rows: Iterable[Row], damaged: list[Place]) -> tuple[Outline, ...]:
    return tuple([_outline(*row) for row in _but_damaged(rows, damaged)])


def _outline(
    _channel: bytes,
    stored_id: bytes,
    author: bytes,
    lamport: int,
    created_ns: int,
    waku_hash: bytes,
    _body_size: int,
    payload: bytes,
) -> Outline:
    return Outline(
        message_id=message_id(stored_id),
        sender_id=peer_id(author),
        lamport=to_u64(lamport),
        created_ns=to_u64(created_ns),
        causal_history=message_of(payload).causal_history,
        retrieval_hint=waku_hash,
    )


def _forks(channel: bytes, db: sqlite3.Connection) -> list[Fork]:
    rows = db.execute(FORKS, (channel,))
    places: dict[tuple[PeerId, int, int], list[MessageId]] = {}
    for author, log, seq, stored_id in rows:
        place = (peer_id(author), to_u64(log), to_u64(seq))
        places.setdefault(place, []).append(message_id(stored_id))
    return [Fork(*place, tuple(ids)) for place, ids in places.items()]


def _holes(channel: bytes, db: sqlite3.Connection) -> list[Hole]:
    rows = db.execute(HOLES, (channel,))
    return [
        Hole(peer_id(author), to_u64(log), to_u64(seq) - 1, message_id(backlink))
        for author, log, seq, backlink in rows
    ]
