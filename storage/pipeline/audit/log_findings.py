"""Faults in the nodes' protocol logs: rows that are gone, impossible times and orders.

Each rule looks closely at the few rows that can break it, which `log_reading` noticed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.audit.log_reading import LAST_BIT, WORD_BITS
from sync.runner.log_rows import LogKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LOG_ID: Final = ["run", "boot", "node"]
"""Kinds that have numbers of their own."""

FULL: Final = -1
"""A long of which all bits are set."""


def trace_holes(words: "DataFrame") -> "DataFrame":
    """Find rows that are gone from the middle of a log.

    Rows missing at its beginning were rotated away, and of its end nobody can know. The rows are
    bits, 64 to a long: rows that were exported twice change nothing.

    Args:
        words: as of `storage.pipeline.audit.log_reading.words`

    Returns:
        run string, boot long, node string, first long, last long: what is gone, both inclusive
    """
    begin = F.shiftleft("word", WORD_BITS)
    whole = F.struct(begin.alias("begin"), (begin + LAST_BIT).alias("end"))
    single = F.expr(
        "transform(filter(sequence(0, 63), bit -> (shiftright(bits, bit) & 1L) = 1L),"
        f" bit -> struct(shiftleft(word, {WORD_BITS}) + bit as begin,"
        f" shiftleft(word, {WORD_BITS}) + bit as end))"
    )
    stretch = F.when(F.col("bits") == FULL, F.array(whole)).otherwise(single)
    stretches = words.select(*LOG_ID, F.inline(stretch))
    order = Window.partitionBy(*LOG_ID).orderBy("begin")
    return (
        stretches.withColumn("before", F.lag("end").over(order))
        .where("begin - 1 > before")
        .select(*LOG_ID, (F.col("before") + 1).alias("first"), (F.col("begin") - 1).alias("last"))
    )


def unexplained(holes: "DataFrame", forgotten: "DataFrame") -> "DataFrame":
    """Return holes but for those that lie in what logs have forgotten.

    Args:
        holes: as of `trace_holes`
        forgotten: the same columns; few rows

    Returns:
        the same
    """
    inside = [F.col(f"hole.{name}") == F.col(f"gone.{name}") for name in LOG_ID]
    inside.append(F.col("hole.first") >= F.col("gone.first"))
    inside.append(F.col("hole.last") <= F.col("gone.last"))
    return holes.alias("hole").join(forgotten.alias("gone"), inside, "left_anti")


def disputed_lamports(log: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Find Lamport times that logs tell of a message and that are not the signed one.

    Of a message that nobody holds any more, there is no signed one: several times are disputed.

    Args:
        log: as of `storage.pipeline.audit.log_reading.told_otherwise`
        history: channel string, message_id binary, lamport long, and more

    Returns:
        channel string, message_id binary, lamport long, signed_lamport long
    """
    name = ["channel", "message_id"]
    told = log.select(*name, "lamport").distinct()
    signed = history.select(*name, F.col("lamport").alias("signed_lamport"))
    several = F.count("*").over(Window.partitionBy(*name))
    return (
        told.join(signed, name, "left")
        .where("signed_lamport is null or signed_lamport != lamport")
        .withColumn("several", several)
        .where("signed_lamport is not null or several > 1")
        .drop("several")
    )


def order_divergence(log: "DataFrame", disputed: "DataFrame") -> "DataFrame":
    """Find who tells a disputed Lamport time: the chat is in another order there.

    Nothing else can put it in another order: all nodes sort by what is signed. In which order
    messages arrive differs everywhere, and is not looked at.

    Args:
        log: as of `disputed_lamports`
        disputed: as of `disputed_lamports`; few rows

    Returns:
        node string, channel string, message_id binary, lamport long, signed_lamport long,
        run string, boot long, seq long: the first row that tells it
    """
    told = log.join(disputed, ["channel", "message_id", "lamport"])
    row = F.struct("run", "boot", "seq")
    return (
        told.groupBy("node", "channel", "message_id", "lamport", "signed_lamport")
        .agg(F.min(row).alias("row"))
        .select("node", "channel", "message_id", "lamport", "signed_lamport", "row.*")
    )


def delivered_or_lost(log: "DataFrame") -> "DataFrame":
    """Return the rows of a log that say when a node had done with a message.

    Args:
        log: the columns of `LOG`

    Returns:
        run string, boot long, node string, seq long, channel string, message_id binary,
        lost boolean: it was given up, and not delivered
    """
    kinds = [str(LogKind.DELIVERED), str(LogKind.LOST)]
    return log.where(F.col("kind").isin(kinds) & F.col("message_id").isNotNull()).select(
        *LOG_ID, "seq", "channel", "message_id", (F.col("kind") == kinds[1]).alias("lost")
    )


def owners(suspected: "DataFrame", nodes: Sequence[str]) -> list[str] | None:
    """Return which of some nodes are suspected; None if others are too.

    Args:
        suspected: as of `storage.pipeline.audit.log_reading.suspects`
        nodes: all that are known by name
    """
    named = suspected.sparkSession.createDataFrame([(node,) for node in nodes], "node string")
    known = named.withColumn("owner", F.xxhash64("node"))
    found = suspected.select("owner").distinct().join(known, "owner", "left").collect()
    if any(row["node"] is None for row in found):
        return None
    return sorted(row["node"] for row in found)


def evidence(rows: "DataFrame", suspected: "DataFrame") -> "DataFrame":
    """Return all that a suspected node says of a suspected message, or of a child of it.

    Args:
        rows: as of `delivered_or_lost`
        suspected: as of `storage.pipeline.audit.log_reading.suspects`

    Returns:
        as of `delivered_or_lost`, each row once
    """
    named = rows.select(*_holder_and_number(), *rows.columns)
    return (
        named.join(suspected.drop("owner"), ["holder", "number"]).select(*rows.columns).distinct()
    )


def early_deliveries(rows: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Find messages that a node delivered before a parent that it delivered later.

    In one start or in two: what was delivered is not again. A parent that was given up before is
    not waited for; it may come all the same.

    Args:
        rows: as of `evidence`
        history: channel string, message_id binary, parents array<binary>, and more

    Returns:
        run string, boot long, node string, channel string, message_id binary, seq long,
        parent binary, parent_boot long, parent_seq long
    """
    profile = ["run", "node", "channel"]
    done = (
        rows.where("not lost")
        .groupBy(*profile, "message_id")
        .agg(F.min(F.struct("boot", "seq")).alias("first"))
        .select(*profile, "message_id", "first.*")
    )
    edges = history.select("channel", "message_id", F.explode("parents").alias("parent"))
    names = {"message_id": "parent", "boot": "parent_boot", "seq": "parent_seq"}
    parents = done.withColumnsRenamed(names)
    early = (
        done.join(edges, ["channel", "message_id"])
        .join(parents, [*profile, "parent"])
        .where("struct(boot, seq) < struct(parent_boot, parent_seq)")
        .distinct()
    )
    given_up = rows.where("lost").alias("gone")
    told = (
        (F.col("gone.run") == F.col("early.run"))
        & (F.col("gone.node") == F.col("early.node"))
        & (F.col("gone.message_id") == F.col("early.parent"))
        & (F.struct("gone.boot", "gone.seq") < F.struct("early.boot", "early.seq"))
    )
    return (
        early.alias("early")
        .join(given_up, told, "left_anti")
        .select(*LOG_ID, "channel", "message_id", "seq", "parent", "parent_boot", "parent_seq")
    )


def _holder_and_number() -> "tuple[Column, Column]":
    return F.xxhash64("run", "node").alias("holder"), F.xxhash64("message_id").alias("number")
