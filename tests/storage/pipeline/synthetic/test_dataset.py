"""Made data sets are whole, right where nothing was planted, and follow from their seed."""

import hashlib
import json
from collections import Counter
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.archive.tables import HISTORY, HISTORY_DIR, LOG, LOG_DIR, ROW_GROUP
from storage.pipeline.command import cli
from storage.pipeline.errors import PipelineError
from storage.pipeline.synthetic.dataset import TRUTH
from storage.pipeline.synthetic.plan import Faults
from sync.entries.identity import verify
from sync.machine import PeerId
from tests.support.storage.synthetic import NO_FAULTS, made, plan


def test_a_data_set_follows_from_its_seed(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        made(tmp_path / name, plan(seed, Faults()))

    files = sorted(
        path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.parquet")
    )
    assert len(files) >= 8
    for file in files:
        assert (
            pq.ParquetFile(tmp_path / "one" / file)
            .read()
            .equals(pq.ParquetFile(tmp_path / "same" / file).read())
        ), file
    one, same, other = ((tmp_path / name / TRUTH).read_text() for name in ("one", "same", "other"))
    assert one == same
    assert one != other


def test_what_nodes_hold_is_signed_by_its_author(tmp_path: Path) -> None:
    made(tmp_path / "clean", plan())

    table = pq.read_table(tmp_path / "clean" / HISTORY_DIR, schema=HISTORY, partitioning=None)

    rows = table.to_pylist()
    assert table.schema.equals(HISTORY)
    assert len({row["message_id"] for row in rows}) == 240
    assert len(rows) == 240 * 6
    distinct = {row["header"]: row for row in rows}
    for header, row in distinct.items():
        assert hashlib.sha256(header).digest() == row["message_id"]
        assert verify(PeerId(row["author"]), row["signature"], header)


def test_tables_lie_by_channel_and_day_sorted_by_time(tmp_path: Path) -> None:
    made(tmp_path / "clean", plan())

    for table, schema, time in ((HISTORY_DIR, HISTORY, "created_ns"), (LOG_DIR, LOG, "ts_ns")):
        paths = sorted((tmp_path / "clean" / table).glob("channel=*/day=*/*.parquet"))
        assert len(paths) == 4
        for path in paths:
            file = pq.ParquetFile(path)
            assert file.schema_arrow.equals(schema), path
            times = file.read()[time].to_pylist()
            assert times == sorted(times)
            assert file.metadata.row_group(0).num_rows <= ROW_GROUP


def test_logs_are_numbered_without_a_hole_but_for_the_planted(tmp_path: Path) -> None:
    truth = made(tmp_path / "holes", plan(faults=Faults(trace_holes=3)))

    table = pq.read_table(tmp_path / "holes" / LOG_DIR, schema=LOG, partitioning=None)

    logs: dict[tuple[str, int], set[int]] = {}
    for row in table.select(["node", "boot", "seq"]).to_pylist():
        logs.setdefault((row["node"], row["boot"]), set()).add(row["seq"])
    lacking = {
        (*log, seq) for log, seqs in logs.items() for seq in range(1, max(seqs)) if seq not in seqs
    }
    planted = {
        (node, boot, seq)
        for node, boot, first, last in truth["trace_holes"]
        for seq in range(first, last + 1)
    }
    assert len(truth["trace_holes"]) == 3
    assert lacking == planted


def test_faults_are_planted_as_many_as_asked_for(tmp_path: Path) -> None:
    truth = made(tmp_path / "all", plan(faults=Faults(late_joiners=2), never=0.05))

    counts = {name: len(planted) for name, planted in truth.items()}
    assert counts["equivocations"] == 5
    assert counts["unknown_dependencies"] == 30
    assert counts["causal_violations"] >= 10
    assert counts["early_deliveries"] == counts["order_divergence"] == counts["trace_holes"] == 10
    assert counts["late_joiners"] == 2
    assert Counter(kind for _, _, kind in truth["quarantine"]) == {
        "false id": 5,
        "bad signature": 5,
        "false column": 5,
    }


def test_a_plan_that_cannot_be_is_refused(tmp_path: Path) -> None:
    for wanted, why in (
        (plan(members=9), "9 members of a channel, out of 8 nodes"),
        (plan(loss=1.0), "--loss"),
        (plan(duplicates=1.5), "--duplicates"),
        (plan(messages=10**8), "rows; name fewer"),
        (plan(channels=0), "at least one channel"),
        *[(replace(plan(), hours=hours), "--hours") for hours in (0, inf, nan, 1e9)],
        (plan(messages=20, faults=Faults()), "faults do not fit 20 messages"),
    ):
        with pytest.raises(PipelineError, match=why):
            made(tmp_path / "never", wanted)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(PipelineError, match="is not empty"):
        made(tmp_path / "full", plan(faults=NO_FAULTS))


def test_the_command_tells_what_it_made(tmp_path: Path) -> None:
    made_one = tmp_path / "made"
    sizes = {"nodes": 4, "messages": 100, "channels": 1, "members": 3, "equivocations": 2}
    options = [f"--{name}={value}" for name, value in sizes.items()]

    result = CliRunner().invoke(cli, ["synthesize", str(made_one), *options])

    assert result.exit_code == 0, result.output
    assert "equivocations: 2\n" in result.output
    assert (made_one / TRUTH).exists()


def test_the_command_says_how_many_faults_had_no_room(tmp_path: Path) -> None:
    sizes = {"nodes": 8, "messages": 240, "channels": 1, "members": 6, "late-joiners": 500}
    options = [f"--{name}={value}" for name, value in sizes.items()]

    result = CliRunner().invoke(cli, ["synthesize", str(tmp_path / "made"), *options])

    planted = len(json.loads((tmp_path / "made" / TRUTH).read_text())["truth"]["late_joiners"])
    assert planted < 500
    assert [line for line in result.stderr.splitlines() if line.startswith("planted")] == [
        f"planted {planted} late joiners of 500: for more, name more messages, channels or members"
    ]
