"""Ids that a session found missing, and what became of each: one copy, in columns, 42 bytes an id.

As objects in sets, beside the columns that the check and the shares need, they took 250.
"""

from enum import IntEnum
from typing import Final

from sync.structures.ids import Ids
from sync.structures.ordered_set import SyncId
from sync.structures.row_table import Block, RowTable
from sync.structures.set_digest import ROW_BYTES, row


class Fate(IntEnum):
    """Fate of an id: missing, or where its message came from."""

    GONE = 0
    """It was not found missing, or has come since all was found."""
    MISSING = 1
    GOT = 2
    """Its message came from the peer while more could be found missing."""
    ELSEWHERE = 3
    """Somebody else brought its message."""


FATES: Final = tuple(Fate)


class FoundIds:
    """See the module docstring."""

    def __init__(self) -> None:
        self._table = RowTable(ROW_BYTES, keeps=True)
        self._counts = [0] * len(Fate)
        """By fate."""

    def add(self, ids: Ids) -> None:
        """These are missing, but for those of which that was known."""
        self._counts[Fate.MISSING] += self._table.insert(ids.rows, Fate.MISSING)

    def fate(self, sync_id: SyncId) -> Fate:
        """Return what became of an id."""
        return FATES[self._table.number(row(sync_id))]

    def is_missing(self, sync_id: SyncId) -> bool:
        """Return whether an id was found missing, and its message has not come."""
        return bool(self._counts[Fate.MISSING]) and self.fate(sync_id) is Fate.MISSING

    def came(self, sync_id: SyncId, fate: Fate = Fate.GONE) -> bool:
        """Note what became of an id; returns False if it was not missing."""
        key = row(sync_id)
        if not self._counts[Fate.MISSING] or self._table.number(key) != Fate.MISSING:
            return False
        self._table.change(key, fate)
        self._counts[Fate.MISSING] -= 1
        self._counts[fate] += 1
        return True

    def count(self, fate: Fate) -> int:
        """Return of how many ids this became."""
        return self._counts[fate]

    @property
    def missing(self) -> Ids:
        """Those that have not come, rising."""
        return Ids(self._table.having(Fate.MISSING)) if self._counts[Fate.MISSING] else Ids()

    @property
    def all(self) -> Ids:
        """All of them, whatever became of them, rising."""
        return Ids(self._table.rows())

    def seal(self) -> Block:
        """Return those of now, rising, with their fates as these change; see `Block`."""
        return self._table.seal()
