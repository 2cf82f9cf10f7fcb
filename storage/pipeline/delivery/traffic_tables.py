"""Tables and figures of traffic, repairs by peer, slow ways and healed partitions.

Tables: `purposes`, `repairers`, `slowest_links`, `slowest_nodes`, `partitions`; their columns stand
in `storage.pipeline.delivery.traffic`.
"""

from typing import TYPE_CHECKING, Final

from storage.pipeline.delivery import traffic
from storage.pipeline.job_context import Work
from storage.pipeline.results.small_tables import Row, first_rows
from storage.results import Figures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TRAFFIC: Final = "traffic"
"""The table that the others are made of."""

SHOWN: Final = 10
"""Rows of each table among the figures, but for purposes, which are added up from them."""

PURPOSES_SHOWN: Final = 256
"""More than there are kinds with bytes, protocols and routes."""


def write_traffic(work: Work, seldom: "DataFrame", members: "DataFrame") -> Figures:
    """Write the tables, once `facts` and `messages` are there; returns their first rows.

    Args:
        work: of the job
        seldom: those of `storage.pipeline.delivery.rare_events.rare`
        members: member int, channel string, node string
    """
    facts = work.whole(work.spark.read.parquet(work.run.table("facts")))
    messages = work.whole(work.spark.read.parquet(work.run.table("messages")))
    rows = work.write(TRAFFIC, traffic.traffic(seldom))
    work.write("purposes", traffic.purposes(rows))
    work.write("repairers", traffic.repairers(rows))
    work.write("slowest_links", traffic.slowest_links(facts, members))
    work.write("slowest_nodes", traffic.slowest_nodes(facts, members))
    links = traffic.link_rows(rows)
    found = traffic.partitions_of(links)
    work.write("partitions", traffic.healed(messages, found))
    work.run.drop(TRAFFIC)  # it is told in the others
    return {
        **{
            name: _first(work, name)
            for name in ("purposes", "repairers", "slowest_links", "slowest_nodes", "partitions")
        },
        "links_recorded": bool(links),
    }


def _first(work: Work, name: str) -> list[Row]:
    shown = PURPOSES_SHOWN if name == "purposes" else SHOWN
    return first_rows(work.run.directory, name, shown)
