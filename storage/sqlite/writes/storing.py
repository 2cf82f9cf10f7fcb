"""Rows of new messages, written from columns: entries are not opened for it."""

import sqlite3
from collections.abc import Sequence
from operator import itemgetter
from typing import Final, Self, TypeAlias

from msgspec import Struct

from storage.sqlite.columns import DELIVERY, STATUS, U64_MIDDLE
from storage.sqlite.looks import readable
from storage.sqlite.queries import LAST_NUMBER, STORE, STORE_PARENTS, STORE_TEXTS
from storage.sqlite.rows import Row, execute_for_rows
from sync.entries.columns import Columns, columns_of
from sync.entries.entry import Entry, open_content
from sync.group.records import StoreChecked, StoreMessage

Stores: TypeAlias = StoreMessage | StoreChecked

PARENTS_AT_ONCE: Final = 16 * 1024
"""Parents that are sorted and written together, 2 MB: by then some go to each page of their index,
where one by one each would have a page to itself."""


class Stored(Struct, frozen=True, gc=False):
    """A message that was just stored, under its number."""

    number: int
    channel: bytes
    columns: Columns
    content: bytes
    opened: Entry | None = None

    @classmethod
    def of(cls, number: int, channel: bytes, entry: Entry) -> Self:
        """Return an opened entry as one that was just stored."""
        return cls(number, channel, columns_of(entry), entry.content, entry)

    @property
    def entry(self) -> Entry:
        """The entry, opened if need be: nearly nobody asks."""
        return self.opened or open_content(self.content)

    @property
    def body(self) -> bytes:
        """The body of the entry."""
        return self.columns.body_of(self.content)


class Bulk:
    """Parents of messages that a swap stores by the ten thousand, until they are written."""

    def __init__(self) -> None:
        self._parents: list[tuple[int, bytes]] = []

    def add(self, parents: list[tuple[int, bytes]], db: sqlite3.Connection) -> None:
        """Keep these, or write all that are kept."""
        self._parents += parents
        if len(self._parents) >= PARENTS_AT_ONCE:
            self.write(db)

    def write(self, db: sqlite3.Connection) -> None:
        """Write what is kept, in the order of its index."""
        self._parents.sort(key=itemgetter(1))
        execute_for_rows(db, STORE_PARENTS, self._parents)
        self._parents.clear()


def store(
    records: Sequence[Stores], db: sqlite3.Connection, bulk: Bulk | None = None
) -> list[Stored]:
    """Write new messages, what they build on, and their words; returns them under their numbers.

    Args:
        records: the messages, whose numbers rise in this order.
        db: the connection, on its own thread.
        bulk: takes the parents, if there are many more to come.
    """
    (last,) = db.execute(LAST_NUMBER).fetchone()
    stored: list[Stored] = []
    rows: list[Row] = []
    for number, record in enumerate(records, start=last + 1):
        if isinstance(record, StoreChecked):
            one = Stored(number, bytes.fromhex(record.channel), record.columns, record.content)
            rows.append(_message_row(one, record, record.waku_hash, record.payload, 0))
        else:
            message = record.message
            one = Stored.of(number, bytes.fromhex(message.channel), message.entry)
            waku_hash, payload = message.waku_hash, message.payload
            rows.append(_message_row(one, record, waku_hash, payload, record.attempts))
        stored.append(one)
    execute_for_rows(db, STORE, rows)
    parents = [
        (one.number, parent)
        for one in stored
        for parent in {parent for parent, _, _ in one.columns.parents}
    ]
    if bulk is None:
        execute_for_rows(db, STORE_PARENTS, parents)
    else:
        bulk.add(parents, db)
    texts = [
        (one.number, text.nick, text.text)
        for one in stored
        if (text := readable(one.columns.kind, one.body)) is not None
    ]
    execute_for_rows(db, STORE_TEXTS, texts)
    return stored


def _message_row(
    stored: Stored, record: Stores, waku_hash: bytes, payload: bytes, attempts: int
) -> Row:
    columns, delivery = stored.columns, record.delivery
    return (
        stored.number,
        stored.channel,
        columns.message_id,
        waku_hash,
        columns.created_ns - U64_MIDDLE,  # four calls a message are a microsecond
        columns.lamport - U64_MIDDLE,
        columns.author,
        columns.log - U64_MIDDLE,
        columns.seq - U64_MIDDLE,
        columns.backlink,
        columns.kind,
        STATUS[record.status],
        record.after_gap,
        None if delivery is None else DELIVERY[delivery],
        attempts,
        columns.body_size,
        payload,
    )
