"""Files of exports are looked at before Spark starts."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.archive.tables import HISTORY, HISTORY_DIR, LOG, Note, partition
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.footers import Amount, check_files
from storage.pipeline.inputs.inputs import Inputs
from tests.support.storage.archived import LOGGED, export_log

FROZEN = Path("tests/vectors/exports")


def inputs(directory: Path) -> Inputs:
    """Return an export that has a note and no files yet."""
    directory.mkdir()
    Note(["ab"], {}, {}, {}).write_files(directory)
    return Inputs.find([directory])


def test_files_and_rows_are_counted(tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    path = export_log(found.directories[0], pa.Table.from_pylist([LOGGED] * 3, LOG))

    assert check_files(found) == Amount(files=1, rows=3, size=path.stat().st_size)


def test_an_export_without_rows_is_said(tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    with pytest.raises(PipelineError, match="hold no rows"):
        check_files(found)

    export_log(found.directories[0], LOG.empty_table())

    with pytest.raises(PipelineError, match="hold no rows"):
        check_files(found)


@pytest.mark.parametrize("damage", ["empty", "short", "other"])
def test_a_damaged_file_is_named_with_the_fix(damage: str, tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    path = export_log(found.directories[0])
    whole = path.read_bytes()
    path.write_bytes({"empty": b"", "short": whole[:-10], "other": b"x" * 1000}[damage])

    with pytest.raises(PipelineError, match=f"{path} is damaged.*export it again"):
        check_files(found)


def test_columns_of_another_version_are_named(tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    table = pa.Table.from_pylist([LOGGED], LOG)
    at = table.schema.get_field_index("bytes")
    export_log(found.directories[0], table.set_column(at, "bytes", table["bytes"].cast(pa.int64())))

    with pytest.raises(PipelineError, match=r"another version.*bytes int32, bytes int64"):
        check_files(found)


def test_columns_of_a_later_version_are_counted_and_missing_additions_are_no_fault(
    tmp_path: Path,
) -> None:
    found = inputs(tmp_path / "one")
    table = pa.Table.from_pylist([LOGGED], LOG).drop_columns(["mono_ns", "reason"])
    export_log(found.directories[0], table.append_column("mood", pa.array(["fine"])))

    amount = check_files(found)

    assert (amount.rows, amount.unknown) == (1, {"mood": 1})


def test_the_order_of_columns_means_nothing(tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    table = pa.Table.from_pylist([LOGGED], LOG)
    export_log(found.directories[0], table.select(LOG.names[::-1]))

    assert check_files(found).rows == 1


def test_frozen_exports_are_read() -> None:
    frozen = sorted(FROZEN.iterdir())

    assert [one.name.partition("-")[0] for one in frozen] == ["1.0", "1.1", "1.2", "1.3"]
    for one in frozen:
        amount = check_files(Inputs.find([one]))
        files = 4 if one.name.endswith("governed") else 2
        assert (amount.files, amount.unknown) == (files, {}), one
        assert amount.rows > 50, one


def test_how_a_file_is_written_is_up_to_who_writes_it(tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    nullable = pa.schema([field.with_nullable(True) for field in LOG])
    export_log(found.directories[0], pa.Table.from_pylist([LOGGED], nullable))

    assert check_files(found).rows == 1


def test_the_items_of_a_list_may_have_any_name(tmp_path: Path) -> None:
    found = inputs(tmp_path / "one")
    parents = pa.list_(pa.field("element", pa.binary()))
    at = HISTORY.get_field_index("parents")
    schema = HISTORY.set(at, pa.field("parents", parents))
    where = found.directories[0] / partition(HISTORY_DIR, "0010", "1970-01-01")
    where.mkdir(parents=True)
    pq.write_table(schema.empty_table(), where / "a.parquet", store_schema=False)

    with pytest.raises(PipelineError, match="hold no rows"):
        check_files(found)


@pytest.mark.parametrize("name", ["part-0.parquet", "left-over"])
def test_a_pipe_among_the_files_is_named_and_not_waited_for(tmp_path: Path, name: str) -> None:
    found = inputs(tmp_path / "one")
    path = export_log(found.directories[0], pa.Table.from_pylist([LOGGED], LOG))
    os.mkfifo(path.with_name(name))

    with pytest.raises(PipelineError, match=f"{name} is no ordinary file"):
        check_files(found)
