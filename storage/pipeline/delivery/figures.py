"""The figures of delivery, from its small tables: what the manifest keeps and the report tells."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery.clocks import PAIRS_MAX
from storage.pipeline.delivery.filter_errors import false_positive_rate
from storage.pipeline.delivery.latency import PERCENTS
from storage.pipeline.job_context import Work
from storage.pipeline.results.small_tables import Row, first_rows, row_count
from storage.results import Figures
from sync.structures import bloom_parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHOWN: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0}

SPANS: Final = {
    "until everybody had it": "converged_ns",
    "sent to possibly acknowledged": "possibly_ns - sent_ns",
    "possibly acknowledged to acknowledged": "acknowledged_ns - possibly_ns",
    "sent to acknowledged": "acknowledged_ns - sent_ns",
    "sent to failed": "failed_ns - sent_ns",
}
"""Times of own messages, each distributed by itself; in the order they are told."""

STEPS_SHOWN: Final = 100

LOAD_ROWS_MAX: Final = 1_000
"""Rows of `repair_load`: one for each number of response groups there was."""


def spread(row: Row) -> Figures:
    """Return a row of `latency.distribution` as figures, in microseconds."""
    at = row["at_us"] or [None] * len(PERCENTS)
    return {
        "count": row["count"],
        "negative": row["negative"],
        "least_us": row["least_us"],
        **{f"{name}_us": at[PERCENTS.index(percent)] for name, percent in SHOWN.items()},
        "most_us": row["most_us"],
    }


def delivery_figures(work: Work, sessions: "DataFrame", totals: Row) -> Figures:
    """Return all figures of a run of delivery whose tables are written.

    Args:
        work: of the job
        sessions: as of `storage.pipeline.delivery.rare_events.with_logs`
        totals: `TOTALS` of all messages
    """
    directory = work.run.directory
    there = _there(directory)
    talked = one_row(sessions, SESSIONS)
    rows = {row["span"]: row for row in first_rows(directory, "spans", len(SPANS))}
    of_spans = {span: spread(rows[span]) for span in SPANS}
    everybody = of_spans.pop("until everybody had it")
    deliveries, receptions = totals["deliveries"] or 0, totals["receptions"] or 0
    return {
        **there,
        "messages": totals["messages"],
        "sends": totals["sends"] or 0,
        "sent_bytes": totals["sent_bytes"] or 0,
        "receptions": receptions,
        "deliveries": deliveries,
        "receptions_per_delivery": receptions / deliveries if deliveries else None,
        "due": totals["due"] or 0,
        "delivered_of_due": totals["delivered_of_due"] or 0,
        "not_counted": (totals["others"] or 0) - (totals["due"] or 0),
        "of_unknown_senders": row_count(directory, "facts", pc.field("author").is_null()),
        "latency": spread(_only(directory, "latency")),
        "convergence": {
            "nobody_there": totals["nobody_there"],
            "complete": totals["complete"],
            **everybody,
        },
        "states": {
            "possibly_acknowledged": totals["possibly_acknowledged"],
            "acknowledged": totals["acknowledged"],
            "failed": totals["failed"],
            "times": of_spans,
        },
        "repair": _repair(directory),
        "filters": _filters(directory, totals),
        "reconciliation": talked,
        "clocks": _clocks(directory, there["nodes_without_host"]),
    }


TOTALS: Final = {
    "messages": "count(*)",
    "sends": "sum(sends)",
    "sent_bytes": "sum(sent_bytes)",
    "receptions": "sum(receptions)",
    "deliveries": "sum(deliveries)",
    "due": "sum(expected)",
    "delivered_of_due": "sum(present_deliveries)",
    "others": "sum(others)",
    "nobody_there": "count_if(expected = 0)",
    "complete": "count_if(complete)",
    "possibly_acknowledged": "count(possibly_ns)",
    "acknowledged": "count(acknowledged_ns)",
    "failed": "count(failed_ns)",
}

SESSIONS: Final = {
    "sides": "count(*)",
    "ended": "count(ended_ns)",
    "rounds": "sum(rounds)",
    "rounds_p50": "percentile(rounds, 0.5)",
    "rounds_most": "max(rounds)",
    "bytes": "sum(bytes)",
    # both ends note the payloads of both: where both logs are here, half of each
    "bytes_once": "sum(if(has_log, bytes / 2, bytes))",
    "bytes_p50": "percentile(bytes, 0.5)",
    "bytes_p95": "percentile(bytes, 0.95)",
    "bytes_most": "max(bytes)",
    "peers_without_log": "count(distinct peer) filter (where not has_log)",
}


def one_row(table: "DataFrame", columns: Mapping[str, str]) -> Row:
    """Return some aggregates of a table; of no rows, a sum is null."""
    row = table.agg(*[F.expr(of).alias(name) for name, of in columns.items()]).first()
    assert row is not None, "an aggregate without groups has one row"
    return dict(row.asDict())


def _there(directory: Path) -> Figures:
    """Return who was there: the members are not more than each task of Spark was given."""
    members = first_rows(directory, "members", row_count(directory, "members"))
    clocks: dict[int, list[Row]] = {}
    for row in members:
        clocks.setdefault(row["clock"], []).append(row)
    return {
        "nodes": len({row["node"] for row in members}),
        "channels": len({row["channel"] for row in members}),
        "nodes_without_host": len({row["node"] for row in members if row["host"] is None}),
        "from_ns": min(row["first_ns"] for row in members),
        "to_ns": max(row["last_ns"] for row in members),
        "longest_ns": max(
            max(row["last_ns"] for row in of_clock) - min(row["first_ns"] for row in of_clock)
            for of_clock in clocks.values()
        ),
    }


def _only(directory: Path, name: str) -> Row:
    [row] = first_rows(directory, name, 1)
    return row


def _repair(directory: Path) -> Figures:
    rows = first_rows(directory, "repair_load", LOAD_ROWS_MAX, ["groups"])
    names = ("messages", "missing_at", "repaired_at", "lost_at", "requests", "answers")
    total = {name: sum(row[name] for row in rows) for name in names}
    lost = total["messages"]
    return {
        **total,
        "requests_per_message": total["requests"] / lost if lost else None,
        "answers_per_message": total["answers"] / lost if lost else None,
        "answers_in_group": sum(row["answers_in_group"] for row in rows),
        "by_groups": rows[:LOAD_ROWS_MAX],
    }


def _filters(directory: Path, totals: Row) -> Figures:
    found = _only(directory, "marks")
    lan = bloom_parameters.LAN
    rate = false_positive_rate(lan, lan.capacity)
    chances = found["chances"]
    return {
        "marked": found["marked"],
        "false": found["false"],
        "unjudged": totals["possibly_acknowledged"] - found["marked"],
        "messages": totals["messages"],
        "chances": chances,
        "rate_found": found["false"] / chances if chances else None,
        "rate_of_full_filter": rate,
        "expected_at_most": chances * rate,
    }


def _clocks(directory: Path, unknown: int) -> Figures:
    every = first_rows(directory, "offsets", PAIRS_MAX)
    pairs = [row for row in every if row["uncertainty_ns"] >= 0]
    pairs.sort(key=lambda row: (-abs(row["offset_ns"]), row["a"], row["b"]))
    steps = first_rows(directory, "clock_steps", STEPS_SHOWN)
    steps.sort(key=lambda row: (-row["by_ns"], row["a"], row["b"]))
    return {
        "pairs": len(pairs),
        "pairs_with_steps": len(every) - len(pairs),
        "steps": steps,
        "nodes_without_host": unknown,
        "hosts": sorted({host for row in pairs for host in (row["a"], row["b"])})[:100],
        "largest": pairs[:10],
    }
