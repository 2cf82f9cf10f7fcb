"""Governance of a profile as an export has it: signed ops, and entries that were not let in."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

from storage.archive.tables import WAITS
from storage.sqlite.governance import ops_of
from sync.calimero.governance.wire import SIGNATURE_SIZE, op_id
from sync.errors import StorageError
from sync.machine import ChannelId, PeerId

Row: TypeAlias = tuple[Any, ...]

TABLES: Final = "SELECT count(*) FROM sqlite_master WHERE name = 'group_ops'"
OPS_MARK: Final = "SELECT count(*), coalesce(max(number), 0) FROM group_ops WHERE channel = ?"
WAITING: Final = "SELECT message_id FROM pending_entries WHERE channel = ? ORDER BY message_id"
DROPPED: Final = """
    SELECT message_id, label FROM dropped_entries WHERE channel = ? ORDER BY message_id
"""


class GovernanceReader:
    """Reads the governance of `me`, all of one time; a context manager.

    A database of before there was any has none.

    Raises:
        StorageError: it cannot be read.
    """

    def __init__(self, path: Path, me: PeerId) -> None:
        self._path = path
        self._me = me
        with self._explaining():
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
            )
            self._db.execute("BEGIN")
            self._is_there = bool(self._db.execute(TABLES).fetchone()[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def ops_mark(self, channel: ChannelId) -> tuple[int, int]:
        """Return how many ops are stored and the number of the last; it rises with each change."""
        if not self._is_there:
            return 0, 0
        with self._explaining():
            count, last = self._db.execute(OPS_MARK, (bytes.fromhex(channel),)).fetchone()
        return count, last

    def ops(self, channel: ChannelId) -> Iterator[Row]:
        """Yield the ops of a channel as rows of `OPS`, ancestors first, but rotten ones."""
        with self._explaining():
            for op in ops_of(bytes.fromhex(channel), self._db):
                yield self._me, channel, op_id(op.content[:-SIGNATURE_SIZE]), op.content

    def not_let_in(self, channel: ChannelId) -> list[Row]:
        """Return the entries of a channel that were dropped or wait, as rows of `NOT_LET_IN`."""
        if not self._is_there:
            return []
        ours = (bytes.fromhex(channel),)
        with self._explaining():
            labels = {one: WAITS for (one,) in self._db.execute(WAITING, ours)}
            labels |= dict(self._db.execute(DROPPED, ours))
        return [(self._me, channel, one, label) for one, label in sorted(labels.items())]

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(
                f"The acts of governance in {self._path} cannot be read ({error}): start the chat "
                "once with this profile, which says what is wrong with it."
            ) from error


def digest_of(rows: list[Row]) -> str:
    """Return what differs whenever rows of `NOT_LET_IN` do."""
    return sha256(repr(rows).encode()).hexdigest()
