"""Rows of an export into Parquet files: appended in order, a row group at a time, whole or not.

Rows are tuples in the order of the columns of `storage.archive.tables`. The caller sorts them.
"""

import os
import shutil
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.archive.tables import BIGINT_MAX, ROW_GROUP, signed, sync_words
from sync.entries.entry import Entry
from sync.entries.replies import answered_by
from sync.errors import LocalError
from sync.machine import PeerId
from sync.runner.log_rows import LogRow

COMPRESSION: Final = "zstd"
"""A third smaller than snappy on headers and signatures, and no slower here."""

GROUP_BYTES_MAX: Final = 32 * 1024 * 1024
"""Bytes of headers and bodies after which a row group ends early: long texts fill memory sooner."""

BATCH: Final = 4096
"""Rows that wait as Python values, ten times as large, before they become columns."""

ROW_BYTES: Final = 64
"""Size of a row beside its byte strings, about."""

MAGIC: Final = b"PAR1"
"""First and last bytes of a Parquet file."""

FOR_OWNER: Final = 0o700
"""Rights of the directories of an export: it holds what everybody wrote."""

Row: TypeAlias = tuple[Any, ...]


def texts_of(schema: pa.Schema) -> list[str]:
    """Return the columns that repeat and get a dictionary; numbers and hashes hardly do."""
    return [field.name for field in schema if pa.types.is_string(field.type)]


def has_both_ends(path: Path) -> bool:
    """Return whether a Parquet file is there and was not cut off; what lies between is not read."""
    try:
        with path.open("rb") as file:
            first = file.read(len(MAGIC))
            file.seek(-len(MAGIC), os.SEEK_END)
            return first == file.read() == MAGIC
    except OSError:
        return False


