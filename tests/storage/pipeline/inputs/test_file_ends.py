"""Ends of files, read alone and many at a time."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from storage.pipeline.inputs.file_ends import AT_ONCE, TAIL, read_end, together
from sync.machine import DAY


def written(path: Path, times: list[int | None], columns: int = 0) -> Path:
    table = pa.table({"created_ns": pa.array(times, pa.int64())})
    for number in range(columns):
        table = table.append_column(f"more {number}", table["created_ns"])
    pq.write_table(table, path)
    return path


def test_the_end_tells_rows_and_size(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", [3 * DAY + 7, 5 * DAY - 1])

    end = read_end(path)

    assert (end.rows, end.size) == (2, path.stat().st_size)


def test_an_end_longer_than_what_is_read_at_first_is_read_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "wide.parquet", [DAY], columns=1_000)

    end = read_end(path)

    assert end.metadata.serialized_size > TAIL
    assert end.metadata.num_columns == 1_001


def test_many_files_are_read_in_order() -> None:
    numbers = list(range(3 * AT_ONCE + 1))

    assert together(lambda number: -number, numbers) == [-number for number in numbers]
