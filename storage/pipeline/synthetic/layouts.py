"""Writers of a made data set in each of `storage.archive.layout`."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from storage.archive import about, tables
from storage.archive.layout import NAME_CHARS, Layout
from storage.archive.parquet import TableFile
from storage.archive.tables import HISTORY, HISTORY_DIR, LOG, LOG_DIR, ROW_GROUP, Note
from storage.pipeline.synthetic.files import (
    CODED_HISTORY,
    CODED_LOG,
    RUN,
    HistoryTable,
    LogTable,
    Rows,
    of_days,
)
from sync.machine import ChannelId

PART: Final = "part-0.parquet"
HISTORY_FILE: Final = "history.parquet"
LOG_FILE: Final = f"{RUN}.parquet"

HOST: Final = "synthetic"
"""All nodes have one clock."""

Batches = Iterable[tuple[Rows, pa.Table]]


@dataclass(frozen=True, slots=True)
class Held:
    """Holdings of a channel, and what of them is delivered: matrices of (message, member)."""

    held: NDArray[np.bool_]
    delivered: NDArray[np.bool_]
    members: Rows
    false: Mapping[tuple[int, int], str]
    """Kind of each false row, by message and member."""

    def of(self, member: int) -> "Held":
        """Return the same of one member."""
        false = {(at, 0): kind for (at, who), kind in self.false.items() if who == member}
        only = slice(member, member + 1)
        return Held(self.held[:, only], self.delivered[:, only], self.members[only], false)


class Writer(Protocol):
    """Writes tables in one of the layouts."""

    def write_history(self, channel: ChannelId, table: HistoryTable, held: Held) -> None:
        """Write what all members of a channel hold."""

    def write_log(self, channel: ChannelId, table: LogTable, rows: Rows) -> None:
        """Write the rows of a channel's logs that have these numbers."""

    def write_notes(self, nodes: Sequence[str], names: Mapping[str, str]) -> None:
        """Write the notes, by which directories are exports; `names` are those of channels."""


def writer_of(layout: Layout, directory: Path, nodes: Sequence[str]) -> Writer:
    """Return the writer of a layout."""
    if layout is Layout.NODES:
        return OneEach(directory, nodes)
    return Together(directory)


class Together:
    """One export of all nodes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def write_history(self, channel: ChannelId, table: HistoryTable, held: Held) -> None:
        """See `Writer`."""
        rows = table.rows(held.held, held.delivered, held.members, held.false)
        self._write(HISTORY_DIR, channel, CODED_HISTORY, rows)

    def write_log(self, channel: ChannelId, table: LogTable, rows: Rows) -> None:
        """See `Writer`."""
        self._write(LOG_DIR, channel, CODED_LOG, table.rows(rows, channel))

    def write_notes(self, nodes: Sequence[str], names: Mapping[str, str]) -> None:
        """See `Writer`."""
        Note(nodes, names, dict.fromkeys(nodes, HOST), {}).write_files(self._directory)

    def _write(self, table: str, channel: ChannelId, schema: pa.Schema, rows: Batches) -> None:
        for day, batches in groupby(of_days(rows), itemgetter(0)):
            path = self._directory / tables.partition(table, channel, day) / PART
            path.parent.mkdir(parents=True, exist_ok=True)
            # readers see plain columns, as in every other export
            with pq.ParquetWriter(path, schema, store_schema=False) as writer:
                for _, batch in batches:
                    writer.write_table(batch, row_group_size=ROW_GROUP)


class OneEach:
    """One export a node, several written at a time."""

    def __init__(self, directory: Path, nodes: Sequence[str]) -> None:
        self._exports = [directory / node[:NAME_CHARS] for node in nodes]
        self._channels: list[set[ChannelId]] = [set() for _ in nodes]

    def write_history(self, channel: ChannelId, table: HistoryTable, held: Held) -> None:
        """See `Writer`."""

        def write(member: int) -> None:
            one = held.of(member)
            rows = table.rows(one.held, one.delivered, one.members, one.false)
            self._write(int(held.members[member]), HISTORY_DIR, channel, HISTORY_FILE, rows)

        _at_once(partial(write, member) for member in range(len(held.members)))

    def write_log(self, channel: ChannelId, table: LogTable, rows: Rows) -> None:
        """See `Writer`."""
        owners = table.events.node[rows]
        order = np.argsort(owners, kind="stable")
        edges = np.searchsorted(owners[order], np.arange(len(self._exports) + 1))

        def write(node: int) -> None:
            mine = rows[order[edges[node] : edges[node + 1]]]
            self._write(node, LOG_DIR, channel, LOG_FILE, table.rows(mine, channel))

        _at_once(partial(write, node) for node in np.unique(owners).tolist())

    def write_notes(self, nodes: Sequence[str], names: Mapping[str, str]) -> None:
        """See `Writer`."""
        for node, export, channels in zip(nodes, self._exports, self._channels, strict=True):
            export.mkdir(exist_ok=True)  # who is in no channel has an export too
            Note(
                [node],
                {channel: names[channel] for channel in sorted(channels)},
                {node: HOST},
                {},
                {node: HOST},
                version=about.version(),
                capabilities=about.capabilities(),
            ).write_files(export)

    def _write(self, node: int, table: str, channel: ChannelId, name: str, rows: Batches) -> None:
        schema = HISTORY if table == HISTORY_DIR else LOG
        for day, batches in groupby(of_days(rows), itemgetter(0)):
            path = self._exports[node] / tables.partition(table, channel, day) / name
            with TableFile(path, schema) as file:
                for _, batch in batches:
                    file.add_table(batch.cast(schema))
        self._channels[node].add(channel)


def _at_once(jobs: Iterable[Callable[[], None]]) -> None:
    """Do each, as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting: Iterator[object] = pool.map(lambda job: job(), jobs)
        for _ in waiting:
            pass
