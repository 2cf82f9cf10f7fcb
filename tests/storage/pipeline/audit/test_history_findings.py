"""Findings of the audit, over a handful of rows."""

from typing import TYPE_CHECKING

import pytest

from storage.archive.tables import BIGINT_MAX
from storage.pipeline.audit import history_findings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_numbers_that_were_cut_make_no_fork(spark: "SparkSession") -> None:
    """Entries 2**63 and 2**63 + 1 of a log, which all have to fit a signed long."""
    rows = [
        ("general", "ann", 1, 7, b"one"),
        ("general", "ann", 1, 7, b"other"),
        ("general", "ann", 1, BIGINT_MAX, b"a"),
        ("general", "ann", 1, BIGINT_MAX, b"b"),
    ]
    columns = "channel string, author string, log long, seq long, message_id binary"

    found = history_findings.equivocations(spark.createDataFrame(rows, columns)).collect()

    forks = [(row.seq, [bytes(one) for one in row.message_ids]) for row in found]
    assert forks == [(7, [b"one", b"other"])]
