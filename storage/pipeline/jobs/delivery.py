"""How messages got around: latency, convergence, redundancy, repair, filters, reconciliation.

Tables: `members`, `facts`, `messages`, `sessions`, and the small ones that the report draws from:
`latency`, `latency_counts`, `channels`, `spans`, `offsets`, `repair_load`, `marks`, `matrix`.
"""

import shutil
from functools import reduce
from typing import TYPE_CHECKING, Final

from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline import evidence, facts, latency, matrix, repairs
from storage.pipeline.figures import delivery_figures
from storage.pipeline.members import host_rows, hosts_of, members
from storage.pipeline.problems import PipelineError
from storage.pipeline.work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OWN: Final = "own"

SPANS: Final = {
    "until everybody had it": "converged_ns",
    "sent to possibly acknowledged": "possibly_ns - sent_ns",
    "possibly acknowledged to acknowledged": "acknowledged_ns - possibly_ns",
    "sent to acknowledged": "acknowledged_ns - sent_ns",
    "sent to failed": "failed_ns - sent_ns",
}
"""Times of own messages, each distributed by itself."""


def run(work: Work) -> None:
    """Read the logs three times: who is there, what is rare, and what happens to each message."""
    log = work.inputs.log(work.spark)
    hosts = host_rows(work.spark, hosts_of(work.inputs.notes))
    there = _written(work, "members", members(log, hosts))
    if there.isEmpty():
        raise PipelineError("The exports have no protocol log; `chat-tui settings` can turn it on.")
    rare = facts.noted(log, there, (*facts.OWN_KINDS, *repairs.SESSION_KINDS))
    rare = rare.persist(StorageLevel.MEMORY_AND_DISK)  # two tables are made of it
    try:
        kinds = [kind.value for kind in facts.OWN_KINDS]
        own = facts.own_messages(rare.where(F.col("kind").isin(kinds)))
        own = _written(work, OWN, own)
        _written(work, "sessions", repairs.sessions(rare))
    finally:
        rare.unpersist()
    _tables(work, log, there, own)
    shutil.rmtree(work.run.table(OWN))  # all of it stands in `messages`
    work.run.figures = delivery_figures(work)


def _tables(work: Work, log: "DataFrame", there: "DataFrame", own: "DataFrame") -> None:
    few = own.count() <= facts.BROADCAST_MAX
    events = facts.noted(log, there, facts.FACT_KINDS)
    rows = _written(work, "facts", facts.facts(events, own, there, broadcast=few))
    due = facts.expected(own, there)
    totals = facts.by_message(rows)
    sent = _written(work, "messages", facts.messages(own, totals, due, there))

    took = _written(work, "latency_counts", latency.latencies(rows, there))
    _written(work, "latency", latency.distribution(took, "latency_us"))
    _written(work, "channels", latency.distribution(took, "latency_us", "channel"))
    _written(work, "spans", spans(sent))
    _written(work, "offsets", latency.offsets(rows, there))
    lost = repairs.losses(sent)
    grouped = repairs.answers_by_group(rows, lost, there)
    _written(work, "repair_load", repairs.repair_load(lost, grouped))
    _written(work, "marks", evidence.marks(sent, evidence.heard(rows, there)))
    first, last = sent.agg(F.min("sent_ns"), F.max("sent_ns")).first() or (None, None)
    if first is not None and last is not None:
        bins = matrix.Bins(there.count(), first, last)
        _written(work, "matrix", matrix.missing_matrix(due, rows, bins))


def spans(messages: "DataFrame") -> "DataFrame":
    """Return how `SPANS` are distributed.

    Args:
        messages: the columns of `storage.pipeline.facts.messages`

    Returns:
        span string, and the columns of `storage.pipeline.latency.distribution`
    """
    tables = [
        latency.distribution(
            messages.select(latency.in_us(F.expr(took)).alias("us"), F.lit(1).alias("times")), "us"
        ).select(F.lit(name).alias("span"), "*")
        for name, took in SPANS.items()
    ]
    return reduce(lambda one, other: one.unionAll(other), tables)


def _written(work: Work, name: str, table: "DataFrame") -> "DataFrame":
    """Write a table and return what was written: it is not worked out again."""
    path = work.run.table(name)
    table.write.parquet(path)
    return work.spark.read.schema(table.schema).parquet(path)
