"""What each author takes on the disk: counted by triggers, so nobody reads a history for it."""

from typing import Final, NamedTuple

from storage.columns import peer_id
from storage.database import Database
from sync.machine import PeerId

HEAVIEST: Final = 1024
"""Authors read at once, those who take most: keys cost nothing to make up."""


class Taken(NamedTuple):
    """How much one author has on this disk."""

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
