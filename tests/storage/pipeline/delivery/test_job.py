"""Delivery on logs made by hand, where every figure is known."""

import hashlib
import math
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.archive.tables import LOG, WAITS
from storage.pipeline.delivery.figures import SPANS
from storage.pipeline.delivery.latency import PERCENTS
from storage.pipeline.errors import PipelineError
from sync.machine import MILLISECOND, SECOND, MessageId, PeerId
from sync.sds.parameters import LAN as LAN_PARAMETERS
from sync.sds.repair import Window, is_in_response_group
from sync.structures.bloom_parameters import LAN
from tests.support.storage.deliveries import (
    ANN,
    BOB,
    CAT,
    GOT,
    HOSTS,
    LATER,
    LOST,
    TWICE,
    Ran,
    around,
    export,
    keep_out,
    rows_of,
    run_job,
    run_over,
    sessions,
    story,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_latency_by_channel_is_exact(delivery: Ran) -> None:
    by_channel = {row["channel"]: row for row in delivery.table("channels")}
    at = dict(zip(PERCENTS, by_channel[GOT]["at_us"], strict=True))

    assert by_channel[GOT]["count"] == 3
    assert (by_channel[GOT]["least_us"], by_channel[GOT]["most_us"]) == (10_000, 500_000)
    assert at[50] == 40_000
    assert at[95] == pytest.approx(40_000 + 0.9 * 460_000)
    assert at[99] == pytest.approx(40_000 + 0.98 * 460_000)
    assert delivery.figures["latency"]["count"] == 3 + 2 + 2


def test_percentiles_are_those_of_all_values(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    from storage.pipeline.delivery.latency import distribution  # noqa: PLC0415

    dice = random.Random(1)
    rows: list[tuple[int, int | None, int]] = [(0, None, 3)]
    for size in (1, 2, 3, 999, 1000, 1001, 1002, 3001):
        rows += [(size, dice.randrange(-200, 9 * size), 1) for _ in range(size)]
        rows += [(-size, dice.randrange(5 * size) ** 2, dice.randrange(1, 9)) for _ in range(size)]
        rows += [(-size, None, 5)]
    spans = spark.createDataFrame(rows, "of int, us long, times long")
    shares = F.array(*[F.lit(percent / 100) for percent in PERCENTS])
    known = spans.where("us is not null")

    found = {row["of"]: row for row in distribution(spans, "us", "of").collect()}

    every = known.groupBy("of").agg(
        F.percentile("us", shares, F.col("times")).alias("at"), F.sum("times")
    )
    expected = {row["of"]: (row["at"], row["sum(times)"]) for row in every.collect()}
    assert {of: (row["at_us"], row["count"]) for of, row in found.items()} == expected | {
        0: (None, 0)
    }
    [together] = distribution(spans, "us").collect()
    [overall] = known.agg(F.percentile("us", shares, F.col("times")).alias("at")).collect()
    assert together["at_us"] == overall["at"]
    assert together["negative"] == sum(times for _, us, times in rows if us is not None and us < 0)


def test_redundancy_and_convergence(delivery: Ran) -> None:
    hello, late = delivery.message(GOT, 1), delivery.message(GOT, 2)

    assert (hello["receptions"], hello["deliveries"], hello["sends"]) == (3, 2, 2)
    assert (hello["expected"], hello["converged_ns"]) == (2, 500 * MILLISECOND)
    assert (late["expected"], late["present_deliveries"], late["converged_ns"]) == (2, 1, None)
    figures = delivery.figures
    assert figures["messages"] == 2 + 1 + 2 + 2 + 2 + 1
    assert figures["sends"] == figures["messages"] + 1
    assert figures["receptions_per_delivery"] == pytest.approx((4 + 1 + 2 + 1 + 2) / 7)


def test_what_governance_kept_out_is_not_due_there(spark: "SparkSession", tmp_path: Path) -> None:
    made = export(tmp_path / "export", rows_of(GOT, story(GOT)), HOSTS)
    keep_out(made, GOT, (CAT, 2, "removed"), (BOB, 1, WAITS))

    delivery = run_over(spark, tmp_path / "out", made)

    hello, late = delivery.message(GOT, 1), delivery.message(GOT, 2)
    assert (late["expected"], late["present_deliveries"], late["complete"]) == (1, 1, True)
    assert hello["expected"] == 2, "bob let in later what waited"
    assert (delivery.figures["due"], delivery.figures["not_counted"]) == (3, 1)


def test_a_fact_is_what_one_node_noted_of_one_message(delivery: Ran) -> None:
    cat = delivery.fact(GOT, 1, CAT)

    assert (cat["received_ns"], cat["buffered_ns"]) == (1030 * MILLISECOND,) * 2
    assert (cat["delivered_ns"], cat["sent_ns"]) == (1500 * MILLISECOND, SECOND)
    assert (cat["receptions"], cat["requests"], cat["present"]) == (1, 0, True)
    assert delivery.fact(GOT, 1, BOB)["receptions"] == 2
    assert delivery.fact(LOST, 1, BOB)["requests"] == 2
    assert delivery.fact(LOST, 1, CAT)["answers"] == 1
    assert delivery.fact(LOST, 2, CAT)["lost_ns"] == 9 * SECOND
    assert delivery.fact(GOT, 9, BOB)["author"] is None


def test_who_comes_later_is_not_waited_for(delivery: Ran) -> None:
    """Cat got the message all the same, and counts; how long that took is not the group's fault."""
    hello, cat = delivery.message(LATER, 1), delivery.fact(LATER, 1, CAT)

    assert (hello["expected"], hello["deliveries"], hello["complete"]) == (2, 2, True)
    assert hello["converged_ns"] == 10 * MILLISECOND
    assert (cat["present"], cat["there"]) == (True, False)


def test_states_of_own_messages(delivery: Ran) -> None:
    states = delivery.figures["states"]

    assert (states["possibly_acknowledged"], states["acknowledged"], states["failed"]) == (2, 1, 1)
    times = {name: (of["count"], of["p50_us"]) for name, of in states["times"].items()}
    assert times["sent to possibly acknowledged"] == (2, 250_000)
    assert times["possibly acknowledged to acknowledged"] == (1, 600_000)
    assert times["sent to acknowledged"] == (1, 900_000)
    assert times["sent to failed"] == (1, 7_000_000)
    assert list(times) == list(SPANS)[1:], "the same order however many tasks wrote them"


def test_a_mark_is_false_while_nobody_else_has_the_message(delivery: Ran) -> None:
    filters = delivery.figures["filters"]

    assert (filters["marked"], filters["false"]) == (2, 1), "nobody had it at 1300"
    full = (1 - math.exp(-LAN.k * LAN.capacity / LAN.m_bits)) ** LAN.k
    assert filters["rate_of_full_filter"] == pytest.approx(full)
    assert filters["expected_at_most"] == pytest.approx(full * filters["chances"])


def test_chances_are_the_filters_heard_while_alone(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    from storage.pipeline.delivery.filter_errors import marks  # noqa: PLC0415

    columns = "author int, sent_ns long, possibly_ns long, acknowledged_ns long, "
    columns += "first_received_ns long"
    rows = [
        (1, 0, 3 * SECOND, None, 9 * SECOND),
        (1, 0, None, 5 * SECOND, 1 * SECOND),
        (1, 8 * SECOND, None, None, 7 * SECOND),  # heard by one whose clock is behind
        (2, 0, None, None, 1 * SECOND),
    ]
    exact = {name: F.col("first_received_ns") for name in ("earliest_ns", "latest_ns")}
    sent = spark.createDataFrame(rows, columns).withColumns(exact | {"uncompared": F.lit(0)})
    rates = spark.createDataFrame([(1, 2.0)], "member int, per_second double")

    found = marks(sent, rates).first()

    assert found is not None
    assert found.asDict() == {"marked": 1, "false": 1, "chances": 2.0 * (3 + 1)}


def test_repairs_for_each_loss(delivery: Ran) -> None:
    repair = delivery.figures["repair"]

    assert (repair["messages"], repair["missing_at"]) == (2, 2)
    assert (repair["repaired_at"], repair["lost_at"]) == (1, 1)
    assert (repair["requests"], repair["answers"]) == (2, 1)
    assert (repair["requests_per_message"], repair["answers_per_message"]) == (1, 0.5)
    [load] = repair["by_groups"]
    assert (load["groups"], load["participants"], load["answers_in_group"]) == (1, 3, 1)
    assert load["answers_per_member"] == pytest.approx(1 / 2 / 3)


def test_sessions_rounds_and_bytes(delivery: Ran) -> None:
    talked = delivery.figures["reconciliation"]

    assert (talked["sides"], talked["ended"], talked["rounds_most"]) == (2, 2, 2)
    assert (talked["bytes"], talked["bytes_p50"]) == (300, 150)
    assert {row["started_ns"] for row in delivery.table("sessions")} == {SECOND}


def test_a_reconciliation_is_one_whether_each_row_names_the_other_side(
    spark: "SparkSession",
) -> None:
    from storage.pipeline.delivery.rare_events import rare  # noqa: PLC0415
    from storage.pipeline.delivery.rare_events import sessions as sessions_of  # noqa: PLC0415
    from storage.pipeline.inputs.inputs import struct_of  # noqa: PLC0415

    named_once = [row | {"peer": None, "session": 7} for row in sessions()[2:]]
    unnumbered = sessions()[0] | {"session": None, "bytes": 9}
    rows = [*sessions()[:2], *named_once, unnumbered]
    log = spark.createDataFrame(
        [[row.get(name) for name in LOG.names] for row in rows], struct_of(LOG)
    )
    columns = "member int, channel string, node string"
    members = spark.createDataFrame([(1, GOT, ANN), (2, GOT, BOB)], columns)

    found = sessions_of(rare(log), members).collect()

    assert [row["peer"] for row in found] == [CAT, CAT]
    assert {row["member"] for row in found} == {1, 2}
    assert {(row["started_ns"], row["ended_ns"]) for row in found} == {(SECOND, 1300 * MILLISECOND)}
    assert {(row["rounds"], row["bytes"]) for row in found} == {(2, 150)}


def test_clocks_that_differ_are_found_and_nothing_is_clamped(delivery: Ran) -> None:
    assert (delivery.figures["latency"]["negative"], delivery.figures["latency"]["least_us"]) == (
        1,
        -480_000,
    )
    assert delivery.figures["clocks"]["nodes_without_host"] == 0
    [pair] = delivery.figures["clocks"]["largest"]
    assert (pair["a"], pair["b"]) == ("one", "two")
    assert pair["offset_ns"] == -510 * MILLISECOND
    assert pair["uncertainty_ns"] == 30 * MILLISECOND
    assert abs(pair["offset_ns"] + 500 * MILLISECOND) <= pair["uncertainty_ns"]


def test_the_author_is_who_sent_first(delivery: Ran) -> None:
    hello = delivery.message(TWICE, 1)

    assert (hello["sent_ns"], hello["acknowledged_ns"]) == (SECOND, None)


def test_the_matrix_counts_what_was_due_and_what_came(delivery: Ran) -> None:
    cells = delivery.table("matrix")

    assert (
        sum(cell["expected"] for cell in cells) == delivery.figures["due"] == 4 + 2 + 4 + 4 + 2 + 2
    )
    came = sum(cell["delivered"] for cell in cells)
    assert came == delivery.figures["delivered_of_due"] == 3 + 2 + 2
    assert {cell["column"] for cell in cells} <= set(range(48))


def test_a_group_answers_as_the_engine_says(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    from storage.pipeline.delivery.repairs import remainder  # noqa: PLC0415

    groups = Window.of(LAN_PARAMETERS, 700).groups
    nodes = [PeerId(hashlib.sha256(bytes([n])).hexdigest()) for n in range(40)]
    message = MessageId("ab" * 32)
    rows = spark.createDataFrame([(node,) for node in nodes], "node string")
    at = remainder(F.col("node"), F.lit(message), F.lit(groups)).cast("long").alias("group")

    of = {row["node"]: row["group"] for row in rows.select("node", at).collect()}

    assert groups == 5
    for node in nodes:
        same = of[node] == of[nodes[0]]
        assert same == is_in_response_group(node, nodes[0], message, groups)


def test_where_nobody_sent_anything_the_figures_say_so(
    spark: "SparkSession", tmp_path: Path
) -> None:
    ran = run_job(spark, tmp_path, rows_of(GOT, around(GOT, ANN, BOB)))

    assert (ran.figures["messages"], ran.figures["of_unknown_senders"]) == (0, 2)
    assert (ran.figures["nodes"], ran.figures["to_ns"]) == (2, 60 * SECOND)
    assert ran.figures["convergence"]["count"] == ran.figures["latency"]["count"] == 0
    times = ran.figures["states"]["times"]
    assert {of["p50_us"] for of in times.values()} == {None}
    assert len(times) == 4


def test_no_log_is_said_with_the_fix(spark: "SparkSession", tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="no protocol log"):
        run_job(spark, tmp_path, [])
