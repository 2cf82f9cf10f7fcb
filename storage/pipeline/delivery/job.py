"""Delivery of messages: latency, convergence, redundancy, repair, filters, reconciliation.

Tables: `members`, `facts`, `messages`, `sessions`, and the small ones that the report draws from:
`latency`, `latency_counts`, `channels`, `spans`, `offsets`, `clock_steps`, `repair_load`, `marks`,
`matrix`.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery import (
    clocks,
    facts,
    filter_errors,
    latency,
    missing_matrix,
    rare_events,
    repairs,
    stretches,
)
from storage.pipeline.delivery.figures import SPANS, TOTALS, delivery_figures, one_row
from storage.pipeline.delivery.traffic_tables import write_traffic
from storage.pipeline.errors import PipelineError
from storage.pipeline.handed import handed
from storage.pipeline.inputs.members import host_rows, hosts_of, members
from storage.pipeline.job_context import Work
from storage.pipeline.results.small_tables import Row, row_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RARE: Final = "rare"
ORDER: Final = "order"
OWN: Final = "own"
WAYS: Final = "ways"
BOUNDS: Final = "bounds"
"""Tables that others are made of."""

STEPS_MAX: Final = 100
"""Pairs of clocks of which it is looked up when one was set."""


def run(work: Work) -> None:
    """Read the logs twice: for who is there, what is rare and traffic, and for messages."""
    log, copies = work.inputs.log_once(work.spark)
    seldom = work.write(RARE, rare_events.rare(log))
    hosts = host_rows(work.spark, hosts_of(work.inputs.notes))
    there = work.write_side("members", members(seldom, hosts))
    if not row_count(work.run.directory, "members"):
        raise PipelineError(
            "The exports have no protocol log, and delivery reads nothing else: export again "
            "without --no-log. Where it was not kept, `chat-tui settings` turns protocol_log on, "
            "for what happens from then on."
        )
    sent = rare_events.own_messages(seldom, there)
    order = work.write(ORDER, stretches.in_order(sent, there))
    own = work.write_side(OWN, stretches.placed(order))
    talked = work.write("sessions", rare_events.sessions(seldom, there))
    of_later = F.sum("unknown").alias("rows"), F.min("unknown_kind").alias("kind")
    unknown = seldom.agg(*of_later).first()
    work.run.drop(ORDER)  # all of it stands in `OWN`
    totals = _tables(work, log, there, own)
    for name in (OWN, WAYS, BOUNDS):  # `messages` and `offsets` have what is told of these
        work.run.drop(name)
    work.run.figures = delivery_figures(work, rare_events.with_logs(talked, there), totals)
    if unknown and unknown["rows"]:
        work.run.figures["unknown_kinds"] = unknown.asDict()
    if copies:
        work.run.figures["copies"] = copies
    work.run.figures["traffic"] = write_traffic(work, seldom, there)
    work.run.drop(RARE)  # all of it stands in the others


def _tables(work: Work, log: "DataFrame", there: "DataFrame", own: "DataFrame") -> Row:
    """Write all other tables; returns the totals of all messages."""
    events = facts.noted(log, there)
    rows = work.write("facts", facts.facts(events, own, there))
    due = facts.expected(own, there)
    if (not_let_in := work.inputs.not_let_in(work.spark)) is not None:
        due = facts.owed(due, not_let_in, rows, there)
    became = facts.by_message(_compared(work, rows, there))
    sent = work.write("messages", facts.messages(own, became, due, there))

    took = work.write("latency_counts", latency.latencies(rows, there))
    work.write("latency", latency.distribution(took, "latency_us"))
    work.write("channels", latency.by_channel(took, there))
    work.write("spans", spans(sent))
    lost = repairs.losses(sent)
    grouped = repairs.answers_by_group(rows, lost, there)
    work.write("repair_load", repairs.repair_load(lost, grouped))
    heard, nodes = filter_errors.heard(rows, there), row_count(work.run.directory, "members")
    work.write(
        "marks",
        filter_errors.marks(filter_errors.judged(sent), handed(heard, nodes)),
    )
    totals = one_row(sent, TOTALS)
    if totals["messages"]:
        cells = missing_matrix.missing_matrix(due, rows, missing_matrix.Bins(nodes))
        work.write("matrix", cells)
    return totals


def _compared(work: Work, rows: "DataFrame", there: "DataFrame") -> "DataFrame":
    """Return facts with how far clocks are apart, and write what is told of clocks."""
    # where there is one clock, all of these rows would be looked at for nothing
    several = there.agg(F.max("clock") > F.min("clock")).first()
    one_clock = not (several and several[0])
    fastest = work.write(WAYS, clocks.ways(rows.limit(0) if one_clock else rows, there))
    apart = work.write("offsets", clocks.offsets(fastest, there))
    known = None if one_clock else work.write(BOUNDS, clocks.bounds(fastest))
    set_meanwhile = apart.where("uncertainty_ns < 0").limit(STEPS_MAX)
    found = rows if not set_meanwhile.isEmpty() else rows.limit(0)
    work.write("clock_steps", clocks.steps(found, there, set_meanwhile))
    return clocks.compared(rows, there, known)


def spans(messages: "DataFrame") -> "DataFrame":
    """Return how `SPANS` are distributed.

    Args:
        messages: the columns of `storage.pipeline.delivery.facts.messages`

    Returns:
        span string, and the columns of `storage.pipeline.delivery.latency.distribution`
    """
    each = [
        F.struct(F.lit(name).alias("span"), latency.in_us(F.expr(took)).alias("us"))
        for name, took in SPANS.items()
    ]
    taken = messages.select(F.inline(F.array(*each))).withColumn("times", F.lit(1))
    # a span has its row even where nobody sent anything
    never = [(name, None, 0) for name in SPANS]
    all_of_them = messages.sparkSession.createDataFrame(never, "span string, us long, times int")
    return latency.distribution(all_of_them.unionAll(taken), "us", "span")
