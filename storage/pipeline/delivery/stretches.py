"""Stretches of a channel: its messages in their order, divided into equal parts.

A window over a channel would be one task, and grow with it. So messages are sorted by ranges, and
the few places where a range or a channel begins say how many messages lie before each.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STRETCHES: Final = 48
"""Columns of the matrix of missing messages; a cell is then still some pixels wide."""

RANGE_BITS: Final = 33
"""Bits of a place below the number of its range, as Spark numbers rows."""


def in_order(own: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return own messages with rising numbers in the order of their channel.

    It has to be written before it is used: worked out again, places are others.

    Args:
        own: the columns of `storage.pipeline.delivery.rare_events.own_messages`
        members: member int, channel string

    Returns:
        the same; channel string; place long: rising, with gaps between ranges
    """
    authors = members.select(F.col("member").alias("author"), "channel")
    order = ["channel", "lamport", "message_id"]
    return (
        own.join(authors, "author")
        .select(*own.columns, "channel")
        .repartitionByRange(*order)
        .sortWithinPartitions(*order)
        .withColumn("place", F.monotonically_increasing_id())
    )


def placed(ordered: "DataFrame") -> "DataFrame":
    """Return own messages with the stretch of their channel that they lie in.

    Args:
        ordered: as of `in_order`, read from where it was written

    Returns:
        the same without place; stretch byte: from 0, of `STRETCHES` with as many messages each, and
        one more in the first ones
    """
    begin = F.shiftright("place", RANGE_BITS).alias("range")
    begins = ordered.groupBy("channel", begin).agg(
        F.min("place").alias("first"), F.count("*").alias("within")
    )
    # not more rows than there are channels and ranges together
    channel = Window.partitionBy("channel")
    known = begins.select(
        "channel",
        "range",
        "first",
        (F.sum("within").over(channel.orderBy("range")) - F.col("within")).alias("before"),
        F.sum("within").over(channel).alias("total"),
    )
    number = F.col("before") + F.col("place") - F.col("first")
    size, longer = F.floor(F.col("total") / STRETCHES), F.col("total") % STRETCHES
    in_longer = F.floor(number / (size + 1))
    stretch = F.when(in_longer < longer, in_longer).otherwise(
        longer + F.floor((number - longer * (size + 1)) / size)
    )
    own = [name for name in ordered.columns if name != "place"]
    return (
        ordered.withColumn("range", begin)
        .join(F.broadcast(known), ["channel", "range"])
        .select(*own, stretch.cast("byte").alias("stretch"))
    )
