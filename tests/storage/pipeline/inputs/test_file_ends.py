"""Ends of files: what they say of times, and that they differ where files do."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.pipeline.consolidate.transforms import present_by
from storage.pipeline.inputs.file_ends import AT_ONCE, TAIL, read_end, together
from sync.machine import DAY


def written(path: Path, times: Sequence[int | None], columns: int = 0) -> Path:
    table = pa.table({"created_ns": pa.array(times, pa.int64())})
    for number in range(columns):
        table = table.append_column(f"more {number}", table["created_ns"])
    pq.write_table(table, path)
    return path


def test_the_end_tells_rows_size_and_days(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", [3 * DAY + 7, 5 * DAY - 1])

    end = read_end(path)

    assert (end.rows, end.size) == (2, path.stat().st_size)
    assert end.days("created_ns") == (3, 4)
    assert end.days("another column") is None


@pytest.mark.parametrize("times", [[None, DAY], []])
def test_days_are_unknown_where_a_time_is_null_or_no_row_is_there(
    times: list[int | None], tmp_path: Path
) -> None:
    assert read_end(written(tmp_path / "a.parquet", times)).days("created_ns") is None


def test_an_end_longer_than_what_is_read_at_first_is_read_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "wide.parquet", [DAY], columns=1_000)

    end = read_end(path)

    assert end.metadata.serialized_size > TAIL
    assert end.days("created_ns") == (1, 1)


def test_files_with_other_rows_have_other_digests(tmp_path: Path) -> None:
    ends = [
        read_end(written(tmp_path / f"{number}.parquet", times))
        for number, times in enumerate(([1, 2], [1, 2], [1, 3]))
    ]

    assert ends[0].digest == ends[1].digest != ends[2].digest


def test_many_files_are_read_in_order() -> None:
    numbers = list(range(3 * AT_ONCE + 1))

    assert together(lambda number: -number, numbers) == [-number for number in numbers]


@pytest.mark.parametrize("nodes", [["a", "b"], ["a", None], [], [b"\xff"]])
def test_whose_rows_a_file_has_is_read_where_its_end_does_not_say_it(
    nodes: list[str | bytes | None], tmp_path: Path
) -> None:
    """Of a file without rows there is nothing to read."""
    told = of_nodes(tmp_path / "a.parquet", ["c"])
    silent = of_nodes(tmp_path / "b.parquet", nodes)

    found, others = present_by([read_end(told), read_end(silent)])

    assert found == {("general", "c", "1970-01-03")}
    assert others == ([silent] if nodes else [])


def of_nodes(path: Path, nodes: Sequence[str | bytes | None]) -> Path:
    words = [one.encode() if isinstance(one, str) else one for one in nodes]
    table = {
        "channel": pa.array(["general"] * len(nodes), pa.string()),
        "node": pa.array(words, pa.binary()).view(pa.string()),
        "created_ns": pa.array([2 * DAY] * len(nodes), pa.int64()),
    }
    pq.write_table(pa.table(table), path)
    return path
