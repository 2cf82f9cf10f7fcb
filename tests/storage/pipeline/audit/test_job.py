"""The audit finds exactly the planted faults, and nothing that is merely unlucky."""

import json
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from storage.archive.exporter import Wanted
from storage.archive.layout import Layout
from storage.archive.tables import NOTE
from storage.pipeline.audit import job as audit
from storage.pipeline.consolidate import job as consolidate
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.job_runner import check_needs
from storage.pipeline.report import evidence
from storage.pipeline.results.publishing import Results
from storage.pipeline.synthetic.plan import Faults
from storage.results import Published
from sync.machine import DAY, SECOND, ChannelId
from sync.runner.log_notes import Note
from sync.runner.log_rows import LogKind
from tests.support.storage.archives import archive
from tests.support.storage.exports import Owner, note_of
from tests.support.storage.stores import delivered, membership
from tests.support.storage.synthetic import (
    AUDITED,
    KINDS,
    NO_FAULTS,
    REASONS,
    findings,
    made,
    plain,
    plan,
)
from tests.support.sync.entries import CHANNEL, Author

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TOLD = {"left", "left_at"}
"""Figures of audit that are no findings."""

WIDE = 60
"""Messages of the widest channel."""


class Looked:
    """The results of consolidate and audit."""

    def __init__(self, spark: "SparkSession", out: Path) -> None:
        self.spark = spark
        self.results = Results(out)

    def published(self, job: str) -> Published:
        found = self.results.published(job)
        assert found is not None
        return found

    def rows(self, job: str, table: str, *columns: str) -> list[list[Any]]:
        """Some columns of a table, sorted; bytes in hex."""
        path = str(self.published(job).directory / table)
        found = self.spark.read.parquet(path).select(*columns).collect()
        return sorted([plain(value) for value in row] for row in found)

    def findings(self, name: str) -> list[list[Any]]:
        """All findings of a kind as the truth has them."""
        return findings(self.results, name)


def looked(spark: "SparkSession", named: list[Path], out: Path) -> Looked:
    """Consolidate and audit exports."""
    inputs, results = Inputs.find(named), Results(out)
    for name, job in (("consolidate", consolidate), ("audit", audit)):
        with results.run(name) as run:
            job.run(Work(spark, inputs, results, run, out))
    return Looked(spark, out)


class Planted(NamedTuple):
    """Findings in the data sets of three seeds, one of them exported twice, and in a wide one.

    One of the three is an export a node.
    The wide one has more members in a channel than a long has bits.
    """

    truth: dict[str, list[list[Any]]]
    found: Looked


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, spark: "SparkSession") -> Planted:
    """All faults at once; a run of both jobs takes longer than all that is asked of it."""
    place = tmp_path_factory.mktemp("planted")
    faults = Faults(late_joiners=3, unknown_dependencies=10, causal_violations=5)
    layouts = (Layout.ONE, Layout.NODES, Layout.ONE)
    truths = [
        made(place / f"{seed}", plan(seed, faults, never=0.05), layout)
        for seed, layout in enumerate(layouts)
    ]
    made(place / "again", plan(0, faults, never=0.05))
    few = replace(NO_FAULTS, equivocations=2, early_deliveries=2, false_ids=1, bad_signatures=1)
    wide = plan(10, few, never=0.05, nodes=70, members=70, channels=1, messages=WIDE)
    truths.append(made(place / "wide", wide))
    truth = {name: sorted(row for one in truths for row in one[name]) for name in truths[0]}
    named = [place / name for name in ("0", "1", "2", "again", "wide")]
    return Planted(truth, looked(spark, named, place / "out"))


@pytest.mark.parametrize("name", KINDS)
def test_all_that_is_planted_is_found_and_nothing_else(name: str, planted: Planted) -> None:
    assert planted.truth[name]
    assert planted.found.findings(name) == planted.truth[name]


def test_findings_are_counted(planted: Planted) -> None:
    audited, consolidated = (
        planted.found.published(job).figures for job in ("audit", "consolidate")
    )
    assert audited["findings"] == sum(len(planted.truth[name]) for name in AUDITED)
    assert consolidated["findings"] == len(planted.truth["quarantine"])
    shown = {"findings"} | set(evidence.EVIDENCE["audit"] or ())
    assert shown == set(audited) - TOLD, "all in the page"


def test_the_one_history_is_in_the_order_of_the_chat(
    planted: Planted, spark: "SparkSession"
) -> None:
    directory = planted.found.published("consolidate").directory / "history"
    ids = set()
    for channel in sorted(directory.glob("channel=*")):
        rows = spark.read.parquet(str(channel)).select("lamport", "message_id").collect()
        assert rows == sorted(rows)
        ids |= {bytes(row.message_id) for row in rows}
    assert len(ids) == planted.found.published("consolidate").figures["entries"] == 3 * 240 + WIDE


def test_what_a_false_row_says_is_right_in_the_history(planted: Planted) -> None:
    """Somebody else's row of the same entry is right, and that one counts."""
    signed = dict(planted.found.rows("consolidate", "history", "message_id", "lamport"))

    false = {
        message_id: lamport
        for message_id, reason, lamport in planted.found.rows(
            "consolidate", "quarantine", "message_id", "reason", "lamport"
        )
        if REASONS[reason] == "false column"
    }

    assert {message_id: signed[message_id] + 1 for message_id in false} == false


