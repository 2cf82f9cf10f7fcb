"""Members of channels, since when and until when, with a number for each (channel, node).

That number, instead of two texts of 64 characters, keeps the tables of `facts` narrow.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import Note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOSTS: str = "node string, host string"


def hosts_of(notes: Sequence[Note]) -> dict[str, str]:
    """Return which clock each node goes by; the first note that says so counts."""
    hosts: dict[str, str] = {}
    for note in notes:
        for node, host in note.hosts.items():
            hosts.setdefault(str(node), str(host))
    return hosts


def host_rows(spark: "SparkSession", hosts: Mapping[str, str]) -> "DataFrame":
    """Return the hosts as rows: node string, host string."""
    return spark.createDataFrame(sorted(hosts.items()), HOSTS)


def members(rows: "DataFrame", hosts: "DataFrame") -> "DataFrame":
    """Return one row for each node of each channel, numbered from 1 in the order of both.

    A node counts as present from the first thing it noted of a channel to the last.

    Args:
        rows: channel string, node string, first_ns long, last_ns long (of some of what it noted)
        hosts: node string, host string

    Returns:
        member int, channel string, node string, host string (null: not known),
        first_ns long, last_ns long
    """
    seen = rows.groupBy("channel", "node").agg(
        F.min("first_ns").alias("first_ns"), F.max("last_ns").alias("last_ns")
    )
    # one task numbers them all; they are a few thousand, and not the rows of the log
    number = F.row_number().over(Window.orderBy("channel", "node"))
    return seen.join(F.broadcast(hosts), "node", "left").select(
        number.alias("member"), "channel", "node", "host", "first_ns", "last_ns"
    )
