"""Latencies as exact percentiles.

Rules:
1. Nothing is clamped: a negative latency is a clock that is wrong, and is counted and shown.
2. Percentiles are exact, of times in steps of 10 µs: no two hosts' clocks agree better.
3. Spark looks through all distinct values again for every percentile: it is given those alone that
   one can fall on, each with the weight of what lies between.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MICROSECOND: Final = 1_000
STEP_US: Final = 10

PERCENTS: Final = (*(float(percent) for percent in range(100)), 99.5, 99.9, 100.0)
"""Of a distribution as it is drawn: every percent, and the tail."""

STEPS: Final = 1_000
"""Every one of `PERCENTS` is so many parts of a whole, but for the last bit of a double."""

BUCKETS: Final = 64
"""Stretches of values for each factor e, each sorted by a task of its own: of all longs, 5,400. One
has as many distinct values as a 64th of them has steps, however many rows there are."""


def in_us(span_ns: "Column") -> "Column":
    """Return a span in microseconds, rounded down to a multiple of `STEP_US`."""
    return F.floor(span_ns / (MICROSECOND * STEP_US)).cast("long") * STEP_US


def latencies(facts: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return how often each time from first sending to delivery was taken, by channel.

    Args:
        facts: the columns of `storage.pipeline.delivery.facts.facts`
        members: member int, channel string

    Returns:
        channel string, latency_us long (negative: the clocks differ by more), times long
    """
    numbers = numbered(members).select("member", "number")
    known = facts.where("delivered_ns is not null and sent_ns is not null and member != author")
    took = in_us(F.col("delivered_ns") - F.col("sent_ns"))
    spans = known.select("member", took.alias("latency_us")).join(numbers, "member")
    counted = spans.groupBy("number", "latency_us").agg(F.count("*").alias("times"))
    return named(counted, members).select("channel", "latency_us", "times")


def by_channel(took: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return how latencies are distributed in each channel.

    Args:
        took: the columns of `latencies`
        members: member int, channel string

    Returns:
        channel string, and the columns of `distribution`
    """
    numbers = numbered(members).where("member = number").select("channel", "number")
    found = distribution(took.join(numbers, "channel"), "latency_us", "number")
    return named(found, members).drop("number")


def numbered(members: "DataFrame") -> "DataFrame":
    """Return the members with a number for their channel: millions of texts are not compared.

    Args:
        members: member int, channel string

    Returns:
        member int, channel string, number int: that of the first member of the channel
    """
    number = F.min("member").over(Window.partitionBy("channel"))
    return members.select("member", "channel", number.alias("number"))


def named(rows: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return rows with the name of their channel, by its number as `numbered` gives it.

    Args:
        rows: number int, and others
        members: member int, channel string

    Returns:
        channel string, and the columns of `rows`
    """
    names = members.select(F.col("member").alias("number"), "channel")
    return rows.join(names, "number").select("channel", *rows.columns)


def distribution(spans: "DataFrame", name: str, by: str | None = None) -> "DataFrame":
    """Return how a span is distributed, overall or by a column.

    Args:
        spans: `name` long in microseconds (null: it never happened), times long (how often), and
            the column `by`
        name: which column
        by: the other one

    Returns:
        the column `by` if there is one, count long (not null), negative long, least_us long,
        most_us long, at_us array of doubles at `PERCENTS` (null where count is 0)
    """
    value = F.col(name)
    shares = F.array(*[F.lit(percent / 100) for percent in PERCENTS])
    keys = [by] if by else []
    return (
        weighed(counted(spans, name, keys), name, keys)
        .groupBy(*keys)
        .agg(
            F.coalesce(F.max("total"), F.lit(0)).alias("count"),
            F.coalesce(F.max("below_zero"), F.lit(0)).alias("negative"),
            F.min(value).alias("least_us"),
            F.max(value).alias("most_us"),
            F.percentile(value, shares, F.col("weight")).alias("at_us"),
        )
    )


def counted(spans: "DataFrame", name: str, keys: Sequence[str]) -> "DataFrame":
    """Return each value of a group once; all its nulls are one row.

    Args:
        spans: `name` long, times long, and the columns `keys`
        name: which column
        keys: whose equal values make a group

    Returns:
        the same columns
    """
    return spans.groupBy(*keys, name).agg(F.sum("times").alias("times"))


def weighed(spans: "DataFrame", name: str, keys: Sequence[str]) -> "DataFrame":
    """Return the rows of each group that a percentile may fall on, and what each stands for.

    That is itself and the rows before it, down to the last one of its kind; so what has the rank of
    a percentile stays what it was. The least and the most are among them; a group without a value
    has one row, which stands for nothing.

    Args:
        spans: as of `counted`; what is null counts for nothing
        name: which column
        keys: whose equal values make a group

    Returns:
        the columns `keys` and `name`; weight long; of the whole group, total long and below_zero
        long (null: none)
    """
    none, bucket = F.col(name).isNull().alias("none"), _bucket(F.col(name)).alias("bucket")
    values = spans.select(*keys, none, bucket, name, "times")
    group = [*keys, "none"]
    times = F.when(~F.col("none"), F.col("times")).otherwise(0)
    rising = Window.partitionBy(*group, "bucket").orderBy(name)
    so_far = rising.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    placed = values.withColumns({"sum": F.sum(times).over(so_far), "times": times})
    until = (F.col("before") + F.col("sum")).alias("until")
    # a percentile between two values takes both of them, and the last bit of a double may move it
    # to the next: what lies two ranks from a step counts as on it
    last = F.greatest(F.lit(1), F.col("total") - 1)
    below = F.floor((F.col("until") - F.col("times") - 2) * STEPS / last)
    above = F.floor((F.col("until") + 1) * STEPS / last)
    kept = (
        placed.join(_buckets(values, name, keys), [*group, "bucket"])
        .select(*group, name, "times", until, "total", "below_zero")
        # the least one, and one row of a group without any value
        .where((below < above) | (F.col("until") <= F.col("times")))
    )
    already = F.lag("until", 1, 0).over(Window.partitionBy(*group).orderBy(name))
    weight = (F.col("until") - already).alias("weight")
    return kept.select(*keys, name, weight, "total", "below_zero")


def _bucket(value: "Column") -> "Column":
    """Return a number that rises with a value, the same for values that are nearly equal."""
    size = F.floor(F.log1p(F.abs(value) / STEP_US) * BUCKETS)
    return F.coalesce(F.when(value < 0, -size).otherwise(size), F.lit(0))


def _buckets(values: "DataFrame", name: str, keys: Sequence[str]) -> "DataFrame":
    """Return how much lies in each bucket, and in those before it.

    Args:
        values: `name` long, none boolean, bucket long, times long, and the columns `keys`
        name: which column
        keys: whose equal values make a group

    Returns:
        the columns `keys`; none boolean, bucket long, before long, and of the whole group, total
        long and below_zero long (null: none)
    """
    group = Window.partitionBy(*keys, "none")
    times = F.when(~F.col("none"), F.col("times")).otherwise(0)
    counted = values.groupBy(*keys, "none", "bucket").agg(
        F.sum(times).alias("within"), F.sum(F.when(F.col(name) < 0, times)).alias("below_zero")
    )
    return counted.select(
        *keys,
        "none",
        "bucket",
        (F.sum("within").over(group.orderBy("bucket")) - F.col("within")).alias("before"),
        F.sum("within").over(group).alias("total"),
        F.sum("below_zero").over(group).alias("below_zero"),
    )
