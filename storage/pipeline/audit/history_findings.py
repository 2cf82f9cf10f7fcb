"""Findings in a consolidated history: forks, dependencies, and the messages that nodes lack."""

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import BIGINT_MAX
from storage.pipeline.consolidate.transforms import is_set

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def equivocations(history: "DataFrame") -> "DataFrame":
    """Find places in an author's log that have several entries.

    Of two places that were cut nobody can say that they are one.

    Args:
        history: channel string, author string, log long, seq long, message_id binary, and more

    Returns:
        channel string, author string, log long, seq long, message_ids array<binary>, rising
    """
    place = ["channel", "author", "log", "seq"]
    exact = history.where(F.col("seq") < BIGINT_MAX)
    forked = exact.groupBy(*place).count().where("count > 1").drop("count")
    return (
        history.select(*place, "message_id")
        .join(forked, place)
        .groupBy(*place)
        .agg(F.sort_array(F.collect_set("message_id")).alias("message_ids"))
    )


def dependencies(history: "DataFrame") -> "DataFrame":
    """Return each dependency, with the Lamport time of the parent if anybody holds it.

    Args:
        history: channel string, message_id binary, author string, lamport long, parents
            array<binary>, and more

    Returns:
        channel string, message_id binary, author string, lamport long, parent binary,
        parent_lamport long
    """
    named = history.select(
        "channel", "message_id", "author", "lamport", F.explode("parents").alias("parent")
    )
    parents = history.select(
        "channel", F.col("message_id").alias("parent"), F.col("lamport").alias("parent_lamport")
    )
    return named.join(parents, ["channel", "parent"], "left").select(
        *named.columns, "parent_lamport"
    )


def doubtful(edges: "DataFrame") -> "DataFrame":
    """Return the few dependencies that may be a finding: both rules below look at these alone.

    Args:
        edges: as of `dependencies`

    Returns:
        the same
    """
    return edges.where("parent_lamport is null or lamport <= parent_lamport").distinct()


def unknown_dependencies(edges: "DataFrame") -> "DataFrame":
    """Find dependencies that no node holds.

    Args:
        edges: as of `doubtful`

    Returns:
        channel string, message_id binary, author string, lamport long, parent binary
    """
    return edges.where(F.col("parent_lamport").isNull()).drop("parent_lamport")


def causal_violations(edges: "DataFrame") -> "DataFrame":
    """Find messages signed with a Lamport time that is not above that of what they depend on.

    Of two times that were cut nobody can say which is above.

    Args:
        edges: as of `doubtful`

    Returns:
        the same
    """
    cut = F.col("lamport") == BIGINT_MAX
    return edges.where((F.col("lamport") <= F.col("parent_lamport")) & ~cut)


def placed(history: "DataFrame") -> "DataFrame":
    """Return messages with their places in the order of the chat, which no clock has a say in.

    It has to be written before it is used: worked out again, places are others.

    Args:
        history: channel string, message_id binary, lamport long, created_ns long, author string,
            and more

    Returns:
        channel string, message_id binary, author string, lamport long, created_ns long, place
        long: rising, with gaps, so that no task has to see a whole channel
    """
    order = ["channel", "lamport", "message_id"]
    return (
        history.select("channel", "message_id", "author", "lamport", "created_ns")
        .repartitionByRange(*order)
        .sortWithinPartitions(*order)
        .withColumn("place", F.monotonically_increasing_id())
    )


def bits(messages: "DataFrame", held: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return who holds each message.

    Args:
        messages: as of `placed`
        held: as of `consolidation.held`
        members: as of `consolidation.members_of`

    Returns:
        the columns of `placed`; word int, held long, everyone long: who does, and who might
    """
    words = members.groupBy("channel", "word").agg(F.expr("bit_or(shiftleft(1L, bit)) as everyone"))
    return (
        messages.join(words, "channel")
        .join(held.drop("delivered"), ["channel", "message_id", "word"], "left")
        .fillna(0, "held")
    )


def ends(who: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return the first and the last message that each node holds.

    Args:
        who: as of `bits`
        members: as of `consolidation.members_of`

    Returns:
        channel string, node string, word int, bit int, first long, last long (places),
        last_lamport long
    """
    return (
        who.join(members, ["channel", "word"])
        .where(is_set("held"))
        .groupBy("channel", "node", "word", "bit")
        .agg(
            F.min("place").alias("first"),
            F.max("place").alias("last"),
            F.max("lamport").alias("last_lamport"),
        )
    )


def missing(who: "DataFrame", present: "DataFrame") -> "DataFrame":
    """Find what a node lacks between two messages of a channel that it holds.

    So whoever came later, or left, lacks nothing of before or after; see
    `storage.pipeline.audit.tails`.

    Args:
        who: as of `bits`
        present: as of `ends`

    Returns:
        channel string, node string, message_id binary, author string, lamport long, created_ns long
    """
    return (
        who.where("held != everyone")
        .join(present, ["channel", "word"])
        .where((F.col("place") > F.col("first")) & (F.col("place") < F.col("last")))
        .where(~is_set("held"))
        .select("channel", "node", "message_id", "author", "lamport", "created_ns")
    )


def exported(found: "DataFrame", begins: "DataFrame") -> "DataFrame":
    """Return what is missing but for what exports left out: they begin on some day.

    Args:
        found: as of `missing`; of what nobody holds, it is not known from when it is
        begins: channel string, node string, since_ns long; few rows

    Returns:
        the same
    """
    may_be_older = F.expr("coalesce(found.created_ns < begins.since_ns, true)")
    older = (
        (F.col("found.channel") == F.col("begins.channel"))
        & (F.col("found.node") == F.col("begins.node"))
        & may_be_older
    )
    return found.alias("found").join(begins.alias("begins"), older, "left_anti")
