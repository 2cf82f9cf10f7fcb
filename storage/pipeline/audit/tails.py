"""The end of what a node holds: it left, or it was there and lacks what others wrote.

Rules:
1. Who holds nothing after some message may have left: that is told, and is no finding.
2. It is one if the node's own log goes on for longer than a message takes to come. A message is
   expected as long after it was written as the fastest one of its author took, by the same two
   clocks: however wrong they are, both are off alike.
3. Few nodes are behind, so only their logs are read.
4. Whoever holds nothing at all of a channel has no end there. If its log tells of deliveries, it
   held them: these are lost, whether anybody else has them or not. The last ones may have come
   while the export was made, of which the history is read first.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from sync.machine import SECOND, Nanos
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SETTLED: Final[Nanos] = 10 * SECOND
"""A node whose log ends sooner after a message may have left while it was on its way."""


def behind(ends: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Return who holds nothing of the end of a channel.

    Args:
        ends: as of `storage.pipeline.audit.history_findings.ends`
        history: channel string, lamport long, and more

    Returns:
        channel string, node string, last_lamport long
    """
    newest = history.groupBy("channel").agg(F.max("lamport").alias("newest"))
    found = ends.join(F.broadcast(newest), "channel").where("last_lamport < newest")
    return found.select("channel", "node", "last_lamport")


def reach(log: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Return until when nodes logged something, and how soon messages of each author came to them.

    Args:
        log: the columns of `LOG`, of the nodes that are behind
        history: channel string, message_id binary, author string, created_ns long, and more

    Returns:
        channel string, node string, author string (null: of all rows that tell of no message that
        came), end_ns long, least_ns long (null: none came): by the clocks of both
    """
    came = F.when(F.col("kind") == LogKind.RECEIVED.value, F.col("message_id")).alias("message_id")
    rows = log.where("ts_ns >= 0").select("channel", "node", "ts_ns", came)
    written = history.select("channel", "message_id", "author", "created_ns")
    return (
        rows.join(written, ["channel", "message_id"], "left")
        .groupBy("channel", "node", "author")
        .agg(
            F.max("ts_ns").alias("end_ns"),
            F.min(F.col("ts_ns") - F.col("created_ns")).alias("least_ns"),
        )
    )


def awaited(late: "DataFrame", reached: "DataFrame") -> "DataFrame":
    """Return by when messages of each author should have come to whoever is behind.

    Args:
        late: as of `behind`
        reached: as of `reach`

    Returns:
        channel string, node string, last_lamport long, end_ns long, author string, least_ns long:
        not more rows than `reached`
    """
    ended = reached.groupBy("channel", "node").agg(F.max("end_ns").alias("end_ns"))
    known = reached.where("least_ns is not null").drop("end_ns")
    return late.join(ended, ["channel", "node"]).join(known, ["channel", "node"])


def missing_tail(history: "DataFrame", there: "DataFrame") -> "DataFrame":
    """Find messages after the last one of a node that was there when they should have come.

    Args:
        history: channel string, message_id binary, author string, lamport long, created_ns long,
            and more
        there: as of `awaited`

    Returns:
        channel string, node string, message_id binary, author string, lamport long, created_ns long
    """
    expected = F.col("created_ns") + F.col("least_ns") + SETTLED
    return (
        history.select("channel", "message_id", "author", "lamport", "created_ns")
        .join(there, ["channel", "author"])
        .where((F.col("lamport") > F.col("last_lamport")) & (F.col("node") != F.col("author")))
        .where(expected <= F.col("end_ns"))
        .select("channel", "node", "message_id", "author", "lamport", "created_ns")
    )


def unheld(claimed: "DataFrame", ends: "DataFrame") -> "DataFrame":
    """Return nodes that hold nothing of a channel: the columns of `claimed`.

    Args:
        claimed: channel string, node string, and more
        ends: as of `storage.pipeline.audit.history_findings.ends`
    """
    return claimed.join(ends.select("channel", "node"), ["channel", "node"], "left_anti")


def told_by_unheld(log: "DataFrame", ends: "DataFrame") -> "DataFrame":
    """Return what the logs of nodes tell that hold nothing of a channel: few rows, or none.

    Args:
        log: the columns of `LOG`, of nodes that may hold nothing
        ends: as of `storage.pipeline.audit.history_findings.ends`

    Returns:
        channel string, node string, message_id binary (null: of all rows about no message),
        end_ns long, delivered_ns long (null: never), told_lamport long
    """
    delivered = F.when(F.col("kind") == LogKind.DELIVERED.value, F.col("ts_ns"))
    return (
        unheld(log.where("ts_ns >= 0"), ends)
        .groupBy("channel", "node", "message_id")
        .agg(
            F.max("ts_ns").alias("end_ns"),
            F.min(delivered).alias("delivered_ns"),
            F.min("lamport").alias("told_lamport"),
        )
    )


def emptied(told: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Find what nodes delivered that hold nothing of the channel any more.

    Args:
        told: as of `told_by_unheld`
        history: channel string, message_id binary, author string, lamport long, created_ns long,
            and more

    Returns:
        the columns of `missing_tail`; author and created_ns are null if nobody holds it
    """
    ended = told.groupBy("channel", "node").agg((F.max("end_ns") - SETTLED).alias("settled_ns"))
    known = history.select("channel", "message_id", "author", "lamport", "created_ns")
    lamport = F.coalesce("lamport", "told_lamport").alias("lamport")
    return (
        told.where("message_id is not null")
        .join(ended, ["channel", "node"])
        .where("delivered_ns <= settled_ns")
        .join(known, ["channel", "message_id"], "left")
        .select("channel", "node", "message_id", "author", lamport, "created_ns")
    )


def gone(late: "DataFrame", found: "DataFrame") -> "DataFrame":
    """Return who is behind, and without a finding: the columns of `late`.

    Args:
        late: as of `behind`
        found: as of `missing_tail`
    """
    nodes = found.select("channel", "node").distinct()
    return late.join(nodes, ["channel", "node"], "left_anti")


def later(history: "DataFrame", away: "DataFrame") -> "DataFrame":
    """Return the messages of others since who left is away.

    Args:
        history: channel string, message_id binary, author string, lamport long, and more
        away: as of `gone`

    Returns:
        channel string, node string, message_id binary
    """
    return (
        history.select("channel", "message_id", "author", "lamport")
        .join(away, "channel")
        .where((F.col("lamport") > F.col("last_lamport")) & (F.col("node") != F.col("author")))
        .select("channel", "node", "message_id")
    )


def left(later: "DataFrame", reached: "DataFrame") -> "DataFrame":
    """Return since when who left is away.

    Args:
        later: as of the function of that name
        reached: as of `reach`

    Returns:
        channel string, node string, left_ns long (by its own clock; null: it has no log), later
        long: messages of others since
    """
    ended = reached.groupBy("channel", "node").agg(F.max("end_ns").alias("left_ns"))
    return (
        later.groupBy("channel", "node")
        .agg(F.count("*").alias("later"))
        .join(ended, ["channel", "node"], "left")
        .select("channel", "node", "left_ns", "later")
    )
