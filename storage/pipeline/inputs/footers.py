"""The files of exports, looked at before Spark starts: are they whole, and of this version?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.consolidated import IN_FILES
from storage.archive.tables import (
    DAYS,
    HISTORY,
    HISTORY_DIR,
    LOG,
    LOG_DIR,
    NOT_LET_IN,
    NOT_LET_IN_DIR,
    OPS,
    OPS_DIR,
)
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.file_ends import FileEnd, read_end, together
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.places.place import checked_name
from storage.report import printable

UNKNOWN_MAX: Final = 100
"""Names of unknown columns that are told."""

TABLES: Final = (
    (HISTORY_DIR, HISTORY),
    (LOG_DIR, LOG),
    (OPS_DIR, OPS),
    (NOT_LET_IN_DIR, NOT_LET_IN),
)

OTHERS: Final = tuple(f"{table}/" for table, _ in TABLES if table != LOG_DIR)
"""Begin the places of the tables that have one file each."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Amount of data in the exports; `size` is in bytes of the files, compressed."""

    files: int = 0
    rows: int = 0
    size: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Columns that this version does not know, by table, with their files: they stay there."""
    history: Sequence[FileEnd] = field(default=(), compare=False, repr=False)
    """The ends of the files of the exports' histories."""


def check_files(inputs: Inputs) -> Amount:
    """Read the end of each file, which says what it holds; returns how much that is in all.

    Raises:
        PipelineError: a file is damaged, gone, or has other columns than ours, or nothing holds any
            row.
    """
    named = list(_files(inputs))
    _require_noted(inputs, {path for path, _ in named})
    checked = together(partial(_checked, Columns()), named)
    unknown = Counter(name for _, others in checked for name in others)
    rows = sum(end.rows for end, _ in checked)
    if not rows:
        names = ", ".join(map(str, inputs.sources[:3]))
        raise PipelineError(
            f"The exports hold no rows ({names}): nothing was written there yet, or only "
            "`export.json` was copied."
        )
    size = sum(end.size for end, _ in checked)
    history = [
        end for (end, _), (_, schema) in zip(checked, named, strict=True) if schema is HISTORY
    ]
    return Amount(len(checked), rows, size, dict(unknown.most_common(UNKNOWN_MAX)), history)


def history_ends(inputs: Inputs) -> list[FileEnd]:
    """Read the ends of the files of the exports' histories.

    Raises:
        PipelineError: a file is damaged, or has other columns than ours.
    """
    named = [(path, schema) for path, schema in _files(inputs) if schema is HISTORY]
    return [end for end, _ in together(partial(_checked, Columns()), named)]


def _files(inputs: Inputs) -> Iterator[tuple[Path, pa.Schema]]:
    for directory in inputs.directories:
        for table, schema in TABLES:
            for path in _below(directory / table):
                yield path, schema
    for history in inputs.histories:
        for path in _below(history.table):
            yield path, IN_FILES


def _require_noted(inputs: Inputs, there: Set[Path]) -> None:
    """See that each export has the files that it says it has: what is gone would seem lost.

    Raises:
        PipelineError: it has not.
    """
    places = {path.parent for path in there}
    for directory, note in zip(inputs.directories, inputs.notes, strict=True):
        lost: list[str] = []
        noted = note.more.get(DAYS)
        for where, mark in sorted(noted.items()) if isinstance(noted, dict) else ():
            if where.startswith(f"{LOG_DIR}/"):  # each run has a file, and others beside that one
                runs = mark if isinstance(mark, dict) else ()
                lost += [where for run in runs if directory / where / f"{run}.parquet" not in there]
            elif mark and where.startswith(OTHERS) and directory / where not in places:
                lost.append(where)
        if lost:
            raise PipelineError(
                f"The export in {directory} lacks {len(lost):,} of its files, the first in "
                f"{printable(lost[0])}: copy it again, or `chat-tui export {directory}` writes "
                "them again."
            )


def _below(table: Path) -> Iterator[Path]:
    """Yield the files of a table by name.

    Raises:
        PipelineError: there is a pipe, a socket or a device, for which Spark would wait for ever;
            or a name is no text.
    """
    for path in sorted(table.rglob("*")):
        if path.exists() and not path.is_dir() and not path.is_file():
            raise PipelineError(f"{path} is no ordinary file: remove it, and try again.")
        if path.suffix == ".parquet":
            yield checked_name(path)


class Columns:
    """Compares the columns of files with ours; most files are like the one before."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[pq.ParquetSchema, Differences]] = {}

    def compare(self, there: pq.ParquetSchema, schema: pa.Schema) -> "Differences":
        """Return how the columns of a file differ from ours."""
        kind = id(schema)
        seen = self._seen.get(kind)
        if seen is not None and there.equals(seen[0]):
            return seen[1]
        found = _differences(there.to_arrow_schema(), schema)
        self._seen[kind] = there, found
        return found


class Differences(NamedTuple):
    """Columns of a file that are not as ours: in words; and those that we do not know."""

    told: Sequence[str]
    unknown: Sequence[str]


def _differences(there: pa.Schema, schema: pa.Schema) -> Differences:
    found, wanted = _columns(there), _columns(schema)
    lacking = {name for name in wanted.keys() - found.keys() if not schema.field(name).nullable}
    differing = {name for name in wanted.keys() & found.keys() if found[name] != wanted[name]}
    told = [f"{name} {wanted[name]}" for name in lacking | differing]
    told += [f"{name} {found[name]}" for name in differing]
    return Differences(sorted(told), sorted(found.keys() - wanted.keys()))


def _checked(columns: Columns, named: tuple[Path, pa.Schema]) -> tuple[FileEnd, Sequence[str]]:
    """Return the end of a file, and its columns that we do not know."""
    path, schema = named
    try:
        end = read_end(path)
        differences = columns.compare(end.metadata.schema, schema)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise PipelineError(
            f"{path} is damaged or no Parquet ({reason}); remove it and export it again."
        ) from error
    if differences.told:
        raise PipelineError(
            f"{path} is of another version of chat-tui (it differs in "
            f"{', '.join(differences.told)}); export it again."
        )
    return end, differences.unknown


def _columns(schema: pa.Schema) -> dict[str, str]:
    """Return types by name; the writer of a file decides which may be null or are codes."""
    return {field.name: _kind(field.type) for field in schema}


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return str(kind.value_type)
    # the items of a list have a name, which differs between writers
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)
