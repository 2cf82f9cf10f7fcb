"""Both layouts of a made data set have the same rows; one has the files that nodes write."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.archive.layout import NAME_CHARS, Layout
from storage.archive.parquet import TableFile
from storage.archive.tables import FORMAT, HISTORY, HISTORY_DIR, LOG, LOG_DIR, NOTE
from storage.pipeline.inputs.footers import check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.synthetic.dataset import TRUTH, synthesize
from storage.pipeline.synthetic.plan import Faults
from tests.support.storage.synthetic import plan

SCHEMAS = {HISTORY_DIR: HISTORY, LOG_DIR: LOG}
PLAN = plan(3, Faults(), messages=300, nodes=9)


@pytest.fixture(name="both", scope="module")
def _both(tmp_path_factory: pytest.TempPathFactory) -> dict[Layout, Path]:
    """Return the directories of one data set in each layout."""
    where = tmp_path_factory.mktemp("layouts")
    for layout in Layout:
        synthesize(where / layout, PLAN, lambda said: None, layout)
    return {layout: where / layout for layout in Layout}


def rows(directory: Path, table: str) -> list[str]:
    """Return all rows of a table, as text, sorted."""
    files = directory.rglob(f"{table}/channel=*/day=*/*.parquet")
    parts = [pq.ParquetFile(file).read().cast(SCHEMAS[table]) for file in files]
    return sorted(map(repr, pa.concat_tables(parts).to_pylist()))


@pytest.mark.parametrize("table", SCHEMAS)
def test_rows_are_the_same(both: dict[Layout, Path], table: str) -> None:
    together, nodes = (rows(both[layout], table) for layout in (Layout.TOGETHER, Layout.NODES))

    assert len(nodes) > 1_000
    assert nodes == together


def test_the_truth_is_the_same(both: dict[Layout, Path]) -> None:
    assert (both[Layout.NODES] / TRUTH).read_text() == (both[Layout.TOGETHER] / TRUTH).read_text()


def test_each_node_has_an_export_of_its_own_rows(both: dict[Layout, Path]) -> None:
    found = Inputs.find([both[Layout.NODES]])

    assert len(found.directories) == PLAN.nodes
    assert check_files(found).unknown == {}
    for directory, note in zip(found.directories, found.notes, strict=True):
        [node] = note.nodes
        assert directory.name == node[:NAME_CHARS]
        assert json.loads((directory / NOTE).read_text())["format"] == FORMAT
        assert note.clocks == {node: "synthetic"}
        in_rows: set[Any] = set()
        channels: set[Any] = set()
        for file in directory.rglob("*.parquet"):
            read = pq.ParquetFile(file).read(columns=["node", "channel"])
            in_rows |= set(read["node"].to_pylist())
            channels |= set(read["channel"].to_pylist())
        assert in_rows <= {node}
        assert set(note.channels) == channels


def test_files_are_those_that_the_exporter_writes_row_by_row(
    both: dict[Layout, Path], tmp_path: Path
) -> None:
    for table, schema in SCHEMAS.items():
        file = next(both[Layout.NODES].rglob(f"{table}/channel=*/day=*/*.parquet"))
        with TableFile(tmp_path / table, schema) as again:
            again.add_all(tuple(row.values()) for row in pq.ParquetFile(file).read().to_pylist())

        assert file.read_bytes() == (tmp_path / table).read_bytes()


def test_tables_and_rows_may_be_added_in_turn(tmp_path: Path) -> None:
    """A group of rows ends where it would by rows alone."""
    schema = pa.schema([pa.field("number", pa.int64()), pa.field("data", pa.binary())])
    values = [(number, bytes(300)) for number in range(200_000)]
    numbers, data = zip(*values, strict=True)
    with TableFile(tmp_path / "rows", schema) as file:
        file.add_all(values)
    with TableFile(tmp_path / "both", schema) as file:
        file.add_all(values[:5])
        file.add_table(pa.table([numbers, data], schema=schema).slice(5))

    groups = [
        [found.row_group(at).num_rows for at in range(found.num_row_groups)]
        for name in ("rows", "both")
        if (found := pq.read_metadata(tmp_path / name))
    ]
    assert groups[0] == groups[1] == [65_536, 65_536, 65_536, 3_392]
    assert pq.read_table(tmp_path / "both").equals(pq.read_table(tmp_path / "rows"))
