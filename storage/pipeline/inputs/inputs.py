"""The exports that a job reads, found and looked at before Spark starts."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from storage.archive.consolidated import Consolidated
from storage.archive.tables import (
    BOOTS,
    FORMAT,
    HISTORY,
    HISTORY_DIR,
    LOG,
    LOG_DIR,
    NOT_LET_IN,
    NOT_LET_IN_DIR,
    NOTE,
    WORLD,
    WORLD_ID,
    Note,
    UnknownFormatError,
    is_unfinished,
)
from storage.pipeline.errors import PipelineError, as_problems
from storage.pipeline.inputs.copies import ROW, doubtful
from storage.pipeline.places.place import one_name, place_of
from storage.pipeline.places.spark_tables import read_tables
from storage.pipeline.results.publishing import Results
from storage.results import MANIFEST, Published

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DEPTH: Final = 3
"""Levels below what is named at which exports are found: DIR, DIR/node, DIR/host/node."""

EXPORTS_MAX: Final = 100_000

NODES_ASKED: Final = 1_000
"""Nodes that are named in a question to Parquet; rows of others are read along if they are more."""

WHOLE: Final = {"recursiveFileLookup": "true"}
"""Options of a reading that has no columns from paths: all would have to be parts of one table."""

FINGERPRINTS: Final = "fingerprints"
"""The job whose results know of which exports they are."""


def struct_of(schema: pa.Schema) -> StructType:
    """Return a table of an export as Spark sees it."""
    return from_arrow_schema(schema)


class OnceEach(NamedTuple):
    """Rows of logs, each once: the columns of `LOG`; and how many more there were."""

    rows: "DataFrame"
    copies: int


@dataclass(frozen=True, slots=True)
class Inputs:
    """Exports, in the order of their paths."""

    directories: Sequence[Path]
    notes: Sequence[Note]
    named: Sequence[Path] = ()
    """Exports as the person named them: where they mean one thing each, not all together."""
    histories: Sequence[Consolidated] = ()
    """Results of `consolidate` that were named; of no use to who asks what each node holds."""

    @classmethod
    def find(cls, named: Sequence[Path]) -> "Inputs":
        """Find the exports in and below what was named, each once, whatever ways lead to it.

        Raises:
            PipelineError: there are none, or one cannot be read, or has another format; or people
                of some have never met those of others.
        """
        exports: dict[Path, Path] = {}  # by their one name: as they were first named
        histories: dict[Path, Consolidated] = {}
        for path in named:
            if not path.is_dir():
                raise PipelineError(f"There is no directory {path}; `chat-tui export` makes one.")
            if history := _history(path):
                histories.setdefault(one_name(path), history)
                continue
            for source in _sources(path):
                if history := _consolidated(source):
                    histories.setdefault(one_name(source), history)
                    continue
                for directory in islice(_exports(source, DEPTH), EXPORTS_MAX):
                    exports.setdefault(one_name(directory), directory)
        found = {directory: read_note(directory) for directory in exports.values()}
        if not found and not histories:
            names = ", ".join(map(str, named))
            raise PipelineError(
                f"No export in {names}: no {NOTE} there. `chat-tui export DIR` makes one."
            )
        directories = sorted(found, key=str)
        # all simulated groups have one channel: each would seem to lack what the others wrote
        worlds = {_world(note) for note in found.values()}
        if len(worlds) > 1:
            raise PipelineError(
                f"These are {len(worlds)} groups that never met, each simulation one: name one of "
                f"them, for example {directories[0]}."
            )
        notes = [found[directory] for directory in directories]
        return cls(directories, notes, tuple(named), [*histories.values()])

    @property
    def sources(self) -> list[Path]:
        """The directories where all inputs can be found again."""
        return [*self.directories, *(one.out for one in self.histories)]

    def history(self, spark: "SparkSession") -> "DataFrame":
        """Return the history of all nodes: the columns of `HISTORY`."""
        return self._table(spark, HISTORY_DIR, HISTORY)

    def history_in(self, spark: "SparkSession", files: Sequence[Path]) -> "DataFrame":
        """Return the history in some files: the columns of `HISTORY`."""
        struct = struct_of(HISTORY)
        if not files:
            return spark.createDataFrame([], struct)
        return read_tables(spark, struct, files, WHOLE)

    def not_let_in(self, spark: "SparkSession") -> "DataFrame | None":
        """Return what no node lacks though it is in no history: the columns of `NOT_LET_IN`.

        None if no export has any, so that nobody else pays for it.
        """
        if any(any((one / NOT_LET_IN_DIR).glob("channel=*")) for one in self.directories):
            return self._table(spark, NOT_LET_IN_DIR, NOT_LET_IN)
        return None

    def log(self, spark: "SparkSession") -> "DataFrame":
        """Return the protocol log of all nodes: the columns of `LOG`."""
        return self._table(spark, LOG_DIR, LOG)

    def log_of(self, spark: "SparkSession", nodes: Sequence[str]) -> "DataFrame":
        """Return the log of some nodes; exports that have none of them are not read."""
        wanted = set(nodes)
        chosen = [
            directory
            for directory, note in zip(self.directories, self.notes, strict=True)
            if not wanted.isdisjoint(map(str, note.nodes))
        ]
        log = self._table(spark, LOG_DIR, LOG, chosen)
        return log.where(log["node"].isin(list(nodes))) if len(nodes) <= NODES_ASKED else log

    def logged(self) -> Iterator[tuple[str, str]]:
        """Yield the channels that exports have a log of, by their directories, and their nodes.

        Not each of several nodes of one export need be in each channel of it.
        """
        for directory, note in zip(self.directories, self.notes, strict=True):
            for table in (directory / LOG_DIR).glob("channel=*"):
                channel = table.name.removeprefix("channel=")
                yield from ((channel, str(node)) for node in note.nodes)

    def log_once(self, spark: "SparkSession") -> "OnceEach":
        """Return the same with each row once, for who counts rows.

        Only exports of one node, taken at different times, and copied files have rows in common. To
        sort them out moves each row whole, and is spared where files say that there are none.
        """
        files = [
            path
            for directory in self.directories
            for path in sorted((directory / LOG_DIR).rglob("*.parquet"))
        ]
        apart = doubtful(files)
        if not apart:
            return OnceEach(self.log(spark), 0)
        struct, others = struct_of(LOG), [*LOG.names]
        twice = read_tables(spark, struct, sorted(apart))
        for name in ROW:
            others.remove(name)
        # of two rows of one name the lesser, wherever this runs
        lesser = F.min(F.struct(*others)).alias("row")
        once = twice.groupBy(*ROW).agg(lesser).select(*ROW, "row.*").select(*LOG.names)
        copies = twice.count() - once.count()
        if not copies:
            return OnceEach(self.log(spark), 0)
        if rest := [path for path in files if path not in apart]:
            once = once.unionAll(read_tables(spark, struct, rest))
        return OnceEach(once, copies)

    def _table(
        self,
        spark: "SparkSession",
        name: str,
        schema: pa.Schema,
        directories: Sequence[Path] | None = None,
    ) -> "DataFrame":
        struct = struct_of(schema)
        among = self.directories if directories is None else directories
        paths = [path for one in among if any((path := one / name).glob("channel=*"))]
        if not paths:
            return spark.createDataFrame([], struct)
        return read_tables(spark, struct, paths, WHOLE)


def _world(note: Note) -> str:
    """Return which group an export is of; all real ones are of one.

    Two simulations of one seed have the same people, who live through other things in each.
    """
    if (name := note.more.get(WORLD)) is None:
        return ""
    return json.dumps([name, note.more.get(WORLD_ID) or note.more.get(BOOTS)])


def read_note(directory: Path) -> Note:
    """Read the note of an export.

    Raises:
        PipelineError: it cannot be read, or has another format, or the export is not whole.
    """
    path = directory / NOTE
    try:
        if is_unfinished(directory):  # the rows between are not there: they would seem lost
            raise PipelineError(
                f"The export in {directory} is not whole, it was interrupted or goes on just now: "
                f"`chat-tui export {directory}` finishes it."
            )
        return Note.read(path.read_text())
    except UnknownFormatError as error:
        raise PipelineError(
            f"{path} has format {error}, this chat-tui reads {FORMAT}; export it again with the "
            "same version."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise PipelineError(f"{path} cannot be read ({error}); export it again.") from error


def are_gone(prints: Published) -> bool:
    """Return whether an export that fingerprints were taken of is no longer where it was."""
    return any(not place_of(source).is_dir() for source in prints.figures["exports"])


def _history(path: Path) -> Consolidated | None:
    """Return the history that was made of exports, where it is all that is left of them."""
    consolidated = _consolidated(path)
    if consolidated is None or (prints := Results(path).published(FINGERPRINTS)) is None:
        return consolidated
    return consolidated if are_gone(prints) else None


def _consolidated(path: Path) -> Consolidated | None:
    with as_problems():
        return Consolidated.find(path)


def _sources(path: Path) -> Sequence[Path]:
    """Return where to look: results of `fingerprints` stand for what they are of.

    Raises:
        PipelineError: these results cannot be read, or what they are of is gone.
    """
    published = Results(path).published(FINGERPRINTS) if (path / MANIFEST).is_file() else None
    if published is None:
        return [path]
    sources = [place_of(source) for source in published.figures["exports"]]
    for source in sources:
        if not source.is_dir():
            raise PipelineError(f"The fingerprints in {path} are of {source}, which is gone.")
    return sources


def _exports(directory: Path, depth: int) -> Iterator[Path]:
    if (directory / NOTE).is_file() or is_unfinished(directory):
        yield directory
    elif depth:
        for below in sorted(directory.iterdir()):
            if below.is_dir():
                yield from _exports(below, depth - 1)
