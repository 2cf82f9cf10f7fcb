"""A node that stays and lacks the end of a channel is a finding; one that left is not."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq
import pytest

from storage.archive.exporter import Wanted
from storage.archive.layout import Layout
from storage.archive.tables import HISTORY_DIR, LOG_DIR
from storage.pipeline.answers.local_results import published_results
from storage.pipeline.audit import job as audit
from storage.pipeline.audit import tails
from storage.pipeline.consolidate import job as consolidate
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.report.evidence import Gatherer
from storage.pipeline.report.sections import audit_rows
from storage.pipeline.results.publishing import Results
from storage.results import Figures
from sync.machine import DAY, HOUR, SECOND
from sync.runner.log_notes import Note
from sync.runner.log_rows import LogKind
from tests.support.storage.archives import archive
from tests.support.storage.exports import Owner, read
from tests.support.storage.moved_clocks import with_clocks, without
from tests.support.storage.stores import delivered
from tests.support.storage.synthetic import findings, made, plan
from tests.support.sync.entries import CHANNEL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TAIL = 40
"""Messages of the end that are missing."""


AHEAD = (0, 10 * HOUR, -10 * HOUR)
"""By how much the clock is wrong of who lacks them. Each is tried in a group of its own, so that
one run of the jobs tells of all."""


class Group(NamedTuple):
    """An export, a node, and what that one lacks of the end."""

    export: Path
    node: str
    lacking: list[bytes]


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Group]:
    """Return groups by how much a clock will be wrong in them; nobody is in two of them."""
    place = tmp_path_factory.mktemp("groups")
    found = {}
    for seed, ahead in enumerate(AHEAD, 4):
        made(place / f"{seed}", plan(seed, messages=120, channels=1, hours=1.0))
        found[ahead] = Group(place / f"{seed}", *the_end(place / f"{seed}"))
    return found


def the_end(group: Path) -> tuple[str, list[bytes]]:
    """Return a node, and the last messages in the order of the chat, some of them its own."""
    columns = ["node", "lamport", "message_id"]
    rows = pq.read_table(group / HISTORY_DIR, columns=columns, partitioning=None).to_pylist()
    ids = sorted({(row["lamport"], row["message_id"]) for row in rows})
    return min(row["node"] for row in rows), [message_id for _, message_id in ids[-TAIL:]]


def audited_ends(
    spark: "SparkSession", groups: dict[int, Group], place: Path, *, log_ends: bool
) -> tuple[Figures, dict[str, list[str]]]:
    """Return the figures of audit for all groups, and what is missing at the end, by node."""
    exports = []
    for at, (ahead, (export, node, lacking)) in enumerate(groups.items()):
        less = without(export, place / f"less{at}", node, lacking, log_ends=log_ends)
        exports.append(with_clocks(less, place / f"moved{at}", {node: ahead}))
    return audited(spark, exports, place)


def audited(
    spark: "SparkSession", exports: list[Path], place: Path
) -> tuple[Figures, dict[str, list[str]]]:
    """Return the figures of audit for exports, and what is missing at the end, by node."""
    inputs, results = Inputs.find(exports), Results(place / "out")
    for name, job in (("consolidate", consolidate), ("audit", audit)):
        with results.run(name) as run:
            job.run(Work(spark, inputs, results, run, place))
    published = results.published("audit")
    assert published is not None
    found: dict[str, list[str]] = {}
    for node, message in findings(results, "missing_tail"):
        found.setdefault(node, []).append(message)
    return published.figures, found


def test_who_stays_and_receives_nothing_is_a_finding(
    groups: dict[int, Group], tmp_path: Path, spark: "SparkSession"
) -> None:
    figures, found = audited_ends(spark, groups, tmp_path, log_ends=False)

    assert {*found} == {group.node for group in groups.values()}
    for ahead, group in groups.items():
        missing = found[group.node]
        assert set(missing) <= {message_id.hex() for message_id in group.lacking}
        assert TAIL // 2 < len({*missing}) == len(missing), f"with a clock {ahead} ns ahead"
    assert figures["missing_tail"] == sum(map(len, found.values()))
    assert figures["missing"] == 0
    assert "left" not in figures


def test_who_left_is_told_and_is_no_finding(
    groups: dict[int, Group], tmp_path: Path, spark: "SparkSession"
) -> None:
    figures, found = audited_ends(spark, groups, tmp_path, log_ends=True)

    assert (figures["findings"], found, figures["left"]) == (0, {}, len(groups))
    told = [row for row in audit_rows(figures) if row[0].startswith("left at")]
    assert len(told) == len(groups)
    assert all(label.endswith(" UTC") for label, _ in told)
    assert all("later messages" in text for _, text in told)
    for group in groups.values():
        assert any(group.node in text for _, text in told)


def delivered_by(exports: list[Path]) -> dict[str, set[str]]:
    """Return what logs tell that each node delivered, but for their last seconds, by channel."""
    rows = [row for export in exports for row in read(export, LOG_DIR)]
    ends: dict[tuple[str, str], int] = {}
    for row in rows:
        place = row["channel"], row["node"]
        ends[place] = max(row["ts_ns"], ends.get(place, 0))
    found: dict[str, set[str]] = {}
    for row in rows:
        settled = row["ts_ns"] + tails.SETTLED <= ends[row["channel"], row["node"]]
        if row["kind"] == LogKind.DELIVERED.value and settled:
            found.setdefault(row["node"], set()).add(row["message_id"].hex())
    return found


@pytest.mark.parametrize("claims_max", [audit.CLAIMS_MAX, 1])
def test_who_lost_all_that_its_log_tells_of_is_a_finding(
    claims_max: int, tmp_path: Path, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many nodes there are; nobody lacks what others of two channels write."""
    monkeypatch.setattr(audit, "CLAIMS_MAX", claims_max)
    made(tmp_path / "group", plan(8, messages=60), Layout.NODES)
    exports = sorted(path for path in (tmp_path / "group").iterdir() if path.is_dir())
    shutil.rmtree(exports[0] / HISTORY_DIR)

    figures, found = audited(spark, exports, tmp_path)

    lost = delivered_by(exports[:1])
    assert all(lost.values())
    assert {node: set(ids) for node, ids in found.items()} == lost
    assert figures["missing_tail"] == figures["findings"] == sum(map(len, lost.values()))
    assert "left" not in figures


