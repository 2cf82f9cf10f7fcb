"""Rows that come as columns are written as rows that come one by one."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.archive import parquet
from storage.archive.parquet import Row, TableFile
from storage.archive.tables import HISTORY

PARTS = (1, 6, 3, 20)
"""Rows that come at a time."""


def rows() -> list[Row]:
    """Rows of `HISTORY`, some of them long."""
    filled = {"parents": [b"p"], "delivered": True, "governance": None, "reply_to": None}
    texts = {"node", "channel", "author"}
    names = [name for name in HISTORY.names if name not in filled]
    found = []
    for number in range(sum(PARTS)):
        row: dict[str, Any] = {name: f"{number % 3}" if name in texts else number for name in names}
        row |= dict.fromkeys(("message_id", "header", "signature"), b"12345678")
        row |= {"body": b"b" * (1 + number % 7 * 300), "skiplink": None}
        row |= {"backlink": b"x" * 32 if number % 2 else None}
        found.append(tuple((row | filled)[name] for name in HISTORY.names))
    return found


@pytest.mark.parametrize("limits", [(8, 10**9), (10**9, 3000), (7, 2500), (10**9, 1)])
def test_row_groups_end_where_those_of_single_rows_end(
    limits: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", limits[0])
    monkeypatch.setattr(parquet, "GROUP_BYTES_MAX", limits[1])
    wanted = rows()

    with TableFile(tmp_path / "rows.parquet", HISTORY) as file:
        file.add_all(wanted)
    with TableFile(tmp_path / "columns.parquet", HISTORY) as file:
        file.add(wanted[0])
        begin = 1
        for size in PARTS[1:]:
            columns = zip(*wanted[begin : begin + size], strict=True)
            arrays = [
                pa.array(column, of.type) for column, of in zip(columns, HISTORY, strict=True)
            ]
            file.add_columns(pa.RecordBatch.from_arrays(arrays, schema=HISTORY))
            begin += size

    groups = []
    for name in ("rows", "columns"):
        there = pq.ParquetFile(tmp_path / f"{name}.parquet")
        assert there.metadata.num_row_groups >= 4
        counts = range(there.metadata.num_row_groups)
        groups.append([there.read_row_group(at).to_pylist() for at in counts])
    assert groups[0] == groups[1]
    assert sum(map(len, groups[1])) == sum(PARTS)
