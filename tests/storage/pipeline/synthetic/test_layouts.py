"""An export a node has the rows of one export of all, in files as exporters write them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.archive.about import capabilities, version
from storage.archive.layout import Layout
from storage.archive.parquet import TableFile
from storage.archive.tables import FORMAT, HISTORY, HISTORY_DIR, LOG, LOG_DIR, NOTE
from storage.pipeline.command import cli
from storage.pipeline.inputs.footers import check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.synthetic.dataset import TRUTH
from storage.pipeline.synthetic.plan import Faults, Plan
from tests.support.storage.synthetic import made, plan

TABLES = ((HISTORY_DIR, HISTORY), (LOG_DIR, LOG))
NODES = 9


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One data set with all faults in both layouts."""
    place = tmp_path_factory.mktemp("layouts")
    for layout in Layout:
        made(place / layout, wanted(), layout)
    return place


def wanted() -> Plan:
    """Two channels of six of nine nodes, over two days."""
    return plan(3, Faults(late_joiners=2), never=0.05, nodes=NODES)


def rows(directory: Path, table: str, schema: pa.Schema) -> list[str]:
    """All rows of a table below a directory, sorted."""
    read = [
        pq.ParquetFile(path).read().cast(schema).to_pylist()
        for path in directory.rglob(f"{table}/*/*/*.parquet")
    ]
    return sorted(repr(row) for part in read for row in part)


@pytest.mark.parametrize(("table", "schema"), TABLES)
def test_both_layouts_have_the_same_rows(table: str, schema: pa.Schema, directory: Path) -> None:
    one, nodes = (rows(directory / layout, table, schema) for layout in Layout)

    assert len(one) > 1000
    assert nodes == one


def test_both_layouts_have_the_same_truth(directory: Path) -> None:
    one, nodes = ((directory / layout / TRUTH).read_text() for layout in Layout)

    assert nodes == one


def test_the_export_of_a_node_has_its_rows_alone(directory: Path) -> None:
    exports = [path.parent for path in (directory / Layout.NODES).rglob(NOTE)]

    assert len(exports) == NODES
    for export in exports:
        note = json.loads((export / NOTE).read_text())
        assert note["nodes"] == [export.name]
        channels = set()
        for table, _ in TABLES:
            for path in export.glob(f"{table}/*/*/*.parquet"):
                found = pq.ParquetFile(path).read(["node", "channel"])
                assert set(found["node"].to_pylist()) == {export.name}
                channels |= set(found["channel"].to_pylist())
        assert set(note["channels"]) == channels


def test_files_are_those_that_the_exporter_writes(directory: Path, tmp_path: Path) -> None:
    nodes = directory / Layout.NODES
    for table, schema in TABLES:
        paths = sorted(nodes.glob(f"*/{table}/channel=*/day=*/*.parquet"))
        assert len(paths) > NODES
        for path in paths:
            read = pq.ParquetFile(path).read()
            by_row = tmp_path / path.name
            with TableFile(by_row, schema) as file:
                file.add_all(tuple(row.values()) for row in read.to_pylist())
            assert path.read_bytes() == by_row.read_bytes(), path
    names = {path.name for path in nodes.rglob("*.parquet")}
    assert names == {"history.parquet", "synthetic.parquet"}
    assert not list(nodes.rglob(".*"))


def test_exports_pass_the_checks_of_every_job(directory: Path) -> None:
    inputs = Inputs.find([directory / Layout.NODES])

    amount = check_files(inputs)

    counts = json.loads((directory / Layout.NODES / TRUTH).read_text())["counts"]
    assert amount.rows == counts["history"] + counts["log"]
    assert not amount.unknown
    for export, note in zip(inputs.directories, inputs.notes, strict=True):
        written = json.loads((export / NOTE).read_text())
        assert written["format"] == FORMAT
        assert note.version == version()
        assert note.capabilities == capabilities()
        assert set(note.clocks) == set(note.nodes)


def test_notes_tell_which_rows_of_each_start_there_are(directory: Path) -> None:
    for export in (directory / Layout.NODES).glob("*/"):
        starts: dict[int, list[int]] = {}
        for path in export.glob(f"{LOG_DIR}/*/*/*.parquet"):
            for row in pq.ParquetFile(path).read(["boot", "seq"]).to_pylist():
                starts.setdefault(row["boot"], []).append(row["seq"])

        boots = json.loads((export / NOTE).read_text())["more"]["boots"]

        told = {one["boot"]: (one["first"], one["last"]) for one in boots}
        assert told == {boot: (min(seqs), max(seqs)) for boot, seqs in starts.items()}


def test_the_command_writes_an_export_a_node_into_a_new_directory(tmp_path: Path) -> None:
    sizes = {"nodes": 4, "messages": 100, "channels": 1, "members": 3, "equivocations": 2}
    options = [f"--{name}={value}" for name, value in sizes.items()]
    command = ["synthesize", str(tmp_path / "made"), "--layout", "nodes", *options]

    first, again = (CliRunner().invoke(cli, command) for _ in range(2))

    assert first.exit_code == 0, first.output
    assert len(list((tmp_path / "made").glob(f"*/{NOTE}"))) == 4
    assert again.exit_code == 2
    assert "is not empty: remove what is in it, or name a new one." in again.output