class TableFile:
    """One Parquet file. It appears at `path` when the `with` block ends well, or not at all."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.rows = 0
        self._path = path
        self._fresh = path.with_name(f".{path.name}.new")
        self._schema = schema
        self._rows: list[Row] = []
        self._group: list[pa.RecordBatch] = []
        self._group_rows = self._group_bytes = 0
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        make_directory(self._path.parent)
        texts = texts_of(self._schema)
        try:
            self._writer = pq.ParquetWriter(
                self._fresh.absolute(),  # to pyarrow, a relative name with a colon is a URI
                self._schema,
                compression=COMPRESSION,
                use_dictionary=texts,
            )
        except BaseException:  # the disk is full: it is there, and empty
            self._fresh.unlink(missing_ok=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._writer is not None
        try:
            if kind is None:
                self._write_group()
            self._writer.close()
            if kind is None and self.rows:
                _flush(self._fresh)
                self._fresh.replace(self._path)
        finally:
            with suppress(FileNotFoundError):
                self._fresh.unlink()

    def add(self, row: Row) -> None:
        """Append a row."""
        self._rows.append(row)
        self._group_rows += 1
        self._group_bytes += ROW_BYTES + sum([len(one) for one in row if type(one) is bytes])
        if self._group_rows == ROW_GROUP or self._group_bytes >= GROUP_BYTES_MAX:
            self._write_group()
        elif len(self._rows) == BATCH:
            self._batch()

    def add_all(self, rows: Iterable[Row]) -> None:
        """Append rows."""
        for row in rows:
            self.add(row)

    def add_columns(self, rows: pa.RecordBatch) -> None:
        """Append rows that are columns already; row groups end as if `add` had got each."""
        self._batch()
        ends = _ends(rows)
        begin = before = 0
        while begin < len(rows):
            room = GROUP_BYTES_MAX - self._group_bytes
            by_bytes = bisect_left(ends, before + room) + 1
            end = min(by_bytes, begin + ROW_GROUP - self._group_rows, len(rows))
            self._group.append(rows.slice(begin, end - begin))
            self._group_rows += end - begin
            self._group_bytes += ends[end - 1] - before
            if self._group_rows == ROW_GROUP or self._group_bytes >= GROUP_BYTES_MAX:
                self._write_group()
            begin, before = end, ends[end - 1]

    def _batch(self) -> None:
        """Make columns of the rows that wait."""
        if self._rows:
            arrays = [
                pa.array(column, field.type)
                for column, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
            ]
            self._group.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
            self._rows = []

    def _write_group(self) -> None:
        self._batch()
        if not self._group:
            return
        assert self._writer is not None
        table = pa.Table.from_batches(self._group, self._schema)
        self._writer.write_table(table, row_group_size=len(table))
        self.rows += len(table)
        self._group = []
        self._group_rows = self._group_bytes = 0


def _ends(rows: pa.RecordBatch) -> list[int]:
    """Return how many bytes rows have together up to the end of each, as `add` counts them."""
    sizes = pa.repeat(ROW_BYTES, len(rows))
    for column in rows.columns:
        if pa.types.is_binary(column.type):
            lengths = pc.fill_null(pc.binary_length(column), 0)
            sizes = pc.add(sizes, lengths.cast(pa.int64()))
    ends: list[int] = pc.cumulative_sum(sizes).to_pylist()
    return ends


def history_row(node: PeerId, entry: Entry, waku_hash: bytes, *, delivered: bool) -> Row:
    """Return the row of `HISTORY` for an entry that `node` holds."""
    header, answers = entry.header, answered_by(entry)
    return (
        node,
        header.channel_id,
        bytes.fromhex(entry.message_id),
        *sync_words(waku_hash),
        min(header.created_ns, BIGINT_MAX),
        min(header.lamport, BIGINT_MAX),
        header.author,
        signed(header.log),
        min(header.seq, BIGINT_MAX),
        [bytes.fromhex(parent.message_id) for parent in header.parents],
        header.kind,
        delivered,
        entry.header_bytes,
        entry.signature,
        entry.body,
        None if header.backlink is None else bytes.fromhex(header.backlink),
        None if header.skiplink is None else bytes.fromhex(header.skiplink),
        list(header.governance) or None,
        None if answers is None else bytes.fromhex(answers),
    )


def log_row(row: LogRow) -> Row:
    """Return the row of `LOG` for what a node noted."""
    run, boot, seq, at, node, peer, channel, kind, message_id, lamport, *rest = row
    stored = None if message_id is None else bytes.fromhex(message_id)
    if lamport is not None:
        lamport = min(lamport, BIGINT_MAX)
    return (run, boot, seq, at, node, peer, channel, kind.value, stored, lamport, *rest)


def _flush(path: Path) -> None:
    """Have a file on the disk before it gets its name: after a power cut it is whole."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def make_directory(directory: Path) -> None:
    """Make a directory for its owner alone, and those above it, where they are not there."""
    if not directory.is_dir():
        make_directory(directory.parent)
        with suppress(FileExistsError):
            os.mkdir(directory, FOR_OWNER)  # noqa: PTH102  # with its rights from the start


@contextmanager
def writable(directory: Path) -> Iterator[None]:
    """Turn what the system says about an export's files into a sentence for the person.

    Raises:
        LocalError: they cannot be written.
    """
    shown = os.fsencode(directory.absolute()).decode(errors="replace")
    if shown != str(directory.absolute()):  # pyarrow cannot open it
        raise LocalError(f"The name of {shown} is not UTF-8: name another directory.")
    try:
        yield
    except OSError as error:
        # where pyarrow wrote, `strerror` is a page of its own
        said = error if error.errno is None else os.strerror(error.errno)
        raise LocalError(
            f"The export cannot be written to {directory} ({said}): make room or put its rights "
            "right, or name another directory."
        ) from error


@contextmanager
def whole(directory: Path) -> Iterator[None]:
    """Have the block fill a new or empty directory: if it raises, all that it wrote is removed.

    Raises:
        LocalError: something is in it.
        OSError: it cannot be made.
    """
    is_new = not directory.exists()
    make_directory(directory)
    if any(directory.iterdir()):
        raise LocalError(f"{directory} is not empty: remove what is in it, or name a new one.")
    try:
        yield
    except BaseException:
        for path in directory.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if is_new:
            directory.rmdir()
        raise
