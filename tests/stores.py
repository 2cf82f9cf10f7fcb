"""Builders of real databases with a channel in them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from storage.database import Database
from storage.history import SqliteHistory
from storage.journal import SqliteJournal
from storage.members import Members
from sync.journal import Membership
from sync.machine import SECOND, ChannelId, PeerId
from tests.entries import CHANNEL, identity

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
