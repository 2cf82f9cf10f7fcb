"""Reading tables of results where Spark's jobs would cost more than the reading: a batch at a time.

Each function takes a directory with the Parquet files of one table.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.tables import BIGINT_MAX
from storage.pipeline.places.place import sink, source
from sync.machine import MINUTE, Nanos

MINUTES_MAX: Final = 100_000
"""Minutes told apart, 70 days of them; whoever wants more reads everything."""

RANGES_MAX: Final = 24
"""Ranges asked of Spark. Of 75 minutes here and there in a day, these leave out more than half of
the rows. Java does not compile methods of over 8,000 bytes, and the step over rows grows by 200
with each range; with 64, it took seven times as long."""


class Range(NamedTuple):
    """From `first` to `last`, both inclusive."""

    first: Nanos
    last: Nanos


EVERYTHING: Final = Range(0, BIGINT_MAX)


def files_of(table: Path) -> list[Path]:
    """Return the files of a table, by name."""
    return sorted(table.rglob("*.parquet"))


def files_near(table: Path, column: str, ranges: Sequence[Range]) -> list[Path]:
    """Return the files of a table that may have times in these ranges, by what their footers say.

    Directories are named for days too, but what a row means stands in its columns.
    """
    return [file for file in files_of(table) if _is_near(file, column, ranges)]


def _is_near(file: Path, column: str, ranges: Sequence[Range]) -> bool:
    metadata = pq.read_metadata(source(file))
    at = metadata.schema.to_arrow_schema().get_field_index(column)
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(at)
        known = chunk.statistics
        if chunk.path_in_schema != column or known is None or not known.has_min_max:
            return True
        if any(known.min <= one.last and known.max >= one.first for one in ranges):
            return True
    return False


def rows_in(table: Path) -> int:
    """Return how many rows there are, by the files' footers."""
    return sum(pq.read_metadata(source(file)).num_rows for file in files_of(table))


def least_in(table: Path, column: str) -> int | None:
    """Return the least value of a column of numbers, by the files' footers; None without rows."""
    least: list[int] = []
    for file in files_of(table):
        metadata = pq.read_metadata(source(file))
        at = metadata.schema.to_arrow_schema().get_field_index(column)
        groups = range(metadata.num_row_groups)
        least += [int(metadata.row_group(group).column(at).statistics.min) for group in groups]
    return min(least, default=None)


def total_of(prints: Path) -> int:
    """Return how many messages a level of fingerprints counts."""
    return sum(
        int(batch.column("count").to_numpy().sum())
        for file in files_of(prints)
        for batch in pq.ParquetFile(source(file)).iter_batches(columns=["count"])
    )


def minutes_in(table: Path, column: str) -> Sequence[Nanos] | None:
    """Return the minutes that the times in `column` are in, rising, each once.

    None if they are more than `MINUTES_MAX`.
    """
    minutes = np.empty(0, np.int64)
    for file in files_of(table):
        for batch in pq.ParquetFile(source(file)).iter_batches(columns=[column]):
            times = batch.column(column).to_numpy()
            minutes = np.union1d(minutes, times // MINUTE * MINUTE)
            if len(minutes) > MINUTES_MAX:
                return None
    return [int(minute) for minute in minutes]


def ranges_of(minutes: Sequence[Nanos] | None) -> list[Range]:
    """Return at most `RANGES_MAX` ranges that hold all of these minutes, which rise.

    Where there are too many, those with the least between them become one.
    """
    if minutes is None:
        return [EVERYTHING]
    if not minutes:
        return []
    gaps = [
        (later - earlier, at)
        for at, (earlier, later) in enumerate(pairwise(minutes), start=1)
        if later - earlier > MINUTE
    ]
    cuts = sorted(at for _, at in sorted(gaps, reverse=True)[: RANGES_MAX - 1])
    return [
        Range(minutes[begin], min(minutes[end - 1] + MINUTE - 1, BIGINT_MAX))
        for begin, end in zip([0, *cuts], [*cuts, len(minutes)], strict=True)
    ]


def narrow(wide: Path, table: Path, schema: pa.Schema) -> int:
    """Write some columns of one table as another one, in the order of its files; returns rows."""
    table.mkdir()
    with sink(table / "0.parquet") as file, pq.ParquetWriter(file, schema) as writer:
        for part in files_of(wide):
            for batch in pq.ParquetFile(source(part)).iter_batches(columns=schema.names):
                columns = [batch.column(name) for name in schema.names]
                writer.write_batch(pa.record_batch(columns, schema=schema))
    return rows_in(table)
