"""Audits of a governed channel: what a node did not let in is told, and is not missing there."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.results import Published
from tests.support.storage.diffs import ran
from tests.support.storage.governed_stores import author
from tests.support.storage.removed_writers import RemovedWriter
from tests.support.storage.synthetic import plain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def audited(spark: "SparkSession", export: Path, out: Path) -> Published:
    ran(spark, out, "consolidate", export)
    return ran(spark, out, "audit", export)


def rows(spark: "SparkSession", audit: Published, table: str, *names: str) -> list[list[object]]:
    found = spark.read.parquet(str(audit.directory / table)).select(*names).collect()
    return sorted([[plain(value) for value in row] for row in found])


async def test_what_governance_kept_out_is_counted_and_what_is_lost_is_still_told(
    spark: "SparkSession", tmp_path: Path
) -> None:
    told = RemovedWriter()
    alice = await told.alice(tmp_path, told.first, told.hers, told.last)
    mallory = await told.mallory(tmp_path)
    for owner in (alice, mallory):
        owner.export(tmp_path / "out" / owner.name)

    audit = audited(spark, tmp_path / "out", tmp_path / "results")

    lost = [[alice.peer_id, told.lost.entry.message_id]]
    assert rows(spark, audit, "missing", "node", "message_id") == lost
    assert (audit.figures["findings"], audit.figures["not_let_in"]) == (1, 3)
    assert "left" not in audit.figures, "it dropped the end, and left nothing"
    kept_out = rows(spark, audit, "not_let_in", "node", "message_id", "label", "held")
    assert kept_out == sorted(
        [alice.peer_id, one.entry.message_id, label, True]
        for one, label in (
            (told.refused, "removed"),
            (told.end, "removed"),
            (told.unknown, "waits"),
        )
    )


async def test_a_line_on_one_that_nobody_let_in_builds_on_nothing_unknown(
    spark: "SparkSession", tmp_path: Path
) -> None:
    told = RemovedWriter()

    answer = author("bob", told.history).write(
        "to whom", lamport=9, after=[told.unknown], governance=told.history.governance.heads
    )
    lines = [told.first, told.hers, told.lost, told.last, answer]
    alice = await told.alice(tmp_path, *lines)
    alice.export(tmp_path / "out")

    audit = audited(spark, tmp_path / "out", tmp_path / "results")

    assert audit.figures["unknown_dependencies"] == 0
    assert audit.figures["not_let_in"] == 3
