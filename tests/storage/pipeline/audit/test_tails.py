"""A node that stays and lacks the end of a channel is a finding; one that left is not."""

from pathlib import Path
from typing import TYPE_CHECKING

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


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made_ = tmp_path_factory.mktemp("group") / "made"
    made(made_, plan(4, messages=120, channels=1, hours=1.0))
    return made_


def the_end(group: Path) -> tuple[str, list[bytes]]:
    """Return a node, and the last messages in the order of the chat, some of them its own."""
    columns = ["node", "lamport", "message_id"]
    rows = pq.read_table(group / HISTORY_DIR, columns=columns, partitioning=None).to_pylist()
    ids = sorted({(row["lamport"], row["message_id"]) for row in rows})
    return min(row["node"] for row in rows), [message_id for _, message_id in ids[-TAIL:]]


def audited(spark: "SparkSession", export: Path, out: Path) -> tuple[Figures, list[str]]:
    """Return the figures of audit, and the messages missing at the end."""
    inputs, results = Inputs.find([export]), Results(out)
    for name, job in (("consolidate", consolidate), ("audit", audit)):
        with results.run(name) as run:
            job.run(Work(spark, inputs, results, run, out))
    published = results.published("audit")
    assert published is not None
    return published.figures, [message for _, message in findings(results, "missing_tail")]


@pytest.mark.parametrize("ahead", [0, 10 * HOUR, -10 * HOUR])
def test_who_stays_and_receives_nothing_is_a_finding(
    ahead: int, group: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    node, lacking = the_end(group)
    deaf = without(group, tmp_path / "deaf", node, lacking)
    moved = with_clocks(deaf, tmp_path / "moved", {node: ahead})

    figures, found = audited(spark, moved, tmp_path / "out")

    assert set(found) <= {message_id.hex() for message_id in lacking}
    assert TAIL // 2 < figures["missing_tail"] == len(found)
    assert figures["missing"] == 0
    assert "left" not in figures


@pytest.mark.parametrize("ahead", [0, 10 * HOUR, -10 * HOUR])
def test_who_left_is_told_and_is_no_finding(
    ahead: int, group: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    node, lacking = the_end(group)
    gone = without(group, tmp_path / "gone", node, lacking, log_ends=True)
    moved = with_clocks(gone, tmp_path / "moved", {node: ahead})

    figures, found = audited(spark, moved, tmp_path / "out")

    assert (figures["findings"], found, figures["left"]) == (0, [], 1)
    [(label, told)] = [row for row in audit_rows(figures) if row[0].startswith("left at")]
    assert label.endswith(" UTC")
    assert node in told
    assert "later messages" in told
