"""Keys of governed channels on the disk: secrets of their epochs, and tickets of codes."""

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Final

from storage.profile.members import membership_row
from storage.sqlite.columns import to_u64
from storage.sqlite.database import Database
from storage.sqlite.governance import keep_governance
from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import Key, Seal
from sync.entries.membership import Membership
from sync.group.records import StoredOp, StoreOp
from sync.machine import ChannelId, PeerId
from sync.net.governance.key_store import Ticket

FOUND: Final = """
    INSERT INTO channels (channel, name, secret, open, profile, joined_ns, own_log, direct, genesis)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
EPOCHS: Final = "SELECT number, op_id, secret FROM epochs WHERE channel = ? ORDER BY number, op_id"
KEEP_EPOCH: Final = """
    INSERT OR REPLACE INTO epochs (channel, number, op_id, secret) VALUES (?, ?, ?, ?)
"""
TICKETS: Final = "SELECT ticket, seed, secret FROM tickets WHERE channel = ? ORDER BY ticket"
KEEP_TICKET: Final = """
    INSERT OR REPLACE INTO tickets (channel, ticket, seed, secret) VALUES (?, ?, ?, ?)
"""
FORGET_TICKET: Final = "DELETE FROM tickets WHERE channel = ? AND ticket = ?"
TOPS: Final = """
    SELECT log, max(seq), max(number) AS latest FROM messages WHERE channel = ? AND author = ?
    GROUP BY log ORDER BY latest DESC LIMIT ?
"""
TOP: Final = """
    SELECT message_id FROM messages WHERE channel = ? AND author = ? AND log = ? AND seq = ?
    ORDER BY message_id LIMIT 1
"""
"""Of a fork at the top, the one that comes first by its id."""

NOISE: Final = "SELECT noise_key FROM peers WHERE participant = ?"


class ChannelKeys:
    """See `sync.net.governance.key_store.KeyStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def found(self, membership: Membership, log: int, genesis: StoredOp) -> None:
        """See `sync.net.governance.key_store.KeyStore`.

        Raises:
            StorageError: the disk refused: nothing was written.
        """
        await self._database.write(partial(_found, membership, log, genesis))

    async def epochs(self, channel: ChannelId) -> list[EpochSecret]:
        """See `sync.net.governance.key_store.KeyStore`."""
        return await self._database.read(
            lambda db: [
                EpochSecret(number, op, secret)
                for number, op, secret in db.execute(EPOCHS, (bytes.fromhex(channel),))
            ]
        )

    async def keep_epochs(self, channel: ChannelId, secrets: Sequence[EpochSecret]) -> None:
        """See `sync.net.governance.key_store.KeyStore`."""
        rows = [(bytes.fromhex(channel), *secret) for secret in secrets]
        await self._database.write(lambda db: db.executemany(KEEP_EPOCH, rows))

    async def tickets(self, channel: ChannelId) -> list[Ticket]:
        """See `sync.net.governance.key_store.KeyStore`."""
        return await self._database.read(
            lambda db: [Ticket(*row) for row in db.execute(TICKETS, (bytes.fromhex(channel),))]
        )

    async def keep_ticket(self, channel: ChannelId, ticket: Ticket) -> None:
        """See `sync.net.governance.key_store.KeyStore`."""
        row = (bytes.fromhex(channel), *ticket)
        await self._database.write(lambda db: db.execute(KEEP_TICKET, row))

    async def forget_tickets(self, channel: ChannelId, tickets: Sequence[Ticket]) -> None:
        """See `sync.net.governance.key_store.KeyStore`."""
        rows = [(bytes.fromhex(channel), ticket.public) for ticket in tickets]
        await self._database.write(lambda db: db.executemany(FORGET_TICKET, rows))

    async def seals(self, channel: ChannelId, author: Key, limit: int) -> list[Seal]:
        """See `sync.net.governance.key_store.KeyStore`."""
        return await self._database.read(partial(_seals, channel, author, limit))

    async def noise_key(self, peer: PeerId) -> bytes | None:
        """See `sync.net.governance.key_store.KeyStore`."""
        row = await self._database.read(
            lambda db: db.execute(NOISE, (bytes.fromhex(peer),)).fetchone()
        )
        return None if row is None else row[0]


def _found(membership: Membership, log: int, genesis: StoredOp, db: sqlite3.Connection) -> None:
    assert membership.genesis is not None
    row = membership_row(membership, log)
    db.execute(FOUND, row)
    stored = StoreOp(membership.channel, genesis.content, genesis.judgement)
    keep_governance(db, [stored])
    channel = bytes.fromhex(membership.channel)
    db.execute(KEEP_EPOCH, (channel, 0, membership.genesis, membership.secret))


def _seals(channel: ChannelId, author: Key, limit: int, db: sqlite3.Connection) -> list[Seal]:
    place = (bytes.fromhex(channel), author)
    found = []
    for log, seq, _ in db.execute(TOPS, (*place, limit)).fetchall():
        (message_id,) = db.execute(TOP, (*place, log, seq)).fetchone()
        found.append(Seal(author, to_u64(log), to_u64(seq), message_id))
    return found