def test_who_holds_what_is_told_once(planted: Planted) -> None:
    holders = planted.found.rows("consolidate", "holders", "message_id", "node")

    assert len(holders) == planted.found.published("consolidate").figures["holders"]
    assert len({tuple(row) for row in holders}) == len(holders)
    held = {tuple(row) for row in holders}
    assert not held & {(message_id, node) for node, message_id in planted.truth["missing"]}


def test_a_clean_data_set_has_no_findings(tmp_path: Path, spark: "SparkSession") -> None:
    """Loss, repair, restarts, late joiners and what comes after it was given up are no faults."""
    made(tmp_path / "clean", plan(7, replace(NO_FAULTS, late_joiners=3), messages=300))

    found = looked(spark, [tmp_path / "clean"], tmp_path / "out")

    kinds = Counter(
        row.kind for row in Inputs.find([tmp_path / "clean"]).log(spark).select("kind").collect()
    )
    assert kinds["lost"] > 0
    assert kinds["buffered"] > 0
    assert set(found.published("audit").figures.values()) == {0}
    assert found.published("consolidate").figures["findings"] == 0


async def test_what_an_export_of_a_part_leaves_out_is_not_lost(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    began, elsewhere = 20_000 * DAY, ChannelId("0d" * 16)
    rooms = [membership(), membership(elsewhere, "coffee")]
    await owner.hold(delivered(*archive("ann", 12, began, DAY // 4, CHANNEL)), rooms)
    notes = [Note(channel, LogKind.LOST, None, None, 5, 300) for channel in (CHANNEL, elsewhere)]
    owner.note((began + DAY, 1, notes * 3))
    owner.export(out, Wanted("tea", began + DAY))

    audited = looked(spark, [out], tmp_path / "in part").published("audit").figures
    said = note_of(out)
    unsaid = {**said, "more": {}}
    (out / NOTE).write_text(json.dumps(unsaid))
    taken_as_whole = looked(spark, [out], tmp_path / "as whole").published("audit").figures

    assert (audited["findings"], audited["logs_exported_in_part"]) == (0, 1)
    assert taken_as_whole["unknown_dependencies"] > 0
    assert taken_as_whole["trace_holes"] == 2


@pytest.mark.parametrize("outs", [("one", "one"), ("monday", "tuesday")])
async def test_what_a_log_forgot_between_two_exports_is_no_hole(
    tmp_path: Path, spark: "SparkSession", outs: tuple[str, str]
) -> None:
    """Rows missing from within what was exported are a hole."""
    owner, exports = Owner(tmp_path), tmp_path / "exports"
    began = 20_000 * DAY
    await owner.hold(delivered(*archive("ann", 4, began, SECOND, CHANNEL)))
    notes = [Note(CHANNEL, LogKind.LOST, None, None, 5, 300)]
    with closing(owner.log(bytes_max=50_000)) as log:
        log.append([(began, 1, notes * 40), (began, 51, notes * 50)])
        owner.export(exports / outs[0])
        for seq in range(101, 3001, 100):
            log.append([(began, seq, notes * 100)])
        owner.export(exports / outs[1])

    found = looked(spark, [exports], tmp_path / "results")

    assert found.findings("trace_holes") == [[owner.peer_id, 1, 41, 50]]


async def test_what_is_older_than_an_export_is_not_missing(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    """Clocks differ: what was created before that day comes behind the first one of it."""
    midnight = 20_000 * DAY
    ann, cat = Author("ann"), Author("cat")
    said = [
        ann.write(created_ns=midnight + SECOND, lamport=10),
        cat.write(created_ns=midnight - SECOND, lamport=11),
        cat.write(created_ns=midnight + SECOND, lamport=12),
        ann.write(created_ns=midnight + 2 * SECOND, lamport=13),
    ]
    owner, bob, eve = [Owner(tmp_path, name) for name in ("me", "bob", "eve")]
    for one in (owner, bob):
        await one.hold(delivered(*said))
    await eve.hold(delivered(said[0], said[1], said[3]))
    owner.export(tmp_path / "out" / "me", Wanted(since=midnight))
    bob.export(tmp_path / "out" / "bob")
    eve.export(tmp_path / "out" / "eve", Wanted(since=midnight))

    found = looked(spark, [tmp_path / "out"], tmp_path / "results")

    assert found.findings("missing") == [[eve.peer_id, said[2].entry.message_id]]


def test_audit_wants_consolidate_first(tmp_path: Path, spark: "SparkSession") -> None:
    made(tmp_path / "made", plan(messages=40))
    results = Results(tmp_path / "out")

    with (
        pytest.raises(PipelineError, match="run `chat-tui pipeline consolidate`"),
        results.run("audit") as run,
    ):
        audit.run(Work(spark, Inputs.find([tmp_path / "made"]), results, run, tmp_path))

    assert results.published("audit") is None


async def test_audit_wants_the_exports_that_were_consolidated(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    """Of what was exported since, it would say that nothing is wrong."""
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*archive("ann", 4, 20_000 * DAY, SECOND, CHANNEL)))
    owner.export(out)
    inputs, results = Inputs.find([out]), Results(tmp_path / "results")
    with results.run("consolidate") as run:
        consolidate.run(Work(spark, inputs, results, run, tmp_path))
    check_needs(["audit"], results, inputs)

    await owner.hold(delivered(*archive("bob", 4, 20_000 * DAY, SECOND, CHANNEL)))
    owner.export(out)

    with pytest.raises(PipelineError, match="changed since: run `chat-tui pipeline consolidate`"):
        check_needs(["audit"], results, inputs)
    check_needs(["consolidate", "audit"], results, inputs)
