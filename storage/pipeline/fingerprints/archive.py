"""An archive: the distinct messages of the exports that are named together.

It is a directory with exports; or with the history that `consolidate` made of them, which may be
all that is kept; or with the results of `fingerprints` over any of these, which then are not read
again where nothing differs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from storage.archive.consolidated import Consolidated
from storage.archive.tables import HISTORY, HISTORY_DIR, Note, replace_text
from storage.pipeline.errors import PipelineError, as_problems
from storage.pipeline.fingerprints.differences import within
from storage.pipeline.fingerprints.fingerprints import SYNC_ID, Prints, by_minute, distinct
from storage.pipeline.inputs.batches import Range, files_near
from storage.pipeline.inputs.histories import read_history
from storage.pipeline.inputs.inputs import FINGERPRINTS, WHOLE, Inputs, are_gone, struct_of
from storage.pipeline.places.spark_tables import read_tables
from storage.pipeline.results.publishing import Results
from storage.results import CHOSEN, MANIFEST, MANIFEST_MAX, small_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONSOLIDATE: Final = "consolidate"
"""The job whose history is verified."""

STATE: Final = "state.json"
"""Beside the tables of a run: what exports and histories were when it read them."""

BY_STATISTICS: Final = {"parquet.filter.dictionary.enabled": "false"}
"""Row groups are left out by their least and greatest time alone. Parquet would look into each
one's dictionary of times too, anew for each bound of each range: seven times the work of reading
the rows."""


@dataclass(frozen=True, slots=True)
class Archive:
    """Exports and histories, and where their fingerprints lie, if they were taken before."""

    inputs: Inputs
    prints: Path | None = None

    @classmethod
    def find(cls, path: Path) -> "Archive":
        """Find what was named.

        Raises:
            PipelineError: there is no export, or it changed since its fingerprints were taken.
        """
        published = Results(path).published(FINGERPRINTS) if (path / MANIFEST).is_file() else None
        inputs = Inputs.find([path])
        if published is None or are_gone(published):  # then the history stands in their place
            return cls(inputs)
        if not is_of(published.directory, inputs):
            raise PipelineError(
                f"What the fingerprints in {path} were taken of has changed since; run "
                "`chat-tui pipeline fingerprints` again."
            )
        return cls(inputs, published.directory)

    @property
    def once(self) -> bool:
        """True if it holds no message twice: it is one node's export, or a consolidated history."""
        if len(self.inputs.sources) != 1:
            return False
        return bool(self.inputs.histories) or len(self.inputs.notes[0].nodes) == 1

    @property
    def verified(self) -> bool:
        """True if `consolidate` has checked all of it; columns of exports are only claims."""
        return not self.inputs.directories

    @property
    def notes(self) -> Sequence[Note]:
        """The notes of its exports and, with names alone, of its consolidated histories."""
        consolidated = [Note([], one.names, {}, {}) for one in self.inputs.histories]
        return [*self.inputs.notes, *consolidated]

    @classmethod
    def best(cls, inputs: Inputs, results: Results) -> "Archive":
        """Return the history that `consolidate` made of these inputs, or else the inputs."""
        consolidated = results.published(CONSOLIDATE)
        if consolidated is None or consolidated.figures.get(CHOSEN):
            return cls(inputs)
        if not is_of(consolidated.directory, inputs):
            return cls(inputs)
        with as_problems():
            history = Consolidated.find(results.out)
        return cls(inputs) if history is None else cls(Inputs((), (), inputs.named, (history,)))

    def messages(self, spark: "SparkSession") -> "DataFrame":
        """Return the sync ids of the archive, each once: the columns of `prints.SYNC_ID`.

        Messages that several exports or nodes hold have to be sorted out, the greater part of the
        work then.
        """
        held = [read_history(spark, one, [one.table], {}) for one in self.inputs.histories]
        if self.inputs.directories:
            held.append(self.inputs.history(spark))
        rows = _together([one.select(*SYNC_ID) for one in held])
        return rows if self.once else distinct(rows)

    def minutes(self, spark: "SparkSession") -> "DataFrame":
        """Return the fingerprints of all minutes: the columns of `PRINTS`."""
        if self.prints is not None:
            return Prints(spark, self.prints).level("minutes")
        return by_minute(self.messages(spark))

    def near(self, spark: "SparkSession", ranges: Sequence[Range]) -> "DataFrame":
        """Return the rows in some ranges of time, of all nodes: the columns of `HISTORY`."""
        schema = struct_of(HISTORY)
        held = [
            read_history(spark, one, near, BY_STATISTICS)
            for one in self.inputs.histories
            if (near := files_near(one.table, "created_ns", ranges))
        ]
        files = [
            file
            for export in self.inputs.directories
            for file in files_near(export / HISTORY_DIR, "created_ns", ranges)
        ]
        if files:
            held.append(read_tables(spark, schema, files, {**WHOLE, **BY_STATISTICS}))
        if not held:
            return spark.createDataFrame([], schema)
        return _together(held).where(within(ranges))


def _together(frames: Sequence["DataFrame"]) -> "DataFrame":
    """Return the rows of all, of which there is at least one."""
    return reduce(lambda one, other: one.unionAll(other), frames)


def _state_of(inputs: Inputs) -> list[list[Any]]:
    """Return what changes when the history in these does: files, bytes, when last written."""
    states: list[list[Any]] = []
    for place in [*inputs.directories, *(one.directory for one in inputs.histories)]:
        found = [file.stat() for file in (place / HISTORY_DIR).rglob("*.parquet")]
        size = sum(file.st_size for file in found)
        states.append([len(found), size, max((file.st_mtime_ns for file in found), default=0)])
    return states


def write_state(run: Path, inputs: Inputs) -> None:
    """Write beside the tables of a run what there is to read when it begins."""
    replace_text(run / STATE, json.dumps(_state_of(inputs)) + "\n")


def is_of(run: Path, inputs: Inputs) -> bool:
    """Return whether a run read these inputs as they are now, in any order; True if unknown."""
    try:
        state = sorted(json.loads(small_text(run / STATE, MANIFEST_MAX)))
    except (OSError, ValueError, TypeError, RecursionError):
        return True
    return state == sorted(_state_of(inputs))
