"""Tables that are handed whole to every task: those that are known to be small.

Rules:
1. A table that is written says how many rows it has, and is handed to every task up to a limit;
   beyond it, a join divides both sides. Who writes a table decides: what is selected from it, or
   grouped, goes the same way.
2. Only what is small by construction is handed without a count: one row a channel, of which the
   driver has listed the directories, or a row for each cell of a picture.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HANDED_MAX: Final = 500_000
"""Rows of which every task gets all: 50 to 150 MB."""


def handed(table: "DataFrame", rows: int) -> "DataFrame":
    """Return a table of so many rows with the advice to hand it to every task, if they are few."""
    return F.broadcast(table) if is_small(rows) else table


def is_small(rows: int) -> bool:
    """Return whether so many rows fit every task."""
    return rows <= HANDED_MAX