def test_messages_that_nobody_holds_any_more_are_findings(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    made(tmp_path / "group", plan(8, messages=60))
    shutil.rmtree(tmp_path / "group" / HISTORY_DIR)

    figures, found = audited(spark, [tmp_path / "group"], tmp_path)

    assert {node: set(ids) for node, ids in found.items()} == delivered_by([tmp_path / "group"])
    assert figures["findings"] == figures["missing_tail"] > 0
    shown = Gatherer(published_results(tmp_path / "out")).of("audit")
    assert [(one.name, one.count) for one in shown] == [("missing_tail", figures["findings"])]


async def test_who_holds_nothing_and_should_not_is_no_finding(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    """One exported the newest day alone, one no log, one just when the first message came."""
    midnight = 20_000 * DAY
    said = archive("ann", 1, midnight - SECOND, SECOND, CHANNEL)
    first = said[0].entry
    came = [Note(CHANNEL, LogKind.DELIVERED, None, first.message_id, first.header.lamport, 300)]
    linked = [Note(CHANNEL, LogKind.LINK_UP, None, None, None, None)]
    part, none, live, full = [Owner(tmp_path, name) for name in ("part", "none", "live", "full")]
    for one in (part, none):
        one.note((midnight + SECOND, 1, came), (midnight + HOUR, 2, linked))
    live.note((midnight - HOUR, 1, linked), (midnight + SECOND, 2, came))
    for one, records in ((part, said), (none, ()), (live, ()), (full, said)):
        await one.hold(delivered(*records))
    part.export(tmp_path / "out" / "part", Wanted(since=midnight))
    for one, wanted in ((none, Wanted(log=False)), (live, Wanted()), (full, Wanted(log=False))):
        one.export(tmp_path / "out" / one.name, wanted)

    alone, _ = audited(spark, [tmp_path / "out" / "part"], tmp_path / "nobody has it")
    among, _ = audited(spark, [tmp_path / "out"], tmp_path / "somebody has it")

    assert (alone["findings"], among["findings"]) == (0, 0)
