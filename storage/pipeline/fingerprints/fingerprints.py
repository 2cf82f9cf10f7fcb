"""Fingerprints of an archive: XOR and count of the messages of each minute, hour and day.

Rules:
1. A message counts once, however many nodes hold it.
2. The fingerprint is that of the engine (Waku Sync, "Fingerprint"): the XOR of the Waku hashes.
3. Rows are read once, for the minutes; all above is rolled up from these: XOR does not care in
   which order, or by how many steps, it is taken.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import functions as fn

from storage.archive.tables import SYNC_HASH
from storage.pipeline.inputs.inputs import struct_of
from storage.pipeline.places.spark_tables import read_tables
from storage.pipeline.results.small_tables import row_count
from sync.machine import DAY, HOUR, MINUTE, Nanos

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

XOR: Final = ("xor_0", "xor_1", "xor_2", "xor_3")
"""A fingerprint as four signed big-endian longs, as `storage.archive.tables.SYNC_HASH`."""

PRINTS: Final = pa.schema(
    [
        pa.field("channel", pa.string(), nullable=False),
        pa.field("start_ns", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        *(pa.field(name, pa.int64(), nullable=False) for name in XOR),
    ]
)
"""One bucket: the messages of `channel` created from `start_ns` on, for as long as a bucket is."""

SYNC_ID: Final = ("channel", "created_ns", *SYNC_HASH)
"""Columns that tell two messages apart, as reconciliation does: no signature has to be read."""

EXACT: Final = SYNC_ID[1:]
"""The same without the channel, whose topic is among what the hash is of."""

WHOLE: Final[Nanos] = 2**63 - 1
"""Longer than any time that is stored: the one bucket of a channel."""

SPANS: Final[dict[str, Nanos]] = {"minutes": MINUTE, "hours": HOUR, "days": DAY, "roots": WHOLE}
"""Length of the buckets of each table."""


def distinct(history: "DataFrame") -> "DataFrame":
    """Return each message once.

    Args:
        history: at least channel string, created_ns long, sync_0 .. sync_3 long

    Returns:
        channel string, created_ns long, sync_0 .. sync_3 long
    """
    return history.select(*SYNC_ID).distinct()


def by_minute(messages: "DataFrame") -> "DataFrame":
    """Return the fingerprints of all minutes in which there are messages.

    A row of before 1970 is no message: times are unsigned. `consolidate` sets it apart.

    Args:
        messages: each message once: channel string, created_ns long, sync_0 .. sync_3 long

    Returns:
        the columns of `PRINTS`
    """
    minute = fn.expr(f"created_ns div {MINUTE}")
    buckets = (
        messages.where("created_ns >= 0")
        .groupBy("channel", minute.alias("minute"))
        .agg(
            fn.count(fn.lit(1)).alias("count"),
            *[fn.bit_xor(word).alias(xor) for word, xor in zip(SYNC_HASH, XOR, strict=True)],
        )
    )
    start_ns = (fn.col("minute") * MINUTE).alias("start_ns")
    return buckets.select("channel", start_ns, "count", *XOR)


def rolled_up(prints: "DataFrame", span: Nanos) -> "DataFrame":
    """Return the fingerprints of longer buckets.

    Args:
        prints: the columns of `PRINTS`, of buckets that `span` is a multiple of
        span: how long the new ones are

    Returns:
        the columns of `PRINTS`
    """
    return (
        prints.groupBy("channel", begin_of(span).alias("start_ns"))
        .agg(fn.sum("count").alias("count"), *[fn.bit_xor(xor).alias(xor) for xor in XOR])
        .select(*PRINTS.names)
    )


def begin_of(span: Nanos) -> "Column":
    """Return when the bucket of this length begins that `start_ns` is in."""
    return fn.expr(f"start_ns div {span} * {span}")


@dataclass(frozen=True, slots=True)
class Prints:
    """The fingerprints of an archive, level by level, as Parquet below `directory`."""

    spark: "SparkSession"
    directory: Path

    def level(self, name: str) -> "DataFrame":
        """Return a level that was written: the columns of `PRINTS`."""
        schema = struct_of(PRINTS)
        return read_tables(self.spark, schema, [self.directory / name])

    def rows(self, name: str) -> int:
        """Return how many buckets a level has."""
        return row_count(self.directory, name)
