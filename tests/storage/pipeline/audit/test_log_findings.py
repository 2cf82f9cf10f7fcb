"""Messages delivered before their dependencies are found, over a handful of rows."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from storage.archive.tables import LOG
from storage.pipeline.audit import log_findings, log_reading
from storage.pipeline.inputs.inputs import struct_of
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PARENT: Final = b"parent"
CHILD: Final = b"child"
HISTORY: Final = "channel string, message_id binary, lamport long, parents array<binary>"


class Told(NamedTuple):
    """A row of a log."""

    kind: LogKind
    message_id: bytes
    seq: int
    boot: int = 1
    node: str = "alice"


def early(spark: "SparkSession", *told: Told) -> list[tuple[str, int, bytes, bytes]]:
    """Return (node, boot, message_id, parent) of what those rows say was delivered too early."""
    names = LOG.names
    nothing: dict[str, Any] = dict.fromkeys(names)
    same = nothing | {"run": "a run", "channel": "general", "ts_ns": 0}
    rows = [same | row._asdict() | {"kind": str(row.kind)} for row in told]
    log = spark.createDataFrame(
        [tuple(row[name] for name in names) for row in rows], struct_of(LOG)
    )
    entries = [("general", PARENT, 1, []), ("general", CHILD, 2, [PARENT])]
    history = spark.createDataFrame(entries, HISTORY)
    done = log_findings.delivered_or_lost(log)
    related = log_reading.relations(history)
    noticed = log_reading.noticed(log, log_reading.known(history, related))
    suspected = log_reading.suspects(noticed, related)
    found = log_findings.early_deliveries(log_findings.evidence(done, suspected), history)
    columns = found.select("node", "boot", "message_id", "parent").collect()
    return [(row[0], row[1], bytes(row[2]), bytes(row[3])) for row in columns]


def test_a_child_before_its_parent_is_early(spark: "SparkSession") -> None:
    found = early(
        spark,
        Told(LogKind.DELIVERED, CHILD, seq=1),
        Told(LogKind.DELIVERED, PARENT, seq=2),
        Told(LogKind.DELIVERED, PARENT, seq=1, node="bob"),
        Told(LogKind.DELIVERED, CHILD, seq=2, node="bob"),
    )

    assert found == [("alice", 1, CHILD, PARENT)]


@pytest.mark.parametrize(
    ("child", "parent"), [(2**40 - 1, 2**40 + 5), (2**63 - 2, 2**63 - 1), (5, 2**63 - 1)]
)
def test_a_number_near_the_greatest_hides_nothing(
    child: int, parent: int, spark: "SparkSession"
) -> None:
    found = early(
        spark,
        Told(LogKind.DELIVERED, CHILD, seq=child),
        Told(LogKind.DELIVERED, PARENT, seq=parent),
        Told(LogKind.DELIVERED, PARENT, seq=child, node="bob"),
        Told(LogKind.DELIVERED, CHILD, seq=parent, node="bob"),
    )

    assert found == [("alice", 1, CHILD, PARENT)]


def test_a_start_has_an_order_of_its_own(spark: "SparkSession") -> None:
    """`seq` orders one start only: it does not tell before a restart from after it."""
    found = early(
        spark,
        Told(LogKind.DELIVERED, PARENT, seq=2, boot=1),
        Told(LogKind.DELIVERED, CHILD, seq=1, boot=2),
    )

    assert found == []


def test_a_parent_that_comes_after_a_restart_is_late(spark: "SparkSession") -> None:
    """A delivery is final: a restarted node delivers nothing twice."""
    found = early(
        spark,
        Told(LogKind.DELIVERED, CHILD, seq=9, boot=1),
        Told(LogKind.DELIVERED, PARENT, seq=2, boot=2),
        Told(LogKind.DELIVERED, PARENT, seq=1, boot=1, node="bob"),
        Told(LogKind.DELIVERED, CHILD, seq=9, boot=1, node="bob"),
        Told(LogKind.DELIVERED, PARENT, seq=3, boot=2, node="bob"),
    )

    assert found == [("alice", 1, CHILD, PARENT)]


@pytest.mark.parametrize("boot", [1, 2])
def test_nobody_waits_for_what_was_given_up(spark: "SparkSession", boot: int) -> None:
    """In this start of the node, or in one before it."""
    found = early(
        spark,
        Told(LogKind.LOST, PARENT, seq=1, boot=boot),
        Told(LogKind.DELIVERED, CHILD, seq=2, boot=2),
        Told(LogKind.DELIVERED, PARENT, seq=3, boot=2),
    )

    assert found == []


def test_what_another_node_gave_up_excuses_nobody(spark: "SparkSession") -> None:
    found = early(
        spark,
        Told(LogKind.LOST, PARENT, seq=1, node="bob"),
        Told(LogKind.DELIVERED, CHILD, seq=2),
        Told(LogKind.DELIVERED, PARENT, seq=3),
    )

    assert found == [("alice", 1, CHILD, PARENT)]
