"""Rare log rows: who was there, own messages, reconciliations; and traffic, which is counted.

One reading of the logs finds all of them.

Nearly all other rows tell what happens to messages of others: `storage.pipeline.delivery.facts`.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery import traffic
from storage.pipeline.inputs.conditions import looked_at
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HELD_KINDS: Final = (
    LogKind.SENT,
    LogKind.RECEIVED,
    LogKind.DUPLICATE,
    LogKind.BUFFERED,
    LogKind.DELIVERED,
)
"""Kinds of which the node has the message."""

OWN_KINDS: Final = (
    LogKind.SENT,
    LogKind.POSSIBLY_ACKNOWLEDGED,
    LogKind.ACKNOWLEDGED,
    LogKind.FAILED,
)

SESSION_KINDS: Final = (LogKind.SESSION_STARTED, LogKind.SESSION_ROUND, LogKind.SESSION_ENDED)


def rare(log: "DataFrame") -> "DataFrame":
    """Return what each node noted of each own message and of each reconciliation, and when at all.

    A time before 1970 was never noted by us, and the difference of two such may not fit a long.

    Args:
        log: the columns of `storage.archive.tables.LOG`

    Returns:
        one row for each channel string, node string, own_id binary (null: nothing of an own
        message), talk (null: nothing of a reconciliation; run string, boot long, session long,
        peer string) and unknown_kind string (null: one that we know); first_ns long, last_ns long;
        first_lamport long, last_lamport long (of what the node has; null: of nothing); lamport long
        (of the own message); sent_ns long,
        possibly_ns long, acknowledged_ns long, failed_ns long, started_ns long (the first of each;
        null: never), ended_ns long (the last one), sends int, bytes long (of sending, or of the
        reconciliation; null: none), rounds int (null: none); unknown long (rows of that kind).
        Each of these once more for each of what `storage.pipeline.delivery.traffic.parts` divides
        them into; rows long, all_bytes long (of all kinds)
    """
    own = _one_of(OWN_KINDS) & F.col("message_id").isNotNull()
    # which other side, or unknown kind, is looked at later: the greatest of texts would have all
    # rows sorted
    talked = _one_of(SESSION_KINDS) & F.col("session").isNotNull()
    talk = F.struct("run", "boot", "session", "peer")
    sent = _is(LogKind.SENT)
    # the end of a reconciliation tells the sum of its rounds once more
    size = F.when(sent | _is(LogKind.SESSION_ROUND), F.col("bytes").cast("long"))
    has = F.when(_one_of(HELD_KINDS), F.col("lamport"))
    return (
        log.where(looked_at(F.col("ts_ns") >= 0))
        .groupBy(
            "channel",
            "node",
            F.when(own, F.col("message_id")).alias("own_id"),
            F.when(talked, talk).alias("talk"),
            F.when(~_one_of(tuple(LogKind)), F.col("kind")).alias("unknown_kind"),
            *traffic.parts(log),
        )
        .agg(
            F.min("ts_ns").alias("first_ns"),
            F.max("ts_ns").alias("last_ns"),
            F.min(has).alias("first_lamport"),
            F.max(has).alias("last_lamport"),
            F.min(F.when(sent, F.col("lamport"))).alias("lamport"),
            _first(LogKind.SENT).alias("sent_ns"),
            F.count(F.when(sent, F.lit(1))).cast("int").alias("sends"),
            F.sum(size).alias("bytes"),
            _first(LogKind.POSSIBLY_ACKNOWLEDGED).alias("possibly_ns"),
            _first(LogKind.ACKNOWLEDGED).alias("acknowledged_ns"),
            _first(LogKind.FAILED).alias("failed_ns"),
            _first(LogKind.SESSION_STARTED).alias("started_ns"),
            F.max(F.when(_is(LogKind.SESSION_ENDED), F.col("ts_ns"))).alias("ended_ns"),
            F.max(F.when(talked, F.col("round"))).alias("rounds"),
            F.count(F.when(~_one_of(tuple(LogKind)), F.lit(1))).alias("unknown"),
            F.count("*").alias("rows"),
            F.coalesce(F.sum(F.col("bytes").cast("long")), F.lit(0)).alias("all_bytes"),
        )
    )


def own_messages(rows: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return what its author noted of each message: the author is who noted first to have sent it.

    Args:
        rows: the columns of `rare`
        members: member int, channel string, node string

    Returns:
        message_id binary, author int, sent_ns long, lamport long, sends int, sent_bytes long,
        possibly_ns long, acknowledged_ns long, failed_ns long (null: not noted)
    """
    states = ("possibly_ns", "acknowledged_ns", "failed_ns")
    noted = (
        numbered(rows.where("own_id is not null"), members)
        .groupBy("member", "own_id")
        .agg(
            *[F.min(name).alias(name) for name in ("sent_ns", "lamport", *states)],
            F.sum("sends").cast("int").alias("sends"),
            F.sum("bytes").alias("bytes"),
        )
    )
    each = noted.where("sent_ns is not null").select(
        F.col("own_id").alias("message_id"),
        F.struct(
            "sent_ns",
            F.col("member").alias("author"),
            "lamport",
            "sends",
            F.col("bytes").alias("sent_bytes"),
            *states,
        ).alias("own"),
    )
    one = each.groupBy("message_id").agg(F.min("own").alias("own"))
    names = ("author", "sent_ns", "lamport", "sends", "sent_bytes")
    return one.select("message_id", *[f"own.{name}" for name in (*names, *states)])


