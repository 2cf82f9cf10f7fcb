"""consolidate: many nodes' histories to one, what is false set apart.

Tables: `history` (the columns of `HISTORY` but node; partitioned by channel, sorted by lamport and
message_id), `holders` (message_id, node, channel, delivered), `quarantine` (`HISTORY` and the
reason), and who holds what in bits: `members` and `held` (see
`storage.pipeline.consolidate.transforms`). Findings are the rows in quarantine.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.consolidated import write_names
from storage.pipeline.consolidate import transforms
from storage.pipeline.consolidate.verify import REASON
from storage.pipeline.fingerprints.archive import write_state
from storage.pipeline.job_context import Work
from storage.pipeline.results.small_tables import row_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ARROW_ROWS: Final = 1024
"""Rows that Python gets at once: 60 MB, were all their bodies as large as they may be."""

KEPT: Final = "checked"
"""Rows that several tables are made from; they lie with the results, seen by all of a cluster."""

REASONS_MAX: Final = 100
"""Different reasons that are told with the figures."""


def run(work: Work) -> None:
    """Make the tables; see the module docstring."""
    write_state(work.run.directory, work.inputs)
    work.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ARROW_ROWS))
    # what has no node or channel is nobody's, and not as signed
    rows = work.inputs.history(work.spark).fillna("", ["node", "channel"])
    members = work.write("members", transforms.members_of(rows))
    found = work.write(KEPT, transforms.checked(transforms.variants(rows, members)))
    held = work.write("held", transforms.held(found))
    work.write("history", transforms.history(found, held), "channel")
    work.write("holders", transforms.holders(held, members))
    false = work.write("quarantine", transforms.quarantine(found, members))
    named = [item for one in work.inputs.notes for item in one.channels.items()]
    write_names(work.run.directory, {channel: name for channel, name in named if name})
    _figure(work, members, held, false)
    work.run.drop(KEPT)


def _figure(work: Work, members: "DataFrame", held: "DataFrame", false: "DataFrame") -> None:
    counted = held.agg(
        F.count_distinct("message_id"), F.sum(F.bit_count("held")), F.count_distinct("channel")
    )
    [(entries, held_count, channels)] = counted.collect()
    nodes = members.select("node").distinct().count()
    reasons = false.groupBy(REASON).count().orderBy(F.desc("count"), REASON).limit(REASONS_MAX)
    false_count = row_count(work.run.directory, "quarantine")
    work.run.figures |= {
        "rows": (held_count or 0) + false_count,
        "entries": entries,
        "holders": held_count or 0,
        "channels": channels,
        "nodes": nodes,
        "quarantined": {row[REASON]: row["count"] for row in reasons.collect()},
        "findings": false_count,
    }
