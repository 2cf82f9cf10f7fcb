"""Small tables of a result, read without Spark: the first rows of each, never all of many."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from storage.pipeline.errors import PipelineError
from storage.pipeline.places.far_table import FarTable
from storage.pipeline.places.place import is_local

Row: TypeAlias = dict[str, Any]


def table_names(directory: Path) -> list[str]:
    """Return the tables of a run, by name."""
    if not directory.is_dir():
        return []
    return sorted(path.name for path in directory.iterdir() if path.is_dir())


def first_rows(directory: Path, name: str, limit: int, order: Sequence[str] = ()) -> list[Row]:
    """Return the first rows of a table; none if it was not written.

    Spark writes a table in no particular order of its files, so `order` sorts what was read.

    Raises:
        PipelineError: it cannot be read.
    """
    table = _dataset(directory / name)
    if table is None:
        return []
    try:
        rows: list[Row] = table.head(limit).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(directory / name, error) from error
    return sorted(rows, key=lambda row: tuple(row[column] for column in order)) if order else rows


def row_count(directory: Path, name: str, chosen: pc.Expression | None = None) -> int:
    """Return how many rows a table has, or how many are chosen; 0 if it was not written.

    Raises:
        PipelineError: it cannot be read.
    """
    table = _dataset(directory / name)
    try:
        return 0 if table is None else int(table.count_rows(filter=chosen))
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(directory / name, error) from error


def _dataset(path: Path) -> Any:  # noqa: ANN401  # pyarrow has no types
    if not any(path.rglob("*.parquet")):
        return None
    if not is_local(path):
        return FarTable(path)
    try:
        return ds.dataset(path.absolute(), format="parquet", partitioning="hive")
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> PipelineError:
    return PipelineError(
        f"{path} cannot be read ({str(error).splitlines()[0]}); run the job again."
    )
