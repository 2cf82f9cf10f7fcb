"""Differences between two archives: first by fingerprints, from the root down, then by ids.

Rules:
1. Only below a bucket that differs is anything finer looked at.
2. Rows are read by ranges of time, so that whole row groups and pages are passed over.
3. XOR is no proof against somebody who chooses what is in an archive: two buckets made to look the
   same are taken to be the same. Counts make that harder, no more.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as fn

from storage.pipeline.fingerprints.fingerprints import EXACT, SPANS, XOR, Prints, begin_of
from storage.pipeline.handed import handed
from storage.pipeline.inputs.batches import Range
from sync.machine import MINUTE, Nanos

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ONLY_A: Final = 1
ONLY_B: Final = 2
"""Holders of a message, as bits."""


def differing(a: "DataFrame", b: "DataFrame") -> "DataFrame":
    """Return the buckets whose fingerprints or counts are not the same.

    Args:
        a: the columns of `PRINTS`
        b: the same buckets of another archive; what is empty is not there

    Returns:
        channel string, start_ns long
    """
    # XOR is its own inverse: what both hold leaves nothing
    both = a.unionByName(b.withColumn("count", -fn.col("count")))
    left = both.groupBy("channel", "start_ns").agg(
        fn.sum("count").alias("count"), *[fn.bit_xor(xor).alias(xor) for xor in XOR]
    )
    return left.where(reduce(or_, [fn.col(name) != 0 for name in ("count", *XOR)])).select(
        "channel", "start_ns"
    )


def below(finer: "DataFrame", buckets: "DataFrame", span: Nanos) -> "DataFrame":
    """Return what of a finer level lies in some buckets.

    Args:
        finer: the columns of `PRINTS`
        buckets: channel string, start_ns long
        span: how long these are

    Returns:
        the columns of `PRINTS`
    """
    above = buckets.select("channel", fn.col("start_ns").alias("above"))
    return (
        finer.withColumn("above", begin_of(span))
        .join(above, ["channel", "above"], "left_semi")
        .drop("above")
    )


def minutes_that_differ(a: Prints, b: Prints) -> "DataFrame":
    """Walk down to the minutes that differ; returns channel string, start_ns long.

    From the roots, so that hardly anything is read of archives that are nearly the same.
    """
    levels = list(reversed(SPANS))
    found = differing(a.level(levels[0]), b.level(levels[0]))
    for coarse, fine in pairwise(levels):
        span, most = SPANS[coarse], a.rows(coarse) + b.rows(coarse)
        few = handed(found, most)
        found = differing(*[below(one.level(fine), few, span) for one in (a, b)])
    return found


def within(ranges: Sequence[Range]) -> "Column":
    """Return the condition that `created_ns` is in one of these, as Parquet understands it.

    No time is below 0; with no ranges, nothing is in one.
    """
    created_ns = fn.col("created_ns")
    parts = [(created_ns >= one.first) & (created_ns <= one.last) for one in ranges]
    return reduce(or_, parts, created_ns < 0)


def one_sided(a: "DataFrame", b: "DataFrame", minutes: "DataFrame") -> "DataFrame":
    """Return the messages that only one of two archives holds.

    Args:
        a: at least the columns of `SYNC_ID`; a message may be there more than once
        b: the same of the other archive
        minutes: channel string, start_ns long: where to look

    Returns:
        the columns of `EXACT`, and side int: `ONLY_A` or `ONLY_B`
    """
    minutes = minutes.withColumnRenamed("start_ns", "minute")
    # one long is looked up several times as fast as a text and a long, and leaves little for these
    any_channel = minutes.select("minute")

    def marked(history: "DataFrame", side: int) -> "DataFrame":
        rows = history.select(
            "channel",
            *EXACT,
            fn.expr(f"created_ns div {MINUTE} * {MINUTE}").alias("minute"),
            fn.lit(side).alias("side"),
        )
        near = rows.join(any_channel, "minute", "left_semi")
        found = near.join(minutes, ["channel", "minute"], "left_semi")
        return found.select(*EXACT, "side")

    both = marked(a, ONLY_A).unionAll(marked(b, ONLY_B))
    return (
        # nearly all of these are there twice at most: nothing is gained by grouping them before
        both.repartition(*EXACT)
        .groupBy(*EXACT)
        .agg(fn.bit_or("side").alias("side"))
        .where(fn.col("side") != ONLY_A | ONLY_B)
    )


def rows_of(history: "DataFrame", wanted: "DataFrame") -> "DataFrame":
    """Return the rows of some messages, as often as they are there.

    Args:
        history: the columns of `HISTORY`
        wanted: the columns of `EXACT`

    Returns:
        the columns of `HISTORY`
    """
    return history.join(wanted.select(*EXACT), list(EXACT), "left_semi")
