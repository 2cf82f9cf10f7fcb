"""A node that stays and lacks the end of a channel is a finding; one that left is not."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq
import pytest

from storage.archive.tables import HISTORY_DIR
from storage.pipeline.audit import job as audit
from storage.pipeline.consolidate import job as consolidate
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.report.sections import audit_rows
from storage.pipeline.results.publishing import Results
from storage.results import Figures
from sync.machine import HOUR
from tests.support.storage.moved_clocks import with_clocks, without
from tests.support.storage.synthetic import findings, made, plan

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


def audited(
    spark: "SparkSession", groups: dict[int, Group], place: Path, *, log_ends: bool
) -> tuple[Figures, dict[str, list[str]]]:
    """Return the figures of audit for all groups, and what is missing at the end, by node."""
    exports = []
    for at, (ahead, (export, node, lacking)) in enumerate(groups.items()):
        less = without(export, place / f"less{at}", node, lacking, log_ends=log_ends)
        exports.append(with_clocks(less, place / f"moved{at}", {node: ahead}))
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
    figures, found = audited(spark, groups, tmp_path, log_ends=False)

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
    figures, found = audited(spark, groups, tmp_path, log_ends=True)

    assert (figures["findings"], found, figures["left"]) == (0, {}, len(groups))
    told = [row for row in audit_rows(figures) if row[0].startswith("left at")]
    assert len(told) == len(groups)
    assert all(label.endswith(" UTC") for label, _ in told)
    assert all("later messages" in text for _, text in told)
    for group in groups.values():
        assert any(group.node in text for _, text in told)
