"""`diff A B`: the exact messages that only one of two archives holds.

Writes `only_a` and `only_b` (the columns of `ONLY`), `minutes` (channel string, start_ns long), and
two exports that `chat-tui import` takes: `for_a` with what A lacks, `for_b` with what B lacks.
"""

import shutil
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import functions as fn

from storage.pipeline.archives import Archive
from storage.pipeline.differences import (
    ONLY_A,
    ONLY_B,
    minutes_that_differ,
    one_sided,
    rows_of,
)
from storage.pipeline.exporting import write_exports
from storage.pipeline.prints import EXACT
from storage.pipeline.problems import PipelineError
from storage.pipeline.reading import minutes_in, narrow, ranges_of, rows_in, total_of
from storage.pipeline.work import Work
from storage.tables import HISTORY, HISTORY_DIR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ONLY: Final = pa.schema([HISTORY.field(name) for name in ("channel", "message_id", *EXACT)])
"""The tables `only_a` and `only_b`; the rest of each message is in the export for the other."""


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
    ranges = ranges_of(minutes_in(Path(work.run.table("minutes")), "start_ns"))
    near = [side.archive.near(work.spark, ranges) for side in sides]
    missing = _kept(work, "missing", one_sided(near[0], near[1], minutes), "side")
    _export(work, sides, missing)
    figures = work.run.figures
    for side in sides:
        export = Path(work.run.table(f"for_{side.other}"))
        only = Path(work.run.table(f"only_{side.name}"))
        figures[f"only_{side.name}"] = narrow(export / HISTORY_DIR, only, ONLY)
        figures[f"for_{side.name}"] = str(Path(work.run.table(f"for_{side.name}")).absolute())
    figures["minutes"] = rows_in(Path(work.run.table("minutes")))
    figures["findings"] = figures["only_a"] + figures["only_b"]


def _minutes(work: Work, sides: tuple[Side, Side]) -> "DataFrame":
    """Return the minutes that differ: channel string, start_ns long."""
    a, b = [
        side.archive.taken(work.spark, work.run.directory / f"prints_{side.name}") for side in sides
    ]
    for side, prints in zip(sides, (a, b), strict=True):
        level = "roots" if prints.complete else "minutes"
        work.run.figures[f"messages_{side.name}"] = total_of(prints.directory / level)
    return _kept(work, "minutes", minutes_that_differ(a, b))


def _export(work: Work, sides: tuple[Side, Side], missing: "DataFrame") -> None:
    """Write what each side lacks, for people and for `import`.

    Args:
        work: where to
        sides: both
        missing: the columns of `EXACT`, and side int
    """
    found = []
    for side in sides:
        only = missing.where(fn.col("side") == side.bit)
        path = Path(work.run.table("missing")) / f"side={side.bit}"
        history = side.archive.near(work.spark, ranges_of(minutes_in(path, "created_ns")))
        found.append(rows_of(history, only).withColumn("target", fn.lit(side.other)))
    rows = reduce(lambda one, other: one.unionAll(other), found)
    exports = {
        side.other: (Path(work.run.table(f"for_{side.other}")), side.archive.inputs.notes)
        for side in sides
    }
    for export, _ in exports.values():
        export.mkdir()
    write_exports(rows, Path(work.run.table("exporting")), exports)
    for scratch in ("missing", "exporting"):
        shutil.rmtree(work.run.table(scratch))


def _kept(work: Work, name: str, frame: "DataFrame", *by: str) -> "DataFrame":
    """Write a table and return it read again: what it is made of is not worked out twice."""
    table = work.run.table(name)
    frame.write.partitionBy(*by).parquet(table)
    return work.spark.read.schema(frame.schema).parquet(table)
