"""Governance in SQLite: signed ops, entries that wait for them, and those that were dropped."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from storage.sqlite.columns import member_of, message_id, peer_id
from storage.sqlite.payloads import entry_of
from storage.sqlite.queries import BLOCKED_AUTHORS
from storage.sqlite.rows import Row
from sync.calimero.governance.dag import Judgement
from sync.calimero.governance.ops import OpId
from sync.calimero.governance.pending import Dropped
from sync.calimero.governance.wire import SIGNATURE_SIZE, op_id
from sync.entries.changes import CHANGING
from sync.errors import StorageError
from sync.group.records import (
    DROPPED_MAX,
    EndPending,
    SetDropped,
    StoredMessage,
    StoredOp,
    StoreOp,
    StorePending,
)
from sync.machine import ChannelId, MessageId

STORE_OP: Final = """
    INSERT OR REPLACE INTO group_ops (channel, op_id, content, rank, lowers, touched, asks)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
OPS: Final = """
    SELECT op_id, content, rank, lowers, touched, asks, number FROM group_ops WHERE channel = ?
    ORDER BY number
"""
ANY_OPS: Final = "SELECT EXISTS (SELECT 1 FROM group_ops WHERE channel = ?)"

# The sign before `channel` keeps SQLite from reading all of the channel: few ops are newer.
NEWER_OPS: Final = """
    SELECT op_id, content, rank, lowers, touched, asks, number FROM group_ops
    WHERE +channel = ? AND number > ? ORDER BY number
"""
OP: Final = "SELECT content FROM group_ops WHERE channel = ? AND op_id = ?"
STORE_PENDING: Final = """
    INSERT OR IGNORE INTO pending_entries (channel, message_id, waku_hash, payload)
    VALUES (?, ?, ?, ?)
"""
END_PENDING: Final = "DELETE FROM pending_entries WHERE channel = ? AND message_id = ?"
PENDING: Final = """
    SELECT message_id, waku_hash, payload FROM pending_entries WHERE channel = ? ORDER BY number
"""
DROP: Final = """
    INSERT OR REPLACE INTO dropped_entries (channel, message_id, label) VALUES (?, ?, ?)
"""
FORGET_DROPPED: Final = """
    DELETE FROM dropped_entries WHERE number IN (
        SELECT number FROM dropped_entries WHERE channel = ? ORDER BY number DESC
        LIMIT -1 OFFSET ?
    )
"""
DROPPED: Final = "SELECT message_id, label FROM dropped_entries WHERE channel = ? ORDER BY number"

GovernanceRecord: TypeAlias = StoreOp | StorePending | EndPending | SetDropped


def keep_governance(db: sqlite3.Connection, records: Sequence[GovernanceRecord]) -> None:
    """Write the records of governance of a commit, in their order."""
    for record in records:
        channel = bytes.fromhex(
            record.message.channel if isinstance(record, StorePending) else record.channel
        )
        match record:
            case StoreOp(_, content, judgement):
                db.execute(STORE_OP, (channel, _id_of(content), content, *_columns(judgement)))
            case StorePending(message):
                entry_id = bytes.fromhex(message.entry.message_id)
                db.execute(STORE_PENDING, (channel, entry_id, message.waku_hash, message.payload))
            case EndPending(_, ended):
                db.execute(END_PENDING, (channel, bytes.fromhex(ended)))
            case SetDropped(_, dropped, label):
                db.execute(DROP, (channel, bytes.fromhex(dropped), label.value))
                db.execute(FORGET_DROPPED, (channel, DROPPED_MAX))


def ops_of(channel: bytes, db: sqlite3.Connection) -> tuple[StoredOp, ...]:
    """Return the ops of a channel, ancestors first, but those that are not what was stored.

    Others have these, and those that stand on them wait for them then.
    """
    return tuple([op for _, op in _ops(db.execute(OPS, (channel,)))])


def has_ops(channel: bytes, db: sqlite3.Connection) -> bool:
    """Return whether any op of a channel is here, which is a look-up."""
    return bool(db.execute(ANY_OPS, (channel,)).fetchone()[0])


def ops_after(channel: bytes, number: int, db: sqlite3.Connection) -> list[tuple[int, StoredOp]]:
    """Return the ops of a channel that were stored after `number`, as `ops_of`, with theirs."""
    return _ops(db.execute(NEWER_OPS, (channel, number)))


def _ops(rows: Iterable[Row]) -> list[tuple[int, StoredOp]]:
    return [
        (number, StoredOp(content, Judgement(rank, bool(lowers), _fields(touched), bool(asks))))
        for stored_id, content, rank, lowers, touched, asks, number in rows
        if _id_of(content) == stored_id
    ]


def contents_of(channel: bytes, ops: Sequence[OpId], db: sqlite3.Connection) -> tuple[bytes, ...]:
    """Return the bytes of these ops, in that order, but those that are not what was stored."""
    found = [db.execute(OP, (channel, one)).fetchone() for one in ops]
    return tuple(
        [row[0] for row, one in zip(found, ops, strict=True) if row and _id_of(row[0]) == one]
    )


def pending_of(channel: ChannelId, db: sqlite3.Connection) -> tuple[StoredMessage, ...]:
    """Return the entries that wait for ops, but those that are not what was stored."""
    found: list[StoredMessage] = []
    for stored_id, waku_hash, payload in db.execute(PENDING, (bytes.fromhex(channel),)):
        try:
            entry = entry_of(payload)
        except StorageError:
            continue  # whoever has it sends it again
        if entry.message_id == message_id(stored_id):
            found.append(StoredMessage(channel, entry, waku_hash, payload))
    return tuple(found)


def pending_shown(channel: ChannelId, db: sqlite3.Connection, *, limit: int) -> list[StoredMessage]:
    """Return the first `limit` of the entries that wait and are lines of nobody blocked."""
    blocked = {peer_id(one) for (one,) in db.execute(BLOCKED_AUTHORS)}
    shown = [
        one
        for one in pending_of(channel, db)
        if one.entry.header.kind not in CHANGING and one.entry.header.author not in blocked
    ]
    return shown[:limit]


def dropped_of(channel: bytes, db: sqlite3.Connection) -> tuple[tuple[MessageId, Dropped], ...]:
    """Return the entries that were dropped, the last one last, but those of unknown label."""
    rows = [(one, member_of(Dropped, label)) for one, label in db.execute(DROPPED, (channel,))]
    return tuple([(message_id(stored_id), label) for stored_id, label in rows if label])


def _id_of(content: bytes) -> bytes:
    return op_id(content[:-SIGNATURE_SIZE])


def _columns(judgement: Judgement) -> tuple[int, bool, int, bool]:
    touched = sum(1 << place for place, field in enumerate(judgement.touched) if field)
    return judgement.rank, judgement.lowers, touched, judgement.asks


def _fields(touched: int) -> tuple[bool, bool, bool, bool]:
    return (bool(touched & 1), bool(touched & 2), bool(touched & 4), bool(touched & 8))
