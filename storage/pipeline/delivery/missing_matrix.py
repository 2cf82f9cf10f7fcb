"""Matrix of missing messages, for a small picture: members by stretches of time, few cells."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COLUMNS: Final = 48
"""Stretches of time; a cell is then still some pixels wide."""

ROWS: Final = 64
"""Groups of members, in the order of channel and node; up to here, each member has its own."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of members and times: the cells of the matrix."""

    members: int
    first_ns: int
    last_ns: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return min(ROWS, self.members)

    def row(self) -> "Column":
        """Return the row of a member, from 0."""
        at = F.floor((F.col("member") - 1) * self.rows / self.members)
        return at.cast("int")

    def column(self) -> "Column":
        """Return the stretch of time a message was sent in, from 0."""
        span = float(self.last_ns - self.first_ns + 1)
        return F.floor((F.col("sent_ns") - self.first_ns) / span * COLUMNS).cast("int")


def missing_matrix(due: "DataFrame", facts: "DataFrame", bins: Bins) -> "DataFrame":
    """Return how many deliveries were due in each cell, and how many of these came.

    Args:
        due: member int, sent_ns long (`storage.pipeline.delivery.facts.expected`)
        facts: member int, sent_ns long, present boolean, delivered_ns long
        bins: the cells

    Returns:
        row int, column int, expected long, delivered long
    """
    cell = (bins.row().alias("row"), bins.column().alias("column"))
    came = facts.where("present and delivered_ns is not null").groupBy(*cell)
    delivered = came.agg(F.count("*").alias("delivered"))
    counted = due.groupBy(*cell).agg(F.count("*").alias("expected"))
    joined = counted.join(F.broadcast(delivered), ["row", "column"], "left")
    return joined.fillna(0, ["delivered"]).orderBy("row", "column")
