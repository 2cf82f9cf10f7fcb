"""Disk usage by author: counted on demand, from the last count on."""

import sqlite3
from typing import Final, NamedTuple

from storage.sqlite.columns import peer_id
from storage.sqlite.database import Database
from sync.machine import PeerId

HEAVIEST: Final = 1024
"""Authors read at once, those who take most: keys cost nothing to make up."""


COUNTED_AT_ONCE: Final = 20_000
"""Messages counted in one transaction: some 20 ms."""

NEWS: Final = """
    SELECT (SELECT max(number) FROM messages) > (SELECT number FROM counted)
"""
COUNT: Final = """
    INSERT INTO authors (author, messages, bytes)
        SELECT author, count(*), sum(size) FROM (
            SELECT author, length(payload) AS size FROM messages, counted
            WHERE messages.number > counted.number AND messages.number <= counted.number + ?1
            LIMIT ?1
        )
        WHERE true GROUP BY author
    ON CONFLICT DO UPDATE SET
        messages = messages + excluded.messages, bytes = bytes + excluded.bytes
"""
"""The limit, which is never met, keeps the inner query by itself: else the payloads themselves are
sorted by author, 20 MB of them, which takes twice as long."""

COUNTED: Final = """
    UPDATE counted SET number = min(number + ?, (SELECT max(number) FROM messages))
"""


class Taken(NamedTuple):
    """Disk usage of one author."""

    messages: int
    bytes: int
    """Of what they sent, as it is kept; indexes come on top."""
    asked: bool
    """Whether the person was asked what to do about it."""


class AuthorStore:
    """The part of the profile that `database` belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def heaviest(self) -> dict[PeerId, Taken]:
        """Return who takes most, the most first."""
        while (await self._database.read(lambda db: db.execute(NEWS).fetchone()))[0]:
            await self._database.write(_count)
        rows = await self._database.read(
            lambda db: db.execute(
                "SELECT author, messages, bytes, asked FROM authors ORDER BY bytes DESC LIMIT ?",
                (HEAVIEST,),
            ).fetchall()
        )
        return {
            peer_id(author): Taken(messages, size, bool(asked))
            for author, messages, size, asked in rows
        }

    async def note_asked(self, author: PeerId) -> None:
        """Keep that the person was asked about `author`: once is enough, also after a start."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE authors SET asked = 1 WHERE author = ?", (bytes.fromhex(author),)
            )
        )


def _count(db: sqlite3.Connection) -> None:
    db.execute(COUNT, (COUNTED_AT_ONCE,))
    db.execute(COUNTED, (COUNTED_AT_ONCE,))
