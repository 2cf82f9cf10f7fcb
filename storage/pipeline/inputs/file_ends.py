"""The ends of Parquet files, which say what is in them: read several at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

READERS: Final = 4
"""Threads that read: a disk, or a store far away, answers several questions at once."""

AT_ONCE: Final = 64
"""Files handed to a thread at once: one by one, handing over costs as much as reading."""

TAIL: Final = 64 * 1024
"""Bytes read of the end of a file at first; hardly any end is longer."""

LENGTH: Final = 8
"""Bytes after the end proper: its length, and four letters."""

PARQUET: Final = ds.ParquetFileFormat()

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class FileEnd:
    """End of one file; sizes are in bytes."""

    path: Path
    size: int
    metadata: pq.FileMetaData

    @property
    def rows(self) -> int:
        """Count of its rows."""
        return int(self.metadata.num_rows)


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
    # unlike `pq.read_metadata`, this lets other threads go on meanwhile
    whole = PARQUET.make_fragment(pa.py_buffer(end))
    whole.ensure_complete_metadata()
    return FileEnd(path, size, whole.metadata)


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
