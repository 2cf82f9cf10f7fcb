"""The ends of Parquet files, which say what is in them: read once each, several at a time.

What a file says of its columns, the least and the greatest of each, is believed here as by Spark
itself, which passes over rows by it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from sync.machine import DAY, Nanos

READERS: Final = 4
"""Threads that read: a disk, or a store far away, answers several questions at once."""

AT_ONCE: Final = 64
"""Files handed to a thread at once: one by one, handing over costs as much as reading."""

TAIL: Final = 64 * 1024
"""Bytes read of the end of a file at first; hardly any end is longer."""

LENGTH: Final = 8
"""Bytes after the end proper: its length, and four letters."""

DIGEST_BYTES: Final = 16

PARQUET: Final = ds.ParquetFileFormat()

T = TypeVar("T")
R = TypeVar("R")


class Ends(NamedTuple):
    """The least and the greatest value of a column."""

    least: Any
    most: Any


@dataclass(frozen=True, slots=True)
class FileEnd:
    """End of one file; `digest` is of its bytes."""

    path: Path
    size: int
    digest: str
    metadata: pq.FileMetaData

    @property
    def rows(self) -> int:
        """Count of its rows."""
        return int(self.metadata.num_rows)

    def ends(self, column: str) -> Ends | None:
        """Return the least and the greatest value of a column; None if the file does not say."""
        at = self.metadata.schema.to_arrow_schema().get_field_index(column)
        found: list[Ends] = []
        for group in range(self.metadata.num_row_groups if at >= 0 else 0):
            chunk = self.metadata.row_group(group).column(at)
            known = chunk.statistics
            if chunk.path_in_schema != column or known is None or not known.has_min_max:
                return None
            if known.null_count or not known.has_null_count:
                return None
            found.append(Ends(known.min, known.max))
        if not found:
            return None
        return Ends(min(one.least for one in found), max(one.most for one in found))

    def days(self, column: str) -> Ends | None:
        """Return the first and the last day of a column of times; None if the file does not say."""
        ends = self.ends(column)
        return None if ends is None else Ends(*map(day_number, ends))


def day_number(when: Nanos) -> int:
    """Return the number of the day, in UTC, that a time is in; that of 1970-01-01 is 0."""
    return when // DAY


def read_end(path: Path) -> FileEnd:
    """Read the end of a file.

    Raises:
        OSError, pa.ArrowException: it cannot be read, or is no Parquet.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        tail = _last(file, size, TAIL)
        length = int.from_bytes(tail[-LENGTH:-4], "little") + LENGTH
        if length > len(tail):
            tail = _last(file, size, length)
    end = tail[-length:]
    digest = blake2b(end, digest_size=DIGEST_BYTES).hexdigest()
    # unlike `pq.read_metadata`, this lets other threads go on meanwhile
    whole = PARQUET.make_fragment(pa.py_buffer(end))
    whole.ensure_complete_metadata()
    return FileEnd(path, size, digest, whole.metadata)


def _last(file: Any, size: int, wanted: int) -> bytes:  # noqa: ANN401  # here or far away
    file.seek(max(0, size - wanted))
    return bytes(file.read())


def together(do: Callable[[T], R], things: Sequence[T]) -> Sequence[R]:
    """Do something with each of many files, several at a time; returns the results in order."""

    def do_some(some: Sequence[T]) -> list[R]:
        return [do(one) for one in some]

    parts = [things[at : at + AT_ONCE] for at in range(0, len(things), AT_ONCE)]
    with ThreadPoolExecutor(READERS) as pool:
        return list(chain.from_iterable(pool.map(do_some, parts)))
