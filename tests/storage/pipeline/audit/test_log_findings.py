"""Messages delivered before their dependencies are found, over a handful of rows."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import LOG
from storage.pipeline.audit import log_findings, log_reading
from storage.pipeline.inputs.inputs import struct_of
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def log_and_history(spark: "SparkSession", *told: Told) -> "tuple[DataFrame, DataFrame]":
    """Return a log of those rows, and the history of a parent and its child."""
    names = LOG.names
    nothing: dict[str, Any] = dict.fromkeys(names)
    same = nothing | {"run": "a run", "channel": "general", "ts_ns": 0}
    rows = [same | row._asdict() | {"kind": str(row.kind)} for row in told]
    log = spark.createDataFrame(
        [tuple(row[name] for name in names) for row in rows], struct_of(LOG)
    )
    entries = [("general", PARENT, 1, []), ("general", CHILD, 2, [PARENT])]
    return log, spark.createDataFrame(entries, HISTORY)


def suspects(log: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Return what has to be looked at closely."""
    related = log_reading.relations(history)
    noticed = log_reading.noticed(log, log_reading.known(history, related))
    return log_reading.suspects(noticed, related)


def early(spark: "SparkSession", *told: Told) -> list[tuple[str, int, bytes, bytes]]:
    """Return (node, boot, message_id, parent) of what those rows say was delivered too early."""
    log, history = log_and_history(spark, *told)
    done = log_findings.delivered_or_lost(log)
    evidence = log_findings.evidence(done, suspects(log, history))
    found = log_findings.early_deliveries(evidence, history)
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


def test_whoever_gave_a_parent_up_first_is_not_even_suspected(spark: "SparkSession") -> None:
    """Nearly every node gives something up, and its log is read again for each suspicion."""
    given_up = [
        Told(LogKind.LOST, PARENT, seq=1),
        Told(LogKind.DELIVERED, CHILD, seq=2),
        Told(LogKind.DELIVERED, PARENT, seq=3),
    ]
    log, history = log_and_history(spark, *given_up, Told(LogKind.DELIVERED, CHILD, 1, node="bob"))

    assert suspects(log, history).isEmpty()


def test_a_parent_that_was_given_up_only_later_was_waited_for(spark: "SparkSession") -> None:
    found = early(
        spark,
        Told(LogKind.DELIVERED, CHILD, seq=1),
        Told(LogKind.LOST, PARENT, seq=2),
        Told(LogKind.DELIVERED, PARENT, seq=3),
    )

    assert found == [("alice", 1, CHILD, PARENT)]


def test_a_child_that_was_given_up_excuses_nobody(spark: "SparkSession") -> None:
    found = early(
        spark,
        Told(LogKind.LOST, CHILD, seq=1),
        Told(LogKind.DELIVERED, CHILD, seq=2),
        Told(LogKind.DELIVERED, PARENT, seq=3),
    )

    assert found == [("alice", 1, CHILD, PARENT)]


@pytest.mark.parametrize("lost", [2**40 + 1, 2**63 - 3])
def test_a_loss_whose_number_is_near_the_greatest_counts_like_others(
    lost: int, spark: "SparkSession"
) -> None:
    found = early(
        spark,
        Told(LogKind.LOST, PARENT, seq=lost),
        Told(LogKind.DELIVERED, CHILD, seq=2**63 - 2),
        Told(LogKind.DELIVERED, PARENT, seq=2**63 - 1),
        Told(LogKind.DELIVERED, CHILD, seq=5, node="bob"),
        Told(LogKind.LOST, PARENT, seq=lost, node="bob"),
        Told(LogKind.DELIVERED, PARENT, seq=2**63 - 1, node="bob"),
    )

    assert found == [("bob", 1, CHILD, PARENT)]


def test_the_loss_of_a_message_with_the_same_number_excuses_nobody(spark: "SparkSession") -> None:
    """Numbers of 64 bits can be made to coincide."""
    one, other = b"parent 1 parent ", twin(b"parent 1 parent ", b"parent 2")
    entries: list[tuple[str, bytes, int, list[bytes]]]
    entries = [("general", one, 1, []), ("general", other, 1, [])]
    children = [("general", CHILD, 2, [one]), ("general", b"another", 2, [other])]
    history = spark.createDataFrame([*entries, *children], HISTORY)
    log, _ = log_and_history(
        spark,
        Told(LogKind.LOST, other, seq=1),
        Told(LogKind.DELIVERED, CHILD, seq=2),
        Told(LogKind.DELIVERED, one, seq=3),
    )

    numbers = history.select(F.xxhash64("message_id").alias("number")).distinct()
    assert numbers.count() == len(entries) + len(children) - 1
    assert not suspects(log, history).isEmpty()


def twin(message_id: bytes, first: bytes) -> bytes:
    """Return another 16 bytes with the same xxhash64, that begin with 8 given ones."""
    whole = 2**64 - 1
    prime_1, prime_2, prime_4 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x85EBCA77C2B2AE63
    began = 42 + 0x27D4EB2F165667C5 + len(message_id)

    def turned(value: int, by: int) -> int:
        return (value << by | value >> (64 - by)) & whole

    def mixed(word: bytes) -> int:
        return turned(int.from_bytes(word, "little") * prime_2 & whole, 31) * prime_1 & whole

    def after(word: bytes) -> int:
        return (turned(began ^ mixed(word), 27) * prime_1 + prime_4) & whole

    wanted = after(message_id[:8]) ^ mixed(message_id[8:]) ^ after(first)
    back = turned(wanted * pow(prime_1, -1, 2**64) & whole, 33) * pow(prime_2, -1, 2**64) & whole
    return first + back.to_bytes(8, "little")


def test_what_another_node_gave_up_excuses_nobody(spark: "SparkSession") -> None:
    found = early(
        spark,
        Told(LogKind.LOST, PARENT, seq=1, node="bob"),
        Told(LogKind.DELIVERED, CHILD, seq=2),
        Told(LogKind.DELIVERED, PARENT, seq=3),
    )

    assert found == [("alice", 1, CHILD, PARENT)]
