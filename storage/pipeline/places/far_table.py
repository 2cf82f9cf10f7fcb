"""Table behind a URI, read without Spark: small ones, of a report."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.pipeline.places.place import source


class FarTable:
    """A table behind a URI, with the verbs of a data set of pyarrow's that are used here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def head(self, limit: int) -> pa.Table:
        """Return the first rows."""
        parts, left = [], limit
        for file in sorted(self._path.rglob("*.parquet")):
            part = self._read(file).slice(0, left)
            parts.append(part)
            left -= part.num_rows
            if not left:
                break
        return pa.concat_tables(parts, promote_options="default")

    def count_rows(self, filter: pc.Expression | None = None) -> int:  # noqa: A002  # as pyarrow has it
        """Return how many rows there are, or how many are chosen."""
        files = self._path.rglob("*.parquet")
        if filter is None:
            return sum(int(pq.read_metadata(source(file)).num_rows) for file in files)
        return sum(int(self._read(file).filter(filter).num_rows) for file in files)

    def to_table(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002
    ) -> pa.Table:
        """Return the rows that are chosen, with these columns."""
        parts = [self._read(file) for file in sorted(self._path.rglob("*.parquet"))]
        table = pa.concat_tables(parts, promote_options="default")
        chosen = table if filter is None else table.filter(filter)
        return chosen if columns is None else chosen.select(list(columns))

    def to_batches(
        self, columns: Sequence[str], batch_readahead: int = 0
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one file after the other; nothing is read ahead."""
        del batch_readahead
        for file in sorted(self._path.rglob("*.parquet")):
            yield from pq.ParquetFile(source(file), pre_buffer=False).iter_batches(columns=columns)

    def _read(self, file: Path) -> pa.Table:
        """Return the rows of a file, with the columns that its path has."""
        rows = pq.ParquetFile(source(file), pre_buffer=False).read()
        for part in file.parent.relative_to(self._path).parts:
            name, _, value = part.partition("=")
            rows = rows.append_column(name, pa.array([value] * rows.num_rows))
        return rows
