"""Exports on their way in: found, and read row by row without Spark; nothing in them is believed.

Rows of one channel come by time of creation, whichever file they are in, because what a message
names was mostly created before it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from storage.tables import FORMAT, HISTORY_DIR, NOTE
from sync.errors import LocalError
from sync.machine import ChannelId

DEPTH: Final = 3
"""Levels below what is named at which exports are found: DIR, DIR/node, DIR/host/node."""

BATCH: Final = 256
"""Rows of a file in memory at once: 16 MB, if all are of the largest size."""

FILES_AT_ONCE: Final = 128
"""Files of one day that are open together: a process may have 1024."""

COLUMNS: Final = ("channel", "message_id", "created_ns", "header", "signature", "body")


class Row(NamedTuple):
    """What is read of a row of `HISTORY`; a file may hold anything, so any of it may be missing."""

    created_ns: int
    channel: object
    message_id: object
    header: object
    signature: object
    body: object


@dataclass(frozen=True, slots=True)
class Archive:
    """The exports in and below a directory: the files of each channel, day by day."""

    days: Mapping[ChannelId, Sequence[Sequence[Path]]]
    names: Mapping[str, str]
    """Names of channels by id, as the exporter knew them."""

    @classmethod
    def find(cls, directory: Path) -> "Archive":
        """Find the exports in and below a directory.

        Raises:
            LocalError: there are none, or one cannot be read, or has another format.
        """
        names: dict[str, str] = {}
        files: dict[ChannelId, dict[str, list[Path]]] = {}
        exports = list(_exports(directory, DEPTH))
        if not exports:
            raise LocalError(
                f"No export in {directory}: no {NOTE} there. `chat-tui export DIR` makes one."
            )
        for export in exports:
            names |= _names(export / NOTE)
            for file in sorted((export / HISTORY_DIR).glob("channel=*/day=*/*.parquet")):
                day, channel = file.parent.name, file.parent.parent.name
                of_channel = files.setdefault(ChannelId(channel.removeprefix("channel=")), {})
                of_channel.setdefault(day, []).append(file)
        days = {
            channel: [of_channel[day] for day in sorted(of_channel)]
            for channel, of_channel in sorted(files.items())
        }
        return cls(days, names)

    def only(self, channels: Sequence[ChannelId]) -> "Archive":
        """Return what there is of some channels."""
        days = {channel: self.days[channel] for channel in channels if channel in self.days}
        return Archive(days, self.names)

    def count(self, channel: ChannelId) -> int:
        """Return how many rows of a channel there are, by the files' footers.

        Raises:
            LocalError: a file cannot be read.
        """
        return sum(_opened(file).metadata.num_rows for file in chain(*self.days[channel]))

    def rows(self, channel: ChannelId) -> Iterator[Row]:
        """Yield the rows of a channel, day by day, by time of creation.

        Raises:
            LocalError: a file cannot be read.
        """
        for files in self.days[channel]:
            for first in range(0, len(files), FILES_AT_ONCE):
                together = files[first : first + FILES_AT_ONCE]
                yield from merge(*map(_rows, together), key=lambda row: row.created_ns)


def _rows(file: Path) -> Iterator[Row]:
    source = _opened(file)
    try:
        for batch in source.iter_batches(batch_size=BATCH, columns=list(COLUMNS)):
            columns = [batch.column(name).to_pylist() for name in COLUMNS]
            for channel, message_id, created_ns, *content in zip(*columns, strict=True):
                when = created_ns if isinstance(created_ns, int) else 0
                yield Row(when, channel, message_id, *content)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise _unreadable(file, error) from error


def _opened(file: Path) -> pq.ParquetFile:
    try:
        source = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error
    lacking = set(COLUMNS) - set(source.schema_arrow.names)
    if lacking:
        raise _unreadable(file, f"it has no column {', '.join(sorted(lacking))}")
    return source


def _unreadable(file: Path, why: object) -> LocalError:
    [first, *_] = str(why).splitlines() or ["no reason given"]
    return LocalError(
        f"{file} cannot be read ({first}). Copy it again, or export it again; what was imported "
        "before it is here, and is not imported twice."
    )


def _names(note: Path) -> Mapping[str, str]:
    try:
        told = json.loads(note.read_text())
        written, names = told["format"], dict(told["channels"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LocalError(f"{note} cannot be read ({error}); export it again.") from error
    if written != FORMAT:
        raise LocalError(
            f"{note} has format {written}, this chat-tui reads {FORMAT}; export it again with the "
            "same version."
        )
    return {str(channel): str(name) for channel, name in names.items()}


def _exports(directory: Path, depth: int) -> Iterator[Path]:
    if (directory / NOTE).is_file():
        yield directory
    elif depth and directory.is_dir():
        for below in sorted(directory.iterdir()):
            yield from _exports(below, depth - 1)
