"""The fact table of delivery: what became of each message at each node, in one narrow row.

Whatever is told of latency, redundancy and repair follows from it without reading the log again.
The message's raw id is its key: it hashes as fast as two longs (9.8 M events), and cutting longs
out of it costs twice as much as the whole table.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery.rare_events import numbered
from storage.pipeline.inputs.conditions import looked_at
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FACT_KINDS: Final = (
    LogKind.RECEIVED,
    LogKind.DUPLICATE,
    LogKind.BUFFERED,
    LogKind.DELIVERED,
    LogKind.MISSING,
    LogKind.REPAIR_REQUESTED,
    LogKind.REPAIR_ANSWERED,
    LogKind.REPAIRED,
    LogKind.LOST,
)

IS_BETWEEN: Final = "lamport between first_lamport and last_lamport"
"""The rule of presence. Messages of one Lamport time with a node's first or last are between: of
these nobody can say which was before."""


def noted(log: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return the rows of a log that tell of messages, as narrow as they can be.

    Args:
        log: the columns of `storage.archive.tables.LOG`
        members: those of `storage.pipeline.inputs.members.members`

    Returns:
        message_id binary, member int, kind byte (its place in `FACT_KINDS`), ts_ns long
    """
    kinds = [kind.value for kind in FACT_KINDS]
    timed = (F.col("ts_ns") >= 0) & F.col("message_id").isNotNull()
    chosen = log.where(looked_at(timed & F.col("kind").isin(kinds)))
    code: Column | None = None
    for number, kind in enumerate(kinds):
        is_it, there = F.col("kind") == kind, F.lit(number).cast("byte")
        code = F.when(is_it, there) if code is None else code.when(is_it, there)
    assert code is not None
    return numbered(chosen, members).select("message_id", "member", code.alias("kind"), "ts_ns")


def first(kind: LogKind) -> "Column":
    """Return when a kind was noted first; null if never."""
    return F.min(F.when(F.col("kind") == FACT_KINDS.index(kind), F.col("ts_ns")))


def times(*kinds: LogKind) -> "Column":
    """Return how often one of some kinds was noted, as an int."""
    one_of = F.col("kind").isin([FACT_KINDS.index(kind) for kind in kinds])
    return F.count(F.when(one_of, F.lit(1))).cast("int")