def sessions(rows: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return one row for each reconciliation, as each of its two sides noted it.

    Args:
        rows: the columns of `rare`
        members: member int, channel string, node string

    Returns:
        run string, boot long, member int, session long, peer string, started_ns long,
        ended_ns long (null: not noted), rounds int, bytes long
    """
    known = numbered(rows.where("talk is not null"), members)
    return known.groupBy("talk.run", "talk.boot", "member", "talk.session").agg(
        F.max("talk.peer").alias("peer"),
        F.min("started_ns").alias("started_ns"),
        F.max("ended_ns").alias("ended_ns"),
        F.coalesce(F.max("rounds"), F.lit(0)).alias("rounds"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("bytes"),
    )


def with_logs(sessions: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Say of each side of a reconciliation whether the log of the other one is there too.

    Args:
        sessions: peer string, and more
        members: node string, and more

    Returns:
        the columns of `sessions`; has_log boolean
    """
    nodes = members.select(F.col("node").alias("peer"), F.expr("true").alias("has_log")).distinct()
    known = F.coalesce("has_log", F.expr("false")).alias("has_log")
    return sessions.join(nodes, "peer", "left").select(*sessions.columns, known)


def numbered(rows: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return rows with numbers for members.

    Args:
        rows: channel string, node string, and others
        members: member int, channel string, node string

    Returns:
        the columns of `rows` without channel and node; member int
    """
    name = F.xxhash64("channel", "node").alias("name")
    numbers = members.select(name, F.struct("channel", "node").alias("named"), "member")
    # a number is looked up several times as fast as two texts; these are only compared then, in
    # words that Spark does not take for a second pair of columns to look up by
    same = [F.col(f"named.{one}") == F.col(one) for one in ("node", "channel")]
    named = rows.withColumn("name", name).join(numbers, "name")
    found = named.where(F.coalesce(same[0] & same[1], F.expr("false")))
    return found.drop("name", "named", "channel", "node")


def _is(kind: LogKind) -> "Column":
    return F.col("kind") == kind.value


def _one_of(kinds: tuple[LogKind, ...]) -> "Column":
    return F.col("kind").isin([kind.value for kind in kinds])


def _first(kind: LogKind) -> "Column":
    return F.min(F.when(_is(kind), F.col("ts_ns")))
