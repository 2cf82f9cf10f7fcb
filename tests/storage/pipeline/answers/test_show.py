"""`show` prints the rows of a published table that are wanted; no Java runs for it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.results.publishing import Results, Run

ALICE, BOB = "a1" * 32, "b0" * 32
FIRST, SECOND = b"\x12" * 32, b"\x13" * 32


def write(run: Run, name: str, rows: list[dict[str, Any]]) -> None:
    """Write a table as a job does."""
    directory = run.directory / name
    directory.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), directory / "part.parquet")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Results with what two nodes lack, a fork, and numbered members."""
    results = Results(tmp_path / "out")
    with results.run("consolidate") as run:
        write(run, "members", [{"channel": "0010", "node": ALICE, "word": 0, "bit": 0}])
        (run.directory / "channels.json").write_text('{"0010": "plans"}')
    with results.run("audit") as run:
        lacks = {"channel": "0010", "author": ALICE, "lamport": 7, "created_ns": 1_000_000_000}
        write(
            run,
            "missing",
            [
                lacks | {"node": BOB, "message_id": FIRST},
                lacks | {"node": ALICE, "message_id": SECOND, "channel": "0020"},
            ],
        )
        write(run, "equivocations", [{"author": BOB, "message_ids": [FIRST, SECOND]}])
    with results.run("delivery") as run:
        write(run, "members", [{"member": 1, "node": ALICE}, {"member": 2, "node": BOB}])
        write(run, "facts", [{"member": at, "author": 3 - at, "latency_us": 5.0} for at in (1, 2)])
    return tmp_path / "out"


def shown(out: Path, *words: str, status: int = 0) -> str:
    """Run `show`; returns what it prints."""
    done = CliRunner().invoke(cli, ["show", str(out), *words])
    assert done.exit_code == status, done.output
    return done.output


def objects(out: Path, *words: str) -> list[dict[str, Any]]:
    """The rows that `show --json` prints."""
    return [json.loads(line) for line in shown(out, *words, "--json").splitlines()]


def test_rows_are_json_objects_one_a_line_with_whole_ids(out: Path) -> None:
    rows = objects(out, "missing")

    assert [row["message_id"] for row in rows] == [FIRST.hex(), SECOND.hex()]
    assert {row["created_ns"] for row in rows} == {1_000_000_000}


@pytest.mark.parametrize(
    ("option", "value", "kept"),
    [
        ("--node", BOB[:6], [FIRST]),
        ("--node", "B0B0-B0B0", [FIRST]),
        ("--author", ALICE[:4], [FIRST, SECOND]),
        ("--author", BOB[:4], []),
        ("--message", "14", []),
        ("--message", "131", [SECOND]),
        ("--message", SECOND.hex()[:2], [SECOND]),
        ("--channel", "plans", [FIRST]),
        ("--channel", "#plans", [FIRST]),
        ("--channel", "002", [SECOND]),
    ],
)
def test_an_option_keeps_the_rows_that_begin_so(
    option: str, value: str, kept: list[bytes], out: Path
) -> None:
    found = [row["message_id"] for row in objects(out, "missing", option, value)]

    assert found == [one.hex() for one in kept]


def test_options_are_asked_for_together(out: Path) -> None:
    assert not objects(out, "missing", "--node", BOB, "--channel", "0020")


def test_a_message_is_found_in_a_list(out: Path) -> None:
    assert len(objects(out, "equivocations", "--message", "13")) == 1
    assert not objects(out, "equivocations", "--message", "14")


def test_a_node_is_found_by_its_number(out: Path) -> None:
    assert [row["member"] for row in objects(out, "facts", "--node", BOB[:8])] == [2]
    assert [row["member"] for row in objects(out, "facts", "--author", BOB[:8])] == [1]


def test_csv_has_a_line_of_names(out: Path) -> None:
    text = shown(out, "missing", "--csv", "--limit", "1")

    [row] = csv.DictReader(io.StringIO(text))
    assert row["message_id"] == FIRST.hex()
    assert row["node"] == BOB


def test_a_terminal_gets_times_that_people_read(out: Path) -> None:
    assert "1970-01-01 00:00:01.000" in shown(out, "missing")
    assert "There are more" in shown(out, "missing", "--limit", "1")
    assert "No rows." in shown(out, "missing", "--node", "ff")


def test_without_a_table_it_says_which_there_are(out: Path) -> None:
    said = shown(out)

    assert "audit/missing" in said
    assert "delivery/facts" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("nothing",),
            "There is no table nothing in these results; there are: audit/equivocations",
        ),
        (("members",), "Several jobs have a table members: name consolidate/members or delivery/m"),
        (("facts", "--channel", "plans"), "The table delivery/facts has no column for --channel"),
        (("missing", "--message", "xyz"), "is not the beginning of a message id"),
        (("missing", "--csv", "--json"), "leave --csv or --json out"),
        *[
            (words, "name a TABLE")
            for words in (("--json",), ("--csv",), ("--limit", "3"), ("--node", "1ae"))
        ],
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(
    words: tuple[str, ...], sentence: str, out: Path
) -> None:
    [line] = shown(out, *words, status=2).splitlines()

    assert sentence in line


def test_a_table_of_two_jobs_is_named_with_its_job(out: Path) -> None:
    assert len(objects(out, "delivery/members")) == 2


@pytest.mark.parametrize("command", [("show",), ("report", "--out"), ("compare", ".")])
def test_an_address_is_no_directory(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*command, "s3a://bucket/results"])

    assert done.exit_code == 2
    [line] = done.output.splitlines()
    assert "s3a://bucket/results is an address" in line


@pytest.mark.parametrize("command", ["show", "pack", "synthesize"])
def test_an_empty_word_is_not_the_directory_one_is_in(command: str) -> None:
    done = CliRunner().invoke(cli, [command, ""])

    assert done.exit_code == 2
    assert "no directory has an empty name" in done.output


def test_a_damaged_table_is_said(out: Path) -> None:
    [file] = (out / "runs" / "audit-1" / "missing").iterdir()
    file.write_bytes(b"PAR1 no")

    assert "run the job again" in shown(out, "missing", status=2)