def facts(events: "DataFrame", own: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return one row for each message at each node that noted anything of it.

    Args:
        events: the columns of `noted`
        own: message_id binary, author int, sent_ns long, lamport long, stretch byte
        members: member int, first_ns long, first_lamport long, last_lamport long

    Returns:
        message_id binary, member int, received_ns long, delivered_ns long, buffered_ns long,
        missing_ns long, repaired_ns long, lost_ns long (null: never), receptions int,
        requests int, answers int, author int, sent_ns long, stretch byte (null: nobody noted to
        have sent it), present boolean: not the author, and has both an earlier and a later
        message, or these are this one; there boolean: by its own clock, its log had begun
    """
    each = (
        # nodes note a message a few times each: too few to add up first
        events.repartition("message_id")
        .groupBy("message_id", "member")
        .agg(
            first(LogKind.RECEIVED).alias("received_ns"),
            first(LogKind.DELIVERED).alias("delivered_ns"),
            first(LogKind.BUFFERED).alias("buffered_ns"),
            first(LogKind.MISSING).alias("missing_ns"),
            first(LogKind.REPAIRED).alias("repaired_ns"),
            first(LogKind.LOST).alias("lost_ns"),
            times(LogKind.RECEIVED, LogKind.DUPLICATE).alias("receptions"),
            times(LogKind.REPAIR_REQUESTED).alias("requests"),
            times(LogKind.REPAIR_ANSWERED).alias("answers"),
        )
    )
    sent = own.select("message_id", "author", "sent_ns", "lamport", "stretch")
    ends = members.select("member", "first_ns", "first_lamport", "last_lamport")
    present = F.coalesce((F.col("member") != F.col("author")) & F.expr(IS_BETWEEN), F.expr("false"))
    there = F.coalesce(F.col("first_ns") <= F.col("sent_ns"), F.expr("false"))
    of_message = ("author", "sent_ns", "stretch", "present", "there")
    return (
        each.join(sent, "message_id", "left")
        .join(ends, "member")
        .withColumns({"present": present, "there": there})
        .select("message_id", "member", *each.columns[2:], *of_message)
    )


def expected(own: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return who should have each message: all but its author who were there before and after.

    Args:
        own: message_id binary, channel string, author int, lamport long, stretch byte
        members: member int, channel string, first_lamport long, last_lamport long

    Returns:
        message_id binary, stretch byte, member int
    """
    others = members.select("member", "channel", "first_lamport", "last_lamport")
    return (
        own.select("message_id", "channel", "author", "lamport", "stretch")
        .join(others, "channel")
        .where(F.expr(IS_BETWEEN) & (F.col("member") != F.col("author")))
        .select("message_id", "stretch", "member")
    )


def owed(
    due: "DataFrame", not_let_in: "DataFrame", rows: "DataFrame", members: "DataFrame"
) -> "DataFrame":
    """Return what is due, without what governance kept out of a member and it never delivered.

    Args:
        due: the columns of `expected`
        not_let_in: those of `storage.archive.tables.NOT_LET_IN`
        rows: message_id binary, member int, delivered_ns long
        members: member int, channel string, node string

    Returns:
        the columns of `expected`
    """
    numbers = F.broadcast(members.select("member", "channel", "node"))
    told = not_let_in.join(numbers, ["channel", "node"]).select("message_id", "member").distinct()
    # what waited in an older export may have been let in since
    came = rows.where("delivered_ns is not null").select("message_id", "member")
    kept_out = told.join(came, ["message_id", "member"], "left_anti")
    return due.join(kept_out, ["message_id", "member"], "left_anti").select(*due.columns)


def by_message(rows: "DataFrame") -> "DataFrame":
    """Return what became of each message at all others together.

    Args:
        rows: the columns of `storage.pipeline.delivery.clocks.compared`

    Returns:
        message_id binary, receptions long, deliveries long (of others than the author),
        first_received_ns long (by another, about), earliest_ns long and latest_ns long (not before
        and not after then; null: not known), uncompared long (others who received it by a clock
        that cannot be compared), present_deliveries long, untimed long (those of them by such a
        clock), present_delivered_ns long (the last one, of those whose logs had begun),
        missing_at long, repaired_at long, lost_at long (nodes), requests long, answers long; all
        times by the author's clock
    """
    other = ~F.col("member").eqNullSafe(F.col("author"))

    def of_others(name: str) -> "Column":
        return F.when(other, F.col(name))

    delivered_there = F.when(F.col("present"), F.col("delivered_ns"))
    least, most = F.col("ahead_least_ns"), F.col("ahead_most_ns")
    about = F.floor(least / 2 + most / 2)
    unknown = least.isNull() | most.isNull()
    return rows.groupBy("message_id").agg(
        F.sum(of_others("receptions")).alias("receptions"),
        F.count(of_others("delivered_ns")).alias("deliveries"),
        F.min(of_others("received_ns") - about).alias("first_received_ns"),
        F.min(of_others("received_ns") - most).alias("earliest_ns"),
        F.min(of_others("received_ns") - least).alias("latest_ns"),
        F.count(F.when(most.isNull(), of_others("received_ns"))).alias("uncompared"),
        F.count(delivered_there).alias("present_deliveries"),
        F.count(F.when(unknown, delivered_there)).alias("untimed"),
        F.max(F.when(F.col("there"), delivered_there - about)).alias("present_delivered_ns"),
        F.count("missing_ns").alias("missing_at"),
        F.count("repaired_ns").alias("repaired_at"),
        F.count("lost_ns").alias("lost_at"),
        F.sum("requests").alias("requests"),
        F.sum("answers").alias("answers"),
    )


def messages(
    own: "DataFrame", totals: "DataFrame", due: "DataFrame", members: "DataFrame"
) -> "DataFrame":
    """Return one row for each message that somebody noted to have sent.

    Args:
        own: the columns of `storage.pipeline.delivery.stretches.placed`
        totals: those of `by_message`
        due: those of `expected`
        members: member int, channel string

    Returns:
        the columns of `placed` and of `by_message`; others long (in the channel); expected long
        (others who were there); complete boolean (all of these delivered it, at least one);
        converged_ns long: from sending until the last of them whose log had begun by then did, null
        if it is not complete or the clock of one of them cannot be compared
    """
    counted = due.groupBy("message_id").agg(F.count("*").alias("expected"))
    others = members.groupBy("channel").agg((F.count("*") - 1).alias("others"))
    complete = (F.col("expected") > 0) & (F.col("present_deliveries") == F.col("expected"))
    took = F.col("present_delivered_ns") - F.col("sent_ns")
    return (
        own.join(F.broadcast(others), "channel")
        .join(counted, "message_id", "left")
        .join(totals, "message_id", "left")
        .fillna(0, ["expected", *COUNTS])
        .withColumn("complete", complete)
        .withColumn("converged_ns", F.when(F.col("complete") & (F.col("untimed") == 0), took))
    )


COUNTS: Final = (
    "receptions",
    "deliveries",
    "uncompared",
    "present_deliveries",
    "untimed",
    "missing_at",
    "repaired_at",
    "lost_at",
    "requests",
    "answers",
)
"""Columns of `by_message` that are 0 where nobody noted anything of a message."""
