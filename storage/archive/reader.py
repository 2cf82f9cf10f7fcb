"""Archives on their way in: found, and read row by row without Spark; nothing in them is believed.

An archive is made of exports and of consolidated histories. Rows of one channel come by time of
creation, whichever export they are in, because what a message names was mostly created before it;
those of a history come as they lie there, in the order of the chat.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct, field

from storage.archive.consolidated import CONSOLIDATE, Consolidated
from storage.archive.tables import (
    DAYS,
    FORMAT,
    HISTORY,
    HISTORY_DIR,
    MAJOR,
    NOTE,
    OPS,
    OPS_DIR,
    read_format,
)
from sync.calimero.governance.limits import OP_SIZE_MAX
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.sds.message import CONTENT_MAX

DEPTH: Final = 3
"""Levels below what is named at which either is found: DIR, DIR/node, DIR/host/node."""

VALUE_MAX: Final = max(CONTENT_MAX, OP_SIZE_MAX)
"""Bytes of a cell: no header, body or op is larger."""

PAGES_ROOM: Final = 1024 * 1024
"""Bytes that the pages of a column may have beside its cells, in a row group."""

BATCH: Final = 256
"""Rows of a file in memory at once: 16 MB, if all are of the largest size."""

FILES_AT_ONCE: Final = 128
"""Files of one day that are open together: a process may have 1024."""

CHANNEL: Final = "channel"
OF_CHANNEL: Final = "channel="
"""Begins the name of a directory with the rows of a channel."""

READ: Final = (f"{HISTORY_DIR}/", f"{OPS_DIR}/")
"""Begin the places in an export that are read here."""

COLUMNS: Final = ("message_id", "created_ns", "header", "signature", "body")
"""Columns read of each row beside its channel."""

OPS_COLUMNS: Final = (CHANNEL, "op")
"""Columns read of each row of `OPS`."""

TYPES: Final = {field.name: field.type for field in chain(OPS, HISTORY)}
"""Types of the columns, as exports have them."""

SAME: Final = {
    pa.string(): {pa.string(), pa.large_string(), pa.string_view()},
    pa.binary(): {pa.binary(), pa.large_binary(), pa.binary_view()},
    pa.int64(): {pa.int64(), pa.uint64(), pa.int32(), pa.uint32()},
}
"""Types that other writers give to columns of a type; all are read as one."""

UNREADABLE: Final = (pa.ArrowException, OSError, ValueError, OverflowError, LookupError)
"""Exceptions that a file may cause, among them ValueError, where strings are not UTF-8."""


class Row(NamedTuple):
    """Columns read of a `HISTORY` row; a file may hold anything, so any of them may be missing."""

    created_ns: int
    channel: object
    message_id: object
    header: object
    signature: object
    body: object


class Archive(Struct, frozen=True):
    """The exports and consolidated histories in and below a directory."""

    files: Mapping[ChannelId, Sequence[Sequence[Path]]]
    """Of each channel, in the order in which they are read; those of one day are read together."""
    names: Mapping[str, str]
    """Names of channels by id, as the exporters knew them."""
    acts: Mapping[ChannelId, Sequence[Path]] = field(default_factory=dict)
    """Files with signed ops of each governed channel, one of each export that has any."""
    lost: Sequence[str] = ()
    """Places in exports that these say they have messages or ops in, and that have no file."""

    @classmethod
    def find(cls, directory: Path) -> "Archive":
        """Find what there is in and below a directory.

        Raises:
            LocalError: there is nothing, or something cannot be read, or has another format.
        """
        try:
            found = list(_found(directory, DEPTH))
        except OSError as error:
            raise LocalError(
                f"{error.filename or directory} cannot be read ({error.strerror}): put its rights "
                "right, or copy it again."
            ) from error
        if not found:
            raise LocalError(
                f"No export in {directory}: no {NOTE} there, and no results of {CONSOLIDATE}. "
                "`chat-tui export DIR` makes one."
            )
        exports = [one for one in found if isinstance(one, Path)]
        histories = [one for one in found if isinstance(one, Consolidated)]
        names: dict[str, str] = {}
        notes = [_Noted.of(one / NOTE) for one in exports]
        for known in (*(one.names for one in histories), *(note.names for note in notes)):
            names |= {channel: name for channel, name in known.items() if name}
        files: dict[ChannelId, list[list[Path]]] = {}
        for history in histories:
            for channel, whole in history.files().items():
                files.setdefault(channel, []).extend([file] for file in whole)
        for channel, days in _days(exports).items():
            files.setdefault(channel, []).extend(days[day] for day in sorted(days))
        acts = _acts(exports)
        for channel in acts:
            files.setdefault(channel, [])
        there = {file.parent for file in chain(*chain(*files.values()), *acts.values())}
        lost = [
            where
            for export, note in zip(exports, notes, strict=True)
            for where in sorted(note.places)
            if export / where not in there
        ]
        return cls(dict(sorted(files.items())), names, acts, lost)

    def only(self, channels: Sequence[ChannelId]) -> "Archive":
        """Return what there is of some channels."""
        files = {channel: self.files[channel] for channel in channels if channel in self.files}
        acts = {channel: self.acts[channel] for channel in channels if channel in self.acts}
        of_these = {f"{OF_CHANNEL}{channel}" for channel in channels}
        lost = [where for where in self.lost if not of_these.isdisjoint(where.split("/"))]
        return Archive(files, self.names, acts, lost)

    def count(self, channel: ChannelId) -> int:
        """Return how many rows of a channel there are, by the files' footers.

        Raises:
            LocalError: a file cannot be read.
        """
        files = chain(*self.files[channel])
        return sum(_opened(file, _columns(file)).metadata.num_rows for file in files)

    def rows(self, channel: ChannelId) -> Iterator[Row]:
        """Yield the rows of a channel, those of a day by time of creation.

        Raises:
            LocalError: a file cannot be read.
        """
        for files in self.files[channel]:
            for first in range(0, len(files), FILES_AT_ONCE):
                together = files[first : first + FILES_AT_ONCE]
                yield from merge(*map(_rows, together), key=lambda row: row.created_ns)

    def ops(self, channel: ChannelId) -> Iterator[object]:
        """Yield the signed ops of a channel as they lie there, of each export ancestors first.

        Nothing is checked: a row may hold anything.

        Raises:
            LocalError: a file cannot be read.
        """
        for file in self.acts.get(channel, ()):
            try:
                for batch in _batches(_opened(file, OPS_COLUMNS), OPS_COLUMNS):
                    rows = zip(*_values(batch, OPS_COLUMNS), strict=True)
                    yield from (op for of, op in rows if of == channel)
            except UNREADABLE as error:
                raise _unreadable(file, error) from error


def _rows(file: Path) -> Iterator[Row]:
    source, of_path = _opened(file, _columns(file)), _channel_of(file)
    try:
        for batch in _batches(source, _columns(file)):
            columns = _values(batch, _columns(file))
            if of_path:
                columns.insert(0, [of_path] * len(batch))
            for channel, message_id, created_ns, *content in zip(*columns, strict=True):
                when = created_ns if isinstance(created_ns, int) else 0
                yield Row(when, channel, message_id, *content)
    except UNREADABLE as error:
        raise _unreadable(file, error) from error


def _batches(source: pq.ParquetFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file; a dictionary that grows as it is read ends with its row group."""
    for group in range(source.num_row_groups):
        yield from source.iter_batches(BATCH, row_groups=[group], columns=columns)


