"""Many ids as rows of 40 bytes: a quarter of what objects take, which are made where they are read.

A row is that of `sync.structures.set_digest`: rows order like the ids they are of.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from sync.structures.ordered_set import Columns, SyncId, rows_of, sync_ids
from sync.structures.set_digest import ROW_BYTES, TIMESTAMP_BYTES, read_row, row
from sync.structures.sorted_run import HASH_BYTES, HASH_WORDS

ByteRows: TypeAlias = NDArray[np.bytes_]
"""Rows of equal length, which compare byte by byte; a value that is read lacks zeros at its end."""

READ_AT_ONCE: Final = 256
"""Ids that are objects at one time, while somebody goes through all of them."""


class Ids(Sequence[SyncId]):
    """Ids in the order in which they were given; they never change."""

    __slots__ = ("_rows",)

    def __init__(self, rows: bytes = b"") -> None:
        """Take rows as they are."""
        self._rows = rows

    @classmethod
    def of(cls, ids: Iterable[SyncId]) -> "Ids":
        """Return ids as rows; those that are so already are returned themselves."""
        return ids if isinstance(ids, Ids) else cls(b"".join(map(row, ids)))

    @classmethod
    def of_columns(cls, columns: Columns) -> "Ids":
        """Return the ids of columns."""
        return cls(rows_of(*columns))

    def __len__(self) -> int:
        return len(self._rows) // ROW_BYTES

    @overload
    def __getitem__(self, at: int) -> SyncId: ...

    @overload
    def __getitem__(self, at: slice) -> "Ids": ...

    def __getitem__(self, at: "int | slice") -> "SyncId | Ids":
        """Return an id, or those from one place to another, one after the other."""
        places = range(len(self))[at]
        if isinstance(places, range):
            assert places.step == 1, "rows are taken one after the other"
            return Ids(self._rows[ROW_BYTES * places.start : ROW_BYTES * places.stop])
        return read_row(self._rows[ROW_BYTES * places : ROW_BYTES * (places + 1)])

    def __iter__(self) -> Iterator[SyncId]:
        for begin in range(0, len(self), READ_AT_ONCE):
            columns = self[begin : begin + READ_AT_ONCE].columns
            raw = columns.hashes.tobytes()
            hashes = [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]
            yield from sync_ids(columns.timestamps.tolist(), hashes)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ids):
            return self._rows == other._rows
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(map(SyncId.__eq__, self, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Ids.of({list(self)!r})"

    @property
    def rows(self) -> bytes:
        """The rows."""
        return self._rows

    @property
    def columns(self) -> Columns:
        """Timestamps and hashes, (n) and (n, 4)."""
        words = np.frombuffer(self._rows, np.uint64).reshape(-1, 1 + HASH_WORDS)
        timestamps = np.frombuffer(self._rows, ">u8").reshape(-1, 1 + HASH_WORDS)[:, 0]
        return Columns(timestamps.astype(np.uint64), words[:, 1:].copy())

    @property
    def hashes(self) -> bytes:
        """The hashes, one after the other."""
        octets = np.frombuffer(self._rows, np.uint8).reshape(-1, ROW_BYTES)
        return octets[:, TIMESTAMP_BYTES:].tobytes()


def byte_rows(raw: bytes, width: int) -> ByteRows:
    """Return rows of `width` bytes in rising order, each once."""
    rows: ByteRows = np.unique(np.frombuffer(raw, f"S{width}"))
    return rows


NO_IDS: Final = Ids()
