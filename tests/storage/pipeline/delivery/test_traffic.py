"""Traffic by purpose, repairs by peer, the slowest ways and healed partitions, of known logs."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from storage.pipeline.delivery import traffic
from storage.pipeline.delivery.traffic import Partition, partitions_of
from storage.pipeline.delivery.traffic_tables import SHOWN
from storage.pipeline.report.traffic_section import brought_by_sessions, traffic_rows
from sync.machine import MILLISECOND, SECOND
from sync.runner.log_rows import Route
from tests.support.storage.deliveries import ANN, BOB, CAT, around, named, rows_of, run_job
from tests.support.storage.diffs import ran
from tests.support.storage.synthetic import NO_FAULTS, made, plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLACE = "00aa"


def test_links_that_were_down_together_are_one_partition() -> None:
    rows = [
        ("a", "b", "link down", 10),
        ("b", "a", "link down", 12),
        ("a", "b", "link up", 30),
        ("b", "a", "link up", 34),
        ("a", "c", "link down", 50),
        ("a", "c", "link up", 51),
    ]

    assert partitions_of(rows) == [Partition(10, 34, 2), Partition(50, 51, 1)]


def test_a_link_that_never_came_up_again_is_no_partition() -> None:
    assert not partitions_of([("a", "b", "link down", 10), ("a", "c", "link up", 20)])


@pytest.mark.spark
def test_bytes_repairs_and_partitions_are_told(spark: "SparkSession", tmp_path: Path) -> None:
    lost, later = named(PLACE, 1), named(PLACE, 2)
    rows = rows_of(
        PLACE,
        [
            *around(PLACE, ANN, BOB, CAT),
            (2000, ANN, "sent", lost),
            (2010, BOB, "received", lost),
            (2010, BOB, "delivered", lost),
            (9000, CAT, "missing", lost),
            (10_500, CAT, "received", lost),
            (10_500, CAT, "delivered", lost),
            (20_000, ANN, "sent", later),
            (20_010, BOB, "delivered", later),
            (20_030, CAT, "delivered", later),
        ],
    )
    told: list[tuple[int, str, str, dict[str, object]]] = [
        (1000, CAT, "link down", {"peer": ANN}),
        (8000, CAT, "link up", {"peer": ANN}),
        (10_400, BOB, "repair answered", {"peer": CAT, "route": "answer", "message_id": lost}),
        (30_000, CAT, "session round", {"peer": BOB, "protocol": "waku", "session": 1}),
        (30_000, BOB, "session round", {"peer": CAT, "protocol": "waku", "session": 1}),
        (30_010, CAT, "received", {"peer": BOB, "route": "transfer"}),
        (30_020, CAT, "session round", {"peer": BOB, "protocol": "logheight", "session": 2}),
        (30_020, BOB, "session round", {"peer": CAT, "protocol": "logheight", "session": 2}),
    ]
    for at, (kind, route) in enumerate(product(("received", "duplicate"), Route)):
        told.append((31_000 + 10 * at, CAT, kind, {"peer": BOB, "route": route.value}))
    for seq, (ms, node, kind, more) in enumerate(told, 100):
        [row] = rows_of(PLACE, [(ms, node, kind, None)], **more)
        row["seq"] = seq
        rows.append(row)

    ran = run_job(spark, tmp_path, rows)

    [healed] = ran.table("partitions")
    assert (healed["ends_ns"] - healed["begins_ns"]) == 7 * SECOND
    assert healed["healing_ns"] == 2500 * MILLISECOND
    assert (healed["messages"], healed["late"], healed["never"]) == (1, 1, 0)
    [repairs] = ran.table("repairers")
    assert (repairs["node"], repairs["peer"], repairs["answers"]) == (BOB, CAT, 1)
    [slowest, *_] = ran.table("slowest_links")
    assert (slowest["author"], slowest["node"]) == (ANN, CAT)
    assert slowest["most_us"] == 8_500_000
    said = dict(traffic_rows(ran.figures))
    assert said["partition 1"] == ("7 s, 1 message meanwhile; healed 2.5 s after, 1 came late")
    assert said["repairs, most by"] == "bbbbbbbb for cccccccc (1)"
    purposes = ran.table("purposes")
    assert len(purposes) > SHOWN, "else nothing is cut off"
    assert said["sessions by protocol"] == "logheight 400 bytes, waku 400 bytes"
    assert "3.6 kB of messages that sessions brought" in said["bytes by purpose"]
    assert "800 bytes of messages, as sent" in said["bytes by purpose"]


@pytest.mark.spark
@pytest.mark.grid
def test_the_slowest_links_are_the_same_whether_all_or_a_few_are_sorted(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "in", plan(1, NO_FAULTS, messages=400))

    def told(out: str) -> list[str]:
        published = ran(spark, tmp_path, "delivery", tmp_path / "in", out=out)
        table = pq.read_table(published.directory / "slowest_links")
        return sorted(map(repr, table.to_pylist()))

    def slow(facts: "DataFrame", members: "DataFrame", among: "DataFrame | None") -> "DataFrame":
        counts.append(None if among is None else among.count())
        return slowest_links(facts, members, among)

    counts: list[int | None] = []
    slowest_links = traffic.slowest_links
    monkeypatch.setattr(traffic, "slowest_links", slow)
    everything = told("all")
    monkeypatch.setattr(traffic, "KEPT_ROWS", 12)
    few = told("few")

    assert counts[0] is None, "there are not as many as are kept"
    assert counts[1] is not None
    assert 12 <= counts[1] < len(everything) / 2
    assert len(few) == 12
    by_slowness = sorted(map(p95_of, everything), reverse=True)
    assert sorted(map(p95_of, few), reverse=True) == by_slowness[:12]
    assert set(few) <= set(everything)


def p95_of(row: str) -> int:
    """Return the 95th percentile in a row that was told as text."""
    return int(row.partition("'p95_us': ")[2].partition(",")[0])


def test_logs_without_links_are_told_so() -> None:
    names = ("purposes", "repairers", "slowest_links", "slowest_nodes", "partitions")
    empty: dict[str, list[object]] = {name: [] for name in names}

    said = dict(traffic_rows({"traffic": {**empty, "links_recorded": False}}))

    assert said == {"partitions": "not recorded: these logs tell nothing of links"}
    assert not dict(traffic_rows({})), "results of earlier versions"


def test_what_sessions_carried_is_what_the_simulator_counts() -> None:
    """Half of what both ends note, and each message that came over a stream."""
    rows = [
        {"kind": "session round", "protocol": "waku", "route": None, "bytes": 171_908},
        {"kind": "received", "protocol": None, "route": "transfer", "bytes": 215_053},
        {"kind": "duplicate", "protocol": None, "route": "transfer", "bytes": 3_229},
    ]
    figures = {
        "reconciliation": {"bytes": 171_908, "bytes_once": 85_954.0},
        "traffic": {"purposes": rows},
    }

    brought = brought_by_sessions(figures)

    assert brought is not None
    assert 85_954 + brought == 304_236
    assert brought_by_sessions({"traffic": {"purposes": rows[:1]}}) is None, "no route is told"


def test_entries_that_sessions_carry_count_as_brought() -> None:
    purposes = [
        {"kind": "session round", "protocol": "waku", "route": None, "bytes": 500},
        {"kind": "session round", "protocol": "logheight", "route": None, "bytes": 300},
        {"kind": "received", "protocol": None, "route": "entry", "bytes": 4_000},
        {"kind": "duplicate", "protocol": None, "route": "entry", "bytes": 10},
        {"kind": "received", "protocol": None, "route": "live", "bytes": 200},
    ]
    names = ("repairers", "slowest_links", "slowest_nodes", "partitions")
    empty: dict[str, list[object]] = {name: [] for name in names}
    figures = {"traffic": {**empty, "purposes": purposes, "links_recorded": True}}

    said = dict(traffic_rows(figures))

    assert brought_by_sessions(figures) == 4_210
    assert "4.21 kB of messages that sessions brought" in said["bytes by purpose"]
    assert "logheight" in said["sessions by protocol"]
