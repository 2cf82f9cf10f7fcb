"""False positives of Bloom filters: the rate measured, against the rate expected.

A mark "possibly acknowledged" is false if no other node had received the message by then. A filter
that holds n ids claims an id it does not hold at the rate that its size gives.
"""

import math
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from sync.machine import SECOND
from sync.structures.bloom_parameters import BloomParameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def false_positive_rate(filter_: BloomParameters, ids: int) -> float:
    """Return how likely a filter holding so many ids claims another one: (1 - e^(-kn/m))^k."""
    full = 1 - math.exp(-filter_.k * ids / filter_.m_bits)
    return float(full**filter_.k)


def heard(facts: "DataFrame", members: "DataFrame") -> "DataFrame":
    """Return how many frames with a message each member heard in a second, and so filters.

    Args:
        facts: member int, receptions int
        members: member int, first_ns long, last_ns long

    Returns:
        member int, per_second double
    """
    counted = facts.groupBy("member").agg(F.sum("receptions").alias("frames"))
    there_s = (F.col("last_ns") - F.col("first_ns")) / SECOND
    return counted.join(members, "member").select(
        "member", F.when(there_s > 0, F.col("frames") / there_s).otherwise(0.0).alias("per_second")
    )


def judged(messages: "DataFrame") -> "DataFrame":
    """Return the messages whose marks can be judged: others were there, and their logs tell of it.

    Where only its author's log is there, each mark would seem false.

    Args:
        messages: the columns of `storage.pipeline.delivery.facts.messages`

    Returns:
        the same
    """
    return messages.where("expected > 0")


def marks(messages: "DataFrame", rates: "DataFrame") -> "DataFrame":
    """Return the marks "possibly acknowledged" of all messages together.

    Args:
        messages: as of `judged`: author int; sent_ns, possibly_ns, acknowledged_ns,
            first_received_ns, earliest_ns, latest_ns, uncompared, all long
        rates: member int, per_second double

    Returns:
        one row: marked long (without those that clocks are too far apart for: somebody may have
        had the message by then, or not), false long (nobody else had it by then), chances double:
        about how many filters its author heard while nobody else had the message and it bore no
        mark
    """
    had = F.coalesce(F.col("latest_ns") <= F.col("possibly_ns"), F.expr("false"))
    nobody = F.coalesce(F.col("earliest_ns") > F.col("possibly_ns"), F.expr("true"))
    false = F.col("possibly_ns").isNotNull() & ~had & nobody & (F.col("uncompared") == 0)
    until = F.least("first_received_ns", "possibly_ns", "acknowledged_ns")
    # who hears whose clock is behind had no chance, rather than less than none
    alone_s = F.greatest(F.lit(0), until - F.col("sent_ns")) / SECOND
    there = rates.withColumnRenamed("member", "author")
    return messages.join(there, "author", "left").agg(
        F.count_if(had | false).alias("marked"),
        F.count_if(false).alias("false"),
        F.coalesce(F.sum(alone_s * F.coalesce("per_second", F.lit(0.0))), F.lit(0.0)).alias(
            "chances"
        ),
    )
