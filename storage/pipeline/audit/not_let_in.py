"""Entries that came to a node and are not in its history: governance did not let them in.

A node that dropped an entry, or lets it wait, does not lack it: so no finding says that it does.
They are counted, and told as "not let in".
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import WAITS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PLACE: Final = ["channel", "node", "message_id"]


def refused(told: "DataFrame", history: "DataFrame") -> "DataFrame":
    """Return each entry that a node did not let in, once, and whether anybody let it in.

    Args:
        told: the columns of `NOT_LET_IN`
        history: channel string, message_id binary, and more

    Returns:
        channel string, node string, message_id binary, label string, held boolean: some node has it
    """
    # of two exports of a node one may be older: an entry that was dropped waits no more
    least = F.min(F.struct(F.col("label") == WAITS, "label")).alias("least")
    once = told.where("message_id is not null").groupBy(*PLACE).agg(least)
    held = history.select("channel", "message_id", F.expr("true").alias("held"))
    joined = once.join(held, ["channel", "message_id"], "left")
    is_held = F.col("held").isNotNull().alias("held")
    return joined.select(*PLACE, F.col("least.label").alias("label"), is_held)


def lacked(found: "DataFrame", refused: "DataFrame") -> "DataFrame":
    """Return what nodes lack, without what they did not let in: the columns of `found`.

    Args:
        found: channel string, node string, message_id binary, and more
        refused: as of the function of that name
    """
    return found.join(refused.select(*PLACE), PLACE, "left_anti")


def unknown(edges: "DataFrame", refused: "DataFrame") -> "DataFrame":
    """Return dependencies without those on entries that somebody knows and did not let in.

    Args:
        edges: as of `storage.pipeline.audit.history_findings.dependencies`
        refused: as of the function of that name
    """
    known = refused.select("channel", F.col("message_id").alias("parent")).distinct()
    return edges.join(known, ["channel", "parent"], "left_anti").select(*edges.columns)
