"""The files of exports, looked at before Spark starts: are they whole, and of this version?"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.consolidated import IN_FILES
from storage.archive.tables import HISTORY, HISTORY_DIR, LOG, LOG_DIR
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.places.place import source

UNKNOWN_MAX: Final = 100
"""Names of unknown columns that are told."""

TABLES: Final = ((HISTORY_DIR, HISTORY), (LOG_DIR, LOG))


@dataclass(frozen=True, slots=True)
class Amount:
    """Amount of data in the exports; `size` is in bytes of the files, compressed."""

    files: int = 0
    rows: int = 0
    size: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Columns that this version does not know, by table, with their files: they stay there."""


def check_files(inputs: Inputs) -> Amount:
    """Read the end of each file, which says what it holds; returns how much that is in all.

    Raises:
        PipelineError: a file is damaged, has other columns than ours, or nothing holds any row.
    """
    files = rows = size = 0
    unknown: Counter[str] = Counter()
    for path, schema in _files(inputs):
        count, others = _checked_rows(path, schema)
        rows += count
        unknown.update(others)
        size += path.stat().st_size
        files += 1
    if not rows:
        names = ", ".join(map(str, inputs.sources[:3]))
        raise PipelineError(
            f"The exports hold no rows ({names}): nothing was written there yet, or only "
            "`export.json` was copied."
        )
    return Amount(files, rows, size, dict(unknown.most_common(UNKNOWN_MAX)))


def _files(inputs: Inputs) -> Iterator[tuple[Path, pa.Schema]]:
    for directory in inputs.directories:
        for table, schema in TABLES:
            for path in _below(directory / table):
                yield path, schema
    for history in inputs.histories:
        for path in _below(history.table):
            yield path, IN_FILES


def _below(table: Path) -> Iterator[Path]:
    """Yield the files of a table by name.

    Raises:
        PipelineError: there is a pipe, a socket or a device, for which Spark would wait for ever.
    """
    for path in sorted(table.rglob("*")):
        if path.exists() and not path.is_dir() and not path.is_file():
            raise PipelineError(f"{path} is no ordinary file: remove it, and try again.")
        if path.suffix == ".parquet":
            yield path


def _checked_rows(path: Path, schema: pa.Schema) -> tuple[int, list[str]]:
    """Return the rows of a file, and its columns that we do not know."""
    try:
        metadata = pq.read_metadata(source(path))
        there = metadata.schema.to_arrow_schema()
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise PipelineError(
            f"{path} is damaged or no Parquet ({reason}); remove it and export it again."
        ) from error
    found, wanted = _columns(there), _columns(schema)
    lacking = {name for name in wanted.keys() - found.keys() if not schema.field(name).nullable}
    differing = {name for name in wanted.keys() & found.keys() if found[name] != wanted[name]}
    if lacking or differing:
        other = sorted(
            [f"{name} {wanted[name]}" for name in lacking | differing]
            + [f"{name} {found[name]}" for name in differing]
        )
        raise PipelineError(
            f"{path} is of another version of chat-tui (it differs in {', '.join(other)}); export "
            "it again."
        )
    return int(metadata.num_rows), sorted(found.keys() - wanted.keys())


def _columns(schema: pa.Schema) -> dict[str, str]:
    """Return types by name; the writer of a file decides which may be null or are codes."""
    return {field.name: _kind(field.type) for field in schema}


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return str(kind.value_type)
    # the items of a list have a name, which differs between writers
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)
