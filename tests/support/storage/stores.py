"""Builders of real databases with a channel in them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.history import SqliteHistory
from storage.sqlite.journal import SqliteJournal
from sync.entries.membership import Membership
from sync.group.logs import place_of
from sync.group.values import (
    ChannelState,
    Outline,
    OwnState,
    Record,
    Status,
    StoredMessage,
    StoreMessage,
)
from sync.machine import SECOND, ChannelId, MessageId, PeerId
from sync.sds.message import HistoryEntry
from tests.support.sync.entries import CHANNEL, identity

ME = identity("me").peer_id
OWN_LOG = 1


@dataclass(frozen=True, slots=True)
class Store:
    """A database and all that is read and written through it."""

    database: Database
    journal: SqliteJournal
    history: SqliteHistory
    members: Members


def membership(channel: ChannelId = CHANNEL, name: str = "tea") -> Membership:
    """A membership in `channel`; its secret is nothing that was ever secret."""
    return Membership(channel, name, b"s" * 32, open=False, profile="lan", joined_ns=SECOND)


@asynccontextmanager
async def opened(path: Path, me: PeerId = ME) -> AsyncIterator[Store]:
    """The database at `path`, in which `me` is in `CHANNEL`; closed at the end."""
    database = await Database.open(path)
    try:
        store = Store(
            database, SqliteJournal(database, me), SqliteHistory(database, me), Members(database)
        )
        await store.members.add_channel(membership(), OWN_LOG)
        yield store
    finally:
        await database.close()


def delivered(*messages: StoredMessage) -> list[Record]:
    """The records that store `messages`, delivered."""
    return [StoreMessage(message, Status.DELIVERED) for message in messages]


def ids(messages: Iterable[StoredMessage | Outline | OwnState]) -> list[MessageId]:
    """The ids of `messages`."""
    return [m.entry.message_id if isinstance(m, StoredMessage) else m.message_id for m in messages]


def parked_outline(message: StoredMessage) -> Outline:
    """Return the outline of a message that is parked: with its place in its log."""
    return replace(outline(message), place=place_of(message.entry.header))


def outline(message: StoredMessage) -> Outline:
    """Return the outline of `message` as a journal gives it back, without the content."""
    header = message.entry.header
    return Outline(
        message_id=message.entry.message_id,
        sender_id=header.author,
        lamport=header.lamport,
        created_ns=header.created_ns,
        causal_history=tuple(
            [HistoryEntry(p.message_id, p.waku_hash, p.author) for p in header.parents]
        ),
        retrieval_hint=message.waku_hash,
    )


async def restored(store: Store, *records: Record) -> ChannelState:
    """The channel's state after a commit of `records`."""
    await store.journal.commit(records)
    return await store.journal.restore(CHANNEL)
