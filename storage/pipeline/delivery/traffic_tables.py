"""Tables and figures of traffic, repairs by peer, slow ways and healed partitions.

Tables: `purposes`, `repairers`, `slowest_links`, `slowest_nodes`, `partitions`; their columns stand
in `storage.pipeline.delivery.traffic`.
"""

from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.pipeline.delivery import traffic
from storage.pipeline.delivery.latency import PERCENTS
from storage.pipeline.handed import handed
from storage.pipeline.job_context import Work
from storage.pipeline.places.spark_tables import read_tables
from storage.pipeline.results.small_tables import Row, first_rows, row_count
from storage.results import Figures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TRAFFIC: Final = "traffic"
LINKS: Final = "links"
"""Tables that the others are made of."""

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
    facts, messages = [
        work.whole(read_tables(work.spark, None, [work.run.directory / name]))
        for name in ("facts", "messages")
    ]
    rows = work.write(TRAFFIC, traffic.traffic(seldom))
    work.write("purposes", traffic.purposes(rows))
    work.write("repairers", traffic.repairers(rows))
    work.write("slowest_links", traffic.slowest_links(facts, members, _slow(work, facts)))
    work.write("slowest_nodes", traffic.slowest_nodes(facts, members))
    links = traffic.link_rows(rows)
    found = traffic.partitions_of(links)
    work.write("partitions", traffic.healed(messages, found))
    for name in (TRAFFIC, LINKS):  # it is told in the others
        work.run.drop(name)
    return {
        **{
            name: _first(work, name)
            for name in ("purposes", "repairers", "slowest_links", "slowest_nodes", "partitions")
        },
        "links_recorded": bool(links),
    }


def _slow(work: Work, facts: "DataFrame") -> "DataFrame | None":
    """Return the links that the slowest are among; None if these are all, or few rows anyway.

    Most links are fast, and their times need not be sorted to tell so.
    """
    [latency] = first_rows(work.run.directory, "latency", 1)
    at = latency["at_us"]
    if work.small or at is None:
        return None
    steps = [at[PERCENTS.index(percent)] for percent in traffic.STEP_PERCENTS]
    links = work.write(LINKS, traffic.reached(facts, steps))
    for step in range(len(steps), 0, -1):
        count = row_count(work.run.directory, LINKS, pc.field("step") >= step)
        if count >= traffic.KEPT_ROWS:
            return handed(links.where(F.col("step") >= step), count)
    return None


def _first(work: Work, name: str) -> list[Row]:
    shown = PURPOSES_SHOWN if name == "purposes" else SHOWN
    return first_rows(work.run.directory, name, shown)
