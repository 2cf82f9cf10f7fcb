"""Matrix of missing messages, for a small picture: members by stretches of messages, few cells."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery.stretches import STRETCHES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COLUMNS: Final = STRETCHES
"""Stretches of the messages of a channel, in its order: no clock moves a message to another one."""

ROWS: Final = 64
"""Groups of members, in the order of channel and node; up to here, each member has its own."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of members: the rows of the matrix."""

    members: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return min(ROWS, self.members)

    def row(self) -> "Column":
        """Return the row of a member, from 0."""
        at = F.floor((F.col("member") - 1) * self.rows / self.members)
        return at.cast("int")


def missing_matrix(due: "DataFrame", facts: "DataFrame", bins: Bins) -> "DataFrame":
    """Return how many deliveries were due in each cell, and how many of these came.

    Args:
        due: member int, stretch byte (`storage.pipeline.delivery.facts.expected`)
        facts: member int, stretch byte, present boolean, delivered_ns long
        bins: its rows

    Returns:
        row int, column int, expected long, delivered long
    """
    cell = (bins.row().alias("row"), F.col("stretch").cast("int").alias("column"))
    came = facts.where("present and delivered_ns is not null").groupBy(*cell)
    delivered = came.agg(F.count("*").alias("delivered"))
    counted = due.groupBy(*cell).agg(F.count("*").alias("expected"))
    joined = counted.join(F.broadcast(delivered), ["row", "column"], "left")
    return joined.fillna(0, ["delivered"]).orderBy("row", "column")
