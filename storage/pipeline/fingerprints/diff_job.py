"""`diff A B`: the exact messages that only one of two archives holds.

Writes `only_a` and `only_b` (the columns of `ONLY`), `minutes` (channel string, start_ns long), and
two exports that `chat-tui import` takes: `for_a` with what A lacks, `for_b` with what B lacks.
What differs in exports is verified as `consolidate` does; `false` (side string, node, channel,
message_id, `EXACT`, reason) has what is not as signed, and is in none of the others.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as fn

from storage.archive.tables import HISTORY, HISTORY_DIR
from storage.pipeline.consolidate.job import ARROW_ROWS
from storage.pipeline.consolidate.transforms import checked
from storage.pipeline.consolidate.verify import CHOSEN, REASON
from storage.pipeline.errors import PipelineError
from storage.pipeline.fingerprints.archive import Archive
from storage.pipeline.fingerprints.differences import (
    ONLY_A,
    ONLY_B,
    differing,
    minutes_that_differ,
    one_sided,
    rows_of,
)
from storage.pipeline.fingerprints.fingerprints import EXACT, Prints
from storage.pipeline.inputs.batches import minutes_in, narrow, ranges_of, rows_in, total_of
from storage.pipeline.job_context import Work
from storage.pipeline.results.export_writer import write_exports

ONLY: Final = pa.schema([HISTORY.field(name) for name in ("channel", "message_id", *EXACT)])
"""The tables `only_a` and `only_b`; the rest of each message is in the export for the other."""


FALSE: Final = "false"
WRONG: Final = ("side", "node", "channel", "message_id", *EXACT, REASON)
FALSE_ROWS: Final = (
    "side string, node string, channel string, message_id binary, "
    + "".join(f"{name} long, " for name in EXACT)
    + f"{REASON} string"
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its letter, the other's, and the bit that says only it holds a message."""

    archive: Archive
    name: str
    other: str
    bit: int


def run(work: Work) -> None:
    """Compare the two archives that were named."""
    if len(work.inputs.named) != 2:  # noqa: PLR2004  A and B
        raise PipelineError("diff compares two archives: name both, A and B.")
    first, second = [Archive.find(path) for path in work.inputs.named]
    sides = (Side(first, "a", "b", ONLY_A), Side(second, "b", "a", ONLY_B))
    minutes = _minutes(work, sides)
    ranges = ranges_of(minutes_in(work.run.directory / "minutes", "start_ns"))
    near = [side.archive.near(work.spark, ranges) for side in sides]
    missing = work.write("missing", one_sided(near[0], near[1], minutes), "side")
    _export(work, sides, missing)
    figures = work.run.figures
    for side in sides:
        export = work.run.directory / f"for_{side.other}"
        only = work.run.directory / f"only_{side.name}"
        figures[f"only_{side.name}"] = narrow(export / HISTORY_DIR, only, ONLY)
        figures[f"for_{side.name}"] = str((work.run.directory / f"for_{side.name}").absolute())
        figures[f"verified_{side.name}"] = side.archive.verified
    figures["minutes"] = rows_in(work.run.directory / "minutes")
    figures["false"] = rows_in(work.run.directory / FALSE)
    figures["findings"] = figures["only_a"] + figures["only_b"] + figures["false"]


def _minutes(work: Work, sides: tuple[Side, Side]) -> DataFrame:
    """Return the minutes that differ: channel string, start_ns long."""
    published = [side.archive.prints for side in sides if side.archive.prints is not None]
    if len(published) == len(sides):
        a, b = [Prints(work.spark, prints) for prints in published]
        found = work.write_side("minutes", minutes_that_differ(a, b))
        counts = [total_of(prints / "roots") for prints in published]
    else:
        # what is above minutes that are taken just now would be read for nothing
        seen = [Observation() for _ in sides]
        total = fn.sum("count").alias("messages")
        first, second = [
            side.archive.minutes(work.spark).observe(one, total)
            for side, one in zip(sides, seen, strict=True)
        ]
        found = work.write_side("minutes", differing(first, second))
        counts = [one.get["messages"] or 0 for one in seen]
    for side, count in zip(sides, counts, strict=True):
        work.run.figures[f"messages_{side.name}"] = count
    return found


def _export(work: Work, sides: tuple[Side, Side], missing: DataFrame) -> None:
    """Write what each side lacks, for people and for `import`.

    Args:
        work: where to
        sides: both
        missing: the columns of `EXACT`, and side int
    """
    work.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ARROW_ROWS))
    found, false = [], []
    for side in sides:
        only = missing.where(fn.col("side") == side.bit)
        path = work.run.directory / "missing" / f"side={side.bit}"
        history = side.archive.near(work.spark, ranges_of(minutes_in(path, "created_ns")))
        rows = rows_of(history, only)
        if side.archive.verified:
            once = rows if side.archive.once else rows.dropDuplicates(list(EXACT))
        else:
            looked = work.write(f"checked_{side.name}", _checked(rows))
            once = looked.where(CHOSEN).drop(REASON, CHOSEN)
            wrong = looked.where(fn.col(REASON).isNotNull())
            false.append(wrong.withColumn("side", fn.lit(side.name)).select(*WRONG))
        found.append(once.withColumn("target", fn.lit(side.other)))
    from_a, from_b = found
    exports = {
        side.other: (work.run.directory / f"for_{side.other}", side.archive.notes) for side in sides
    }
    for export, _ in exports.values():
        export.mkdir()
    write_exports(from_a.unionAll(from_b), work.run.directory / "exporting", exports)
    told = work.spark.createDataFrame([], FALSE_ROWS)
    work.write(FALSE, reduce(DataFrame.unionAll, false, told))
    for scratch in ("missing", "exporting", "checked_a", "checked_b"):
        work.run.drop(scratch)


def _checked(rows: DataFrame) -> DataFrame:
    """Check rows as `consolidate` does; what has no node or channel is nobody's."""
    return checked(rows.fillna("", ["node", "channel"]))
