"""Clocks of nodes, compared by the messages between them.

Rules:
1. No clock is believed. A message cannot come before it was sent: the fastest one each way bounds
   how far two clocks are apart, and setting one of them moves both bounds alike.
2. If the bounds contradict each other, a clock was set meanwhile: it is told, and these two are not
   compared.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAIRS_MAX: Final = 10_000
"""Pairs of clocks that are told of: of a hundred hosts."""


def ways(facts: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return the fastest message from each clock to each other one.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        members: member int, clock int

    Returns:
        source int, target int (clocks), least_ns long (by these two clocks, may be negative),
        messages long
    """
    targets = members.select("member", F.col("clock").alias("target"))
    authors = members.select(F.col("member").alias("author"), F.col("clock").alias("source"))
    took = F.col("received_ns") - F.col("sent_ns")
    return (
        facts.where("received_ns is not null and sent_ns is not null and member != author")
        .join(targets, "member")
        .join(authors, "author")
        .where("source != target")
        .groupBy("source", "target")
        .agg(F.min(took).alias("least_ns"), F.count("*").alias("messages"))
    )


def bounds(fastest: "DataFrame") -> "DataFrame":
    """Return how far a clock is ahead of that of an author, by the fastest message each way.

    Args:
        fastest: the columns of `ways`

    Returns:
        source int, target int, ahead_least_ns long (null: nothing came back), ahead_most_ns long;
        none of clocks of which one was set meanwhile
    """
    back = fastest.select(
        F.col("source").alias("target"),
        F.col("target").alias("source"),
        (-F.col("least_ns")).alias("ahead_least_ns"),
    )
    known = fastest.withColumnRenamed("least_ns", "ahead_most_ns").drop("messages")
    return (
        known.join(back, ["source", "target"], "left")
        .where("ahead_least_ns is null or ahead_least_ns <= ahead_most_ns")
        .select("source", "target", "ahead_least_ns", "ahead_most_ns")
    )


def compared(
    facts: "DataFrame", members: "DataFrame", known: "DataFrame | None" = None
) -> "DataFrame":
    """Return facts with how far each member's clock is ahead of the author's.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        members: member int, clock int, first_ns long
        known: the columns of `bounds`; None if all have one clock

    Returns:
        the columns of `facts`; ahead_least_ns long, ahead_most_ns long (null: not known); `there`
        is by the author's clock
    """
    if known is None:
        nothing = F.lit(0).cast("long")
        return facts.withColumns({"ahead_least_ns": nothing, "ahead_most_ns": nothing})
    targets = members.select("member", F.col("clock").alias("target"), "first_ns")
    authors = members.select(F.col("member").alias("author"), F.col("clock").alias("source"))
    same = F.col("source") == F.col("target")
    ahead = {
        name: F.when(same, F.lit(0).cast("long")).otherwise(F.col(name))
        for name in ("ahead_least_ns", "ahead_most_ns")
    }
    about = F.floor(F.col("ahead_least_ns") / 2 + F.col("ahead_most_ns") / 2)
    there = F.coalesce(F.col("first_ns") - about <= F.col("sent_ns"), F.expr("false"))
    return (
        facts.join(targets, "member")
        .join(authors, "author", "left")
        .join(known, ["source", "target"], "left")
        .withColumns(ahead)
        .withColumn("there", there)
        .select(*facts.columns, *ahead)
    )


def offsets(fastest: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return how far the clocks of two hosts are apart.

    If the fastest took equally long both ways, `offset_ns` is what b's clock is ahead of a's; it
    cannot be off by more than `uncertainty_ns`, half of the fastest way there and back. If that is
    negative, one of the two was set meanwhile, by at least twice as much.

    Args:
        fastest: the columns of `ways`
        members: member int, clock int, host string

    Returns:
        a string, b string (a < b), offset_ns long, uncertainty_ns long, there long, back long
        (messages each way); source int, target int (the clocks of a and b)
    """
    # containers of one computer have one clock and several names
    hosts = members.where("host is not null").groupBy("clock").agg(F.min("host").alias("host"))
    there = (
        fastest.join(hosts.toDF("source", "a"), "source")
        .join(hosts.toDF("target", "b"), "target")
        .where("a < b")
        .withColumnsRenamed({"least_ns": "there_ns", "messages": "there"})
    )
    back = fastest.toDF("target", "source", "back_ns", "back")
    return (
        there.join(back, ["source", "target"])
        .withColumn("offset_ns", F.floor(F.col("there_ns") / 2 - F.col("back_ns") / 2))
        .withColumn("uncertainty_ns", F.ceil(F.col("there_ns") / 2 + F.col("back_ns") / 2))
        .select("a", "b", "offset_ns", "uncertainty_ns", "there", "back", "source", "target")
        .orderBy(F.col("uncertainty_ns") >= 0, F.abs("offset_ns").desc(), "a", "b")
        .limit(PAIRS_MAX)
    )


def steps(facts: "DataFrame", members: "DataFrame", apart: "DataFrame") -> "DataFrame":
    """Return between which times a clock was set, of two that contradict themselves.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        members: member int, clock int
        apart: the columns of `offsets`, with negative uncertainties alone

    Returns:
        a string, b string, by_ns long (at least), from_ns long, to_ns long (by a's clock): between
        the fastest message there and the fastest one back
    """
    targets = members.select("member", F.col("clock").alias("receiver"))
    authors = members.select(F.col("member").alias("author"), F.col("clock").alias("sender"))
    pairs = apart.select("a", "b", "source", "target", "uncertainty_ns")
    there = (F.col("sender") == F.col("source")) & (F.col("receiver") == F.col("target"))
    back = (F.col("sender") == F.col("target")) & (F.col("receiver") == F.col("source"))
    took = F.col("received_ns") - F.col("sent_ns")
    return (
        facts.where("received_ns is not null and sent_ns is not null and member != author")
        .join(targets, "member")
        .join(authors, "author")
        .join(F.broadcast(pairs), there | back)
        .groupBy("a", "b", "uncertainty_ns")
        .agg(
            F.min_by("sent_ns", F.when(there, took)).alias("there_ns"),
            F.min_by("received_ns", F.when(back, took)).alias("back_ns"),
        )
        .select(
            "a",
            "b",
            (-2 * F.col("uncertainty_ns")).alias("by_ns"),
            F.least("there_ns", "back_ns").alias("from_ns"),
            F.greatest("there_ns", "back_ns").alias("to_ns"),
        )
        .orderBy(F.desc("by_ns"), "a", "b")
    )
