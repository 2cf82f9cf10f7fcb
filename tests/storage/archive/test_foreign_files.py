"""Parquet files that no export has: refused in one sentence, before their cells fill memory."""

from collections.abc import Iterable
from itertools import chain, repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.archive.reader import BATCH, VALUE_MAX, Archive
from storage.archive.tables import HISTORY, OPS
from sync.errors import LocalError
from tests.support.storage.archived import row_of
from tests.support.sync.entries import CHANNEL, Author

ENDLESS = 2**62
"""Of no unit a time that Python has."""


def no_utf8(count: int = 1) -> pa.Array:
    """Strings of bytes that are none."""
    ends = b"".join((3 * at).to_bytes(4, "little") for at in range(count + 1))
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"\xff\xfe\xff" * count)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def repeated(value: bytes, count: int = BATCH) -> pa.Array:
    """Rows that all have one value, which is written once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array([value]))


def history_with(
    path: Path, count: int = 1, *, by_dictionary: bool = True, **other: pa.Array
) -> Archive:
    """An archive of rows of which some columns are others."""
    table = pa.Table.from_pylist([row_of(Author("ann").write())] * count, HISTORY)
    file = path / "history.parquet"
    pq.write_table(with_columns(table, other), file, use_dictionary=by_dictionary)
    return Archive({CHANNEL: [[file]]}, {})


def ops_with(path: Path, count: int = 1, **other: pa.Array) -> Archive:
    """An archive of signed ops of which some columns are others."""
    row = {"node": "ann", "channel": CHANNEL, "op_id": bytes(32), "op": b"signed"}
    file = path / "ops.parquet"
    pq.write_table(with_columns(pa.Table.from_pylist([row] * count, OPS), other), file)
    return Archive({CHANNEL: []}, {}, {CHANNEL: [file]})


def with_columns(table: pa.Table, other: dict[str, pa.Array]) -> pa.Table:
    """Return a table with other columns in place of its own."""
    for name, column in other.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, pa.field(name, column.type), column)
    return table


def refused(rows: Iterable[object]) -> str:
    """Return the sentence with which the first row is refused."""
    with pytest.raises(LocalError, match=r"parquet cannot be read \(.*Copy it again") as caught:
        next(iter(rows))
    return str(caught.value)


@pytest.mark.parametrize("column", ["channel", "message_id", "header", "signature", "body"])
def test_strings_that_are_not_utf8_are_one_sentence(tmp_path: Path, column: str) -> None:
    refused(history_with(tmp_path, **{column: no_utf8()}).rows(CHANNEL))


@pytest.mark.parametrize("column", ["channel", "op"])
def test_ops_that_are_not_utf8_are_one_sentence(tmp_path: Path, column: str) -> None:
    refused(ops_with(tmp_path, **{column: no_utf8()}).ops(CHANNEL))


@pytest.mark.parametrize(
    "times",
    [pa.date64(), pa.duration("s"), pa.timestamp("ms"), pa.timestamp("ns", "No/Zone")],
    ids=str,
)
def test_times_of_another_type_are_refused_by_the_type(tmp_path: Path, times: pa.DataType) -> None:
    found = history_with(tmp_path, created_ns=pa.array([ENDLESS], times))

    assert "created_ns is" in refused(found.rows(CHANNEL))
    with pytest.raises(LocalError, match="created_ns is"):
        found.count(CHANNEL)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([ENDLESS], pa.duration("s")),
        pa.array([{"text": b"a"}]),
        pa.array([[b"a"]]),
        pa.array([5]),
        pa.array([bytes(32)], pa.binary(32)),
        pa.nulls(1),
    ],
    ids=lambda column: str(column.type),
)
def test_bytes_of_another_type_are_refused_by_the_type(tmp_path: Path, column: pa.Array) -> None:
    assert "body is" in refused(history_with(tmp_path, body=column).rows(CHANNEL))
    assert "op is" in refused(ops_with(tmp_path, op=column).ops(CHANNEL))


@pytest.mark.parametrize("column", ["header", "body"])
def test_a_long_cell_of_many_rows_is_refused_before_there_is_a_row(
    tmp_path: Path, column: str
) -> None:
    long = repeated(bytes(VALUE_MAX + 1))

    assert "longer" in refused(history_with(tmp_path, BATCH, **{column: long}).rows(CHANNEL))


def test_a_long_op_of_many_rows_is_refused_before_there_is_a_row(tmp_path: Path) -> None:
    long = repeated(bytes(VALUE_MAX + 1))

    assert "longer" in refused(ops_with(tmp_path, BATCH, op=long).ops(CHANNEL))


def test_long_cells_that_are_written_out_are_refused_by_the_footer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = pa.array(list(repeat(bytes(4 * VALUE_MAX), BATCH)))
    found = history_with(tmp_path, BATCH, by_dictionary=False, body=bodies)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)  # nothing is read

    assert "longer" in refused(found.rows(CHANNEL))


def test_a_cell_of_many_rows_is_in_memory_once(tmp_path: Path) -> None:
    found = history_with(tmp_path, BATCH, body=repeated(bytes(VALUE_MAX)))
    bodies = [row.body for row in found.rows(CHANNEL)]

    assert bodies == [bytes(VALUE_MAX)] * BATCH
    assert len(set(map(id, bodies))) == 1


@pytest.mark.parametrize("kind", [pa.large_binary(), pa.binary_view()], ids=str)
def test_bytes_that_another_writer_lays_out_otherwise_are_read(
    tmp_path: Path, kind: pa.DataType
) -> None:
    values = [b"one", None, b"one", b"two"]
    bodies = pa.array(list(chain(values, values)), kind)
    found = history_with(tmp_path, len(bodies), body=bodies)

    assert [row.body for row in found.rows(CHANNEL)] == values * 2


def test_cells_that_differ_are_not_gathered_in_a_dictionary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So exports are written; a dictionary made of them would grow with each batch."""
    count = 4 * BATCH
    bodies = pa.array([number.to_bytes(4, "big") for number in range(count)])
    found = history_with(tmp_path, count, by_dictionary=False, body=bodies)
    sizes: list[int] = []

    def noted(column: pa.DictionaryArray) -> list[object]:
        sizes.append(len(column.dictionary))
        made: list[object] = column.to_pylist()
        return made

    monkeypatch.setattr("storage.archive.reader._spread", noted)

    assert len(list(found.rows(CHANNEL))) == count
    assert sizes == []


def test_a_dictionary_ends_with_its_row_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 4 * BATCH
    file = tmp_path / "history.parquet"
    rows = pa.Table.from_pylist([row_of(Author("ann").write())] * count, HISTORY)
    bodies = pa.array([number.to_bytes(4, "big") for number in range(count)], pa.large_binary())
    pq.write_table(with_columns(rows, {"body": bodies}), file, row_group_size=BATCH)
    sizes: list[int] = []

    def noted(column: pa.DictionaryArray) -> list[object]:
        sizes.append(len(column.dictionary))
        made: list[object] = column.to_pylist()
        return made

    monkeypatch.setattr("storage.archive.reader._spread", noted)
    found = list(Archive({CHANNEL: [[file]]}, {}).rows(CHANNEL))

    assert [row.body for row in found] == bodies.to_pylist()
    assert max(sizes) == BATCH
