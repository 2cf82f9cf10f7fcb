"""Members of channels, their clocks and what they held, with a number for each (channel, node).

That number, instead of two texts of 64 characters, keeps the tables of `facts` narrow.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import Note
from storage.pipeline.handed import handed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DIGITS: Final = 6
"""Of a clock's id, where its host's name says too little."""

HOSTS: Final = "node string, host string, clock_id string"


def hosts_of(notes: Sequence[Note]) -> dict[str, tuple[str, str]]:
    """Return the host of each node, and the id of the clock that it goes by.

    The first note that says so counts. Exports before 1.1 have no ids: the name of the host is one.
    Two clocks of one name are told apart by the first digits of their ids.
    """
    hosts: dict[str, tuple[str, str]] = {}
    for note in notes:
        for node, host in note.hosts.items():
            hosts.setdefault(str(node), (str(host), str(note.clocks.get(node, host))))
    clocks: dict[str, set[str]] = defaultdict(set)
    for host, clock in hosts.values():
        clocks[host].add(clock)
    return {
        node: (host if len(clocks[host]) == 1 else f"{host} ({clock[:DIGITS]})", clock)
        for node, (host, clock) in hosts.items()
    }


def host_rows(spark: "SparkSession", hosts: Mapping[str, tuple[str, str]]) -> "DataFrame":
    """Return the hosts as rows: node string, host string, clock_id string."""
    rows = [(node, *of) for node, of in sorted(hosts.items())]
    return handed(spark.createDataFrame(rows, HOSTS), len(rows))


def members(rows: "DataFrame", hosts: "DataFrame") -> "DataFrame":
    """Return one row for each node of each channel, numbered from 1 in the order of both.

    A node counts as present from the first message that it has of a channel to the last, in the
    order of the chat, which no clock has a say in.

    Args:
        rows: channel string, node string, first_ns long, last_ns long, first_lamport long,
            last_lamport long (of some of what it noted)
        hosts: node string, host string, clock_id string

    Returns:
        member int, channel string, node string, host string (null: not known), clock int (members
        that go by one have one number; of an unknown host, each node has its own), first_ns long,
        last_ns long, first_lamport long, last_lamport long
    """
    ends = ("first_ns", "last_ns", "first_lamport", "last_lamport")
    seen = rows.groupBy("channel", "node").agg(
        *[(F.min if name.startswith("first") else F.max)(name).alias(name) for name in ends]
    )
    sizes = seen.groupBy("channel").agg(F.count("*").alias("size"))
    earlier = sizes.toDF("earlier", "others")
    before = (
        sizes.join(F.broadcast(earlier), F.col("earlier") < F.col("channel"), "left")
        .groupBy("channel")
        .agg(F.coalesce(F.sum("others"), F.lit(0)).alias("before"))
    )
    within = F.row_number().over(Window.partitionBy("channel").orderBy("node"))
    known = (
        seen.join(hosts, "node", "left")
        .join(F.broadcast(before), "channel")
        .withColumn("member", (F.col("before") + within).cast("int"))
    )
    same = Window.partitionBy(F.coalesce("clock_id", "node"))
    clock = F.min("member").over(same).alias("clock")
    return known.select("member", "channel", "node", "host", clock, *ends)
