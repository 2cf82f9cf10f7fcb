"""The fact table of delivery: what became of each message at each node, in one narrow row.

Whatever is told of latency, redundancy and repair follows from it without reading the log again.
The message's raw id is its key: it hashes as fast as two longs (9.8 M events), and cutting longs
out of it costs twice as much as the whole table.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from sync.protocol_log import LogKind

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

OWN_KINDS: Final = (
    LogKind.SENT,
    LogKind.POSSIBLY_ACKNOWLEDGED,
    LogKind.ACKNOWLEDGED,
    LogKind.FAILED,
)

BROADCAST_MAX: Final = 1_000_000
"""Messages whose senders are handed to every task: some 100 MB. More are joined by a shuffle."""


def first(kind: LogKind) -> "Column":
    """Return when a kind was noted first; null if never."""
    return F.min(F.when(F.col("kind") == kind.value, F.col("ts_ns")))


def times(*kinds: LogKind) -> "Column":
    """Return how often one of some kinds was noted, as an int."""
    one_of = F.col("kind").isin([kind.value for kind in kinds])
    return F.count(F.when(one_of, F.lit(1))).cast("int")


def noted(log: "DataFrame", members: "DataFrame", kinds: tuple[LogKind, ...]) -> "DataFrame":
    """Return the rows of a log of some kinds, with numbers for members.

    Args:
        log: the columns of `storage.tables.LOG`
        members: those of `storage.pipeline.members.members`
        kinds: which

    Returns:
        the columns of the log without channel and node; member int
    """
    numbers = F.broadcast(members.select("channel", "node", "member"))
    chosen = log.where("ts_ns >= 0").where(F.col("kind").isin([kind.value for kind in kinds]))
    return chosen.join(numbers, ["channel", "node"]).drop("channel", "node")


def own_messages(events: "DataFrame") -> "DataFrame":
    """Return what its author noted of each message: the author is who noted first to have sent it.

    Args:
        events: message_id binary, member int, kind string (of `OWN_KINDS`), ts_ns long, bytes int

    Returns:
        message_id binary, author int, sent_ns long, sends int, sent_bytes long,
        possibly_ns long, acknowledged_ns long, failed_ns long (null: not noted)
    """
    size = F.when(F.col("kind") == LogKind.SENT.value, F.col("bytes").cast("long"))
    each = (
        events.where("message_id is not null")
        .groupBy("message_id", "member")
        .agg(
            first(LogKind.SENT).alias("sent_ns"),
            times(LogKind.SENT).alias("sends"),
            F.sum(size).alias("sent_bytes"),
            first(LogKind.POSSIBLY_ACKNOWLEDGED).alias("possibly_ns"),
            first(LogKind.ACKNOWLEDGED).alias("acknowledged_ns"),
            first(LogKind.FAILED).alias("failed_ns"),
        )
        .where("sent_ns is not null")
        .withColumnRenamed("member", "author")
    )
    names = [name for name in each.columns if name != "message_id"]
    ordered = F.struct("sent_ns", *[name for name in names if name != "sent_ns"])
    one = each.groupBy("message_id").agg(F.min(ordered).alias("own"))
    return one.select("message_id", *[f"own.{name}" for name in names])


def facts(
    events: "DataFrame", own: "DataFrame", members: "DataFrame", *, broadcast: bool
) -> "DataFrame":
    """Return one row for each message at each node that noted anything of it.

    Args:
        events: message_id binary, member int, kind string (of `FACT_KINDS`), ts_ns long
        own: message_id binary, author int, sent_ns long
        members: member int, first_ns long, last_ns long
        broadcast: whether `own` is small enough to be handed to every task

    Returns:
        message_id binary, member int, received_ns long, delivered_ns long, buffered_ns long,
        missing_ns long, repaired_ns long, lost_ns long (null: never), receptions int,
        requests int, answers int, author int, sent_ns long (null: nobody noted to have sent it),
        present boolean: not the author, and there both before and after it was sent
    """
    each = (
        events.where("message_id is not null")
        .repartition("message_id")  # nodes note a message a few times each: too few to add up first
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
    sent = own.select("message_id", "author", "sent_ns")
    there = F.broadcast(members.select("member", "first_ns", "last_ns"))
    present = (F.col("member") != F.col("author")) & F.col("sent_ns").between(
        F.col("first_ns"), F.col("last_ns")
    )
    return (
        each.join(F.broadcast(sent) if broadcast else sent, "message_id", "left")
        .join(there, "member")
        .withColumn("present", F.coalesce(present, F.lit(False)))  # noqa: FBT003
        .select("message_id", "member", *each.columns[2:], "author", "sent_ns", "present")
    )


def expected(own: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return who should have each message: all members of its channel who were there, but one.

    Args:
        own: message_id binary, author int, sent_ns long
        members: member int, channel string, first_ns long, last_ns long

    Returns:
        message_id binary, sent_ns long, member int
    """
    authors = members.select(F.col("member").alias("author"), "channel")
    others = members.select("member", "channel", "first_ns", "last_ns")
    placed = own.select("message_id", "author", "sent_ns").join(F.broadcast(authors), "author")
    there = F.col("sent_ns").between(F.col("first_ns"), F.col("last_ns"))
    return (
        placed.join(F.broadcast(others), "channel")
        .where(there & (F.col("member") != F.col("author")))
        .select("message_id", "sent_ns", "member")
    )


def by_message(rows: "DataFrame") -> "DataFrame":
    """Return what became of each message at all others together.

    Args:
        rows: the columns of `facts`

    Returns:
        message_id binary, receptions long, deliveries long (of others than the author),
        first_received_ns long (by another), present_deliveries long, present_delivered_ns long
        (the last one), missing_at long, repaired_at long, lost_at long (nodes), requests long,
        answers long
    """
    other = ~F.col("member").eqNullSafe(F.col("author"))

    def of_others(name: str) -> "Column":
        return F.when(other, F.col(name))

    delivered_there = F.when(F.col("present"), F.col("delivered_ns"))
    return rows.groupBy("message_id").agg(
        F.sum(of_others("receptions")).alias("receptions"),
        F.count(of_others("delivered_ns")).alias("deliveries"),
        F.min(of_others("received_ns")).alias("first_received_ns"),
        F.count(delivered_there).alias("present_deliveries"),
        F.max(delivered_there).alias("present_delivered_ns"),
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
        own: the columns of `own_messages`
        totals: those of `by_message`
        due: those of `expected`
        members: member int, channel string

    Returns:
        the columns of `own_messages` and of `by_message`; channel string; expected long (others
        who were there); converged_ns long: from sending until the last of these had delivered it,
        null where one of them never did, or nobody was there
    """
    counted = due.groupBy("message_id").agg(F.count("*").alias("expected"))
    authors = members.select(F.col("member").alias("author"), "channel")
    complete = (F.col("expected") > 0) & (F.col("present_deliveries") == F.col("expected"))
    took = F.col("present_delivered_ns") - F.col("sent_ns")
    return (
        own.join(F.broadcast(authors), "author")
        .join(counted, "message_id", "left")
        .join(totals, "message_id", "left")
        .fillna(0, ["expected", *COUNTS])
        .withColumn("converged_ns", F.when(complete, took))
    )


COUNTS: Final = (
    "receptions",
    "deliveries",
    "present_deliveries",
    "missing_at",
    "repaired_at",
    "lost_at",
    "requests",
    "answers",
)
"""Columns of `by_message` that are 0 where nobody noted anything of a message."""