def _values(batch: pa.RecordBatch, names: Sequence[str]) -> list[list[object]]:
    """Return columns of a batch as Python values; a cell of a dictionary is made once.

    Raises:
        ValueError: a cell is longer than `VALUE_MAX`; nothing was made of any.
    """
    columns = [batch.column(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        cells = column.dictionary if pa.types.is_dictionary(column.type) else column
        if not pa.types.is_integer(cells.type):
            longest = pc.max(pc.binary_length(cells)).as_py() or 0
            if longest > VALUE_MAX:
                raise ValueError(_too_long(name))
    return [
        _spread(column) if pa.types.is_dictionary(column.type) else column.to_pylist()
        for column in columns
    ]


def _spread(column: pa.DictionaryArray) -> list[object]:
    """Return the values of rows of a dictionary, those of one cell as one object."""
    used = column.indices.unique().drop_null()
    cells = column.dictionary.take(used).to_pylist()
    made = dict(zip(used.to_pylist(), cells, strict=True))
    return [made.get(index) for index in column.indices.to_pylist()]


def _opened(file: Path, columns: Sequence[str]) -> pq.ParquetFile:
    """Open a file that has these columns, of their types; what has a dictionary keeps it.

    Raises:
        LocalError: it cannot be read, or is none of an archive.
    """
    if not file.is_file():  # a pipe would be waited for, for ever
        raise _unreadable(file, "it is no ordinary file")
    try:
        named = file.absolute()  # to pyarrow, a relative name with a colon is a URI
        footer = pq.read_metadata(named)
        _check(footer, columns)
        shared = sorted(_with_dictionary(footer) & set(columns))
        return pq.ParquetFile(named, metadata=footer, read_dictionary=shared)
    except UNREADABLE as error:
        raise _unreadable(file, error) from error


def _check(footer: pq.FileMetaData, columns: Sequence[str]) -> None:
    """Check by a file's footer that its columns are such as an export has.

    Raises:
        ValueError: they are not.
    """
    schema = footer.schema.to_arrow_schema()
    if lacking := set(columns) - set(schema.names):
        raise ValueError(f"it has no column {', '.join(sorted(lacking))}")
    for column in schema:
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if column.name in columns and kind not in SAME[TYPES[column.name]]:
            raise ValueError(f"column {column.name} is {kind}, not {TYPES[column.name]}")
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for at in range(group.num_columns):
            part = group.column(at)
            honest = group.num_rows * VALUE_MAX + PAGES_ROOM
            if part.path_in_schema in columns and part.total_uncompressed_size > honest:
                raise ValueError(_too_long(part.path_in_schema))


def _with_dictionary(footer: pq.FileMetaData) -> set[str]:
    """Return the columns of strings and bytes to be read as dictionaries.

    Such are those whose cells are written once for many rows, which would be long for each of
    these, and those that another writer laid out otherwise. The rest must not be: a dictionary
    would be made of them, and keep all of a row group.
    """
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    parts = [group.column(at) for group in groups for at in range(group.num_columns)]
    coded = {
        part.path_in_schema
        for part in parts
        if part.has_dictionary_page or any("DICTIONARY" in one for one in part.encodings)
    }
    schema = footer.schema.to_arrow_schema()
    return {
        column.name
        for column in schema
        if TYPES.get(column.name) in (pa.string(), pa.binary())
        and (column.name in coded or column.type != TYPES[column.name])
    }


def _too_long(column: str) -> str:
    return f"a cell of column {column} is longer than {VALUE_MAX} bytes"


def _columns(file: Path) -> list[str]:
    return [*COLUMNS] if _channel_of(file) else [CHANNEL, *COLUMNS]


def _channel_of(file: Path) -> str | None:
    """Return the channel of a history's file, whose rows do not say it; of an export's, None."""
    in_day = file.parent.name.startswith("day=")
    above = file.parents[1 if in_day else 0].name
    if not above.startswith(OF_CHANNEL) or (in_day and (file.parents[3] / NOTE).is_file()):
        return None
    return above.removeprefix(OF_CHANNEL)


def _unreadable(file: Path, why: object) -> LocalError:
    [first, *_] = str(why).splitlines() or ["no reason given"]
    return LocalError(
        f"{file} cannot be read ({first}). Copy it again, or make it again as it was made; what "
        "was imported before it is here, and is not imported twice."
    )


class _Noted(NamedTuple):
    """Parts of an export's note that are read."""

    names: Mapping[str, str]
    places: AbstractSet[str]
    """Places of messages and ops that it names; exports that are made anew each time name none."""

    @classmethod
    def of(cls, note: Path) -> Self:
        """Read a note.

        Raises:
            LocalError: it cannot be read, or is of another format.
        """
        try:
            told = json.loads(note.read_text())
            if read_format(told["format"])[0] != MAJOR:
                raise LocalError(
                    f"{note} has format {told['format']}, this chat-tui reads {FORMAT}; export it "
                    "again with the same version."
                )
            names = dict(told["channels"])
            days = dict(told.get("more", {}).get(DAYS, {}))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LocalError(f"{note} cannot be read ({error}); export it again.") from error
        named = [str(where) for where, mark in days.items() if mark]
        places = {where for where in named if where.startswith(READ)}
        return cls({str(channel): str(name) for channel, name in names.items()}, places)


def _days(exports: Sequence[Path]) -> Mapping[ChannelId, Mapping[str, list[Path]]]:
    """Return the files of exports by channel and day."""
    found: dict[ChannelId, dict[str, list[Path]]] = {}
    for export in exports:
        for file in sorted((export / HISTORY_DIR).glob("channel=*/day=*/*.parquet")):
            day, channel = file.parent.name, file.parent.parent.name
            of_channel = found.setdefault(ChannelId(channel.removeprefix("channel=")), {})
            of_channel.setdefault(day, []).append(file)
    return found


def _acts(exports: Sequence[Path]) -> Mapping[ChannelId, list[Path]]:
    """Return the files of exports with signed ops, by channel."""
    found: dict[ChannelId, list[Path]] = {}
    for export in exports:
        for file in sorted((export / OPS_DIR).glob("channel=*/*.parquet")):
            channel = ChannelId(file.parent.name.removeprefix("channel="))
            found.setdefault(channel, []).append(file)
    return found


def _found(directory: Path, depth: int) -> Iterator[Path | Consolidated]:
    """Yield exports, and the histories that are among results; a diff's exports are among them."""
    if (directory / NOTE).is_file():
        yield directory
        return
    if history := Consolidated.find(directory):
        yield history
    if depth and directory.is_dir():
        for below in sorted(directory.iterdir()):
            yield from _found(below, depth - 1)
