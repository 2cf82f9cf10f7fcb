"""Writers of a made data set in each of `storage.archive.layout`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from storage.archive import about
from storage.archive.layout import Layout
from storage.archive.parquet import TableFile, make_directory
from storage.archive.tables import (
    BOOTS,
    CLOCK,
    HISTORY,
    HISTORY_DIR,
    HISTORY_FILE,
    KEPT,
    LOG,
    LOG_DIR,
    ROW_GROUP,
    Note,
    day_of,
    partition,
)
from storage.pipeline.synthetic.files import (
    CODED_HISTORY,
    CODED_LOG,
    RUN,
    HistoryTable,
    LogTable,
    Rows,
)
from sync.machine import DAY, ChannelId

HOST: Final = "synthetic"
"""All nodes have one clock."""

FILE: Final = "part-0.parquet"
"""Of a channel and a day in the export of all nodes."""

WRITERS: Final = 4
"""Threads that write exports of nodes: each waits for the disk after each file."""

Batches = Iterable[tuple[Rows, pa.Table]]
"""(time of each row, rows), in order of time."""


class Holdings:
    """Messages that the members of a channel hold; matrices are of (message, member)."""

    def __init__(
        self,
        table: HistoryTable,
        held: NDArray[np.bool_],
        delivered: NDArray[np.bool_],
        members: Rows,
        false: Mapping[tuple[int, int], str],
    ) -> None:
        self.channel = table.messages[0].channel
        self.members = members
        self._table = table
        self._held = held
        self._delivered = delivered
        self._false = false

    def of_all(self) -> Batches:
        """Return the rows of all members."""
        return self._table.rows(self._held, self._delivered, self.members, self._false)

    def of_one(self, member: int) -> Batches:
        """Return the rows of one member."""
        false = {(at, 0): kind for (at, who), kind in self._false.items() if who == member}
        one = [member]
        return self._table.rows(
            self._held[:, one], self._delivered[:, one], self.members[one], false
        )


class Writer(Protocol):
    """Writes a data set in some layout, channel after channel, each history before any log."""

    def write_history(self, holdings: Holdings) -> None:
        """Write what the members of a channel hold."""

    def write_log(self, table: LogTable, rows: Rows, channel: ChannelId) -> None:
        """Write rows of the log of a channel."""

    def finish(self, names: Mapping[str, str]) -> None:
        """Write the notes, with the names of channels: only with them it is an export."""


class OneExport:
    """Writes one export of all nodes."""

    def __init__(self, directory: Path, nodes: Sequence[str]) -> None:
        self._directory = directory
        self._nodes = nodes

    def write_history(self, holdings: Holdings) -> None:
        """Write what the members of a channel hold."""
        self._write(HISTORY_DIR, holdings.channel, CODED_HISTORY, holdings.of_all())

    def write_log(self, table: LogTable, rows: Rows, channel: ChannelId) -> None:
        """Write rows of the log of a channel."""
        self._write(LOG_DIR, channel, CODED_LOG, table.rows(rows, channel))

    def finish(self, names: Mapping[str, str]) -> None:
        """Write the note."""
        hosts = dict.fromkeys(self._nodes, HOST)
        Note(self._nodes, names, hosts, {}).write_files(self._directory)

    def _write(self, table: str, channel: ChannelId, schema: pa.Schema, batches: Batches) -> None:
        with ExitStack() as open_file:
            writer: pq.ParquetWriter | None = None
            last = None
            for day, rows in _by_day(batches):
                if writer is None or day != last:
                    open_file.close()
                    path = self._directory / partition(table, channel, day) / FILE
                    path.parent.mkdir(parents=True, exist_ok=True)
                    # readers see plain columns, as in every other export
                    writer = pq.ParquetWriter(path.absolute(), schema, store_schema=False)
                    open_file.enter_context(writer)
                writer.write_table(rows, row_group_size=ROW_GROUP)
                last = day


class NodeExports:
    """Writes an export a node; several at a time, each with the rows of one channel in memory."""

    def __init__(self, directory: Path, nodes: Sequence[str]) -> None:
        self._directory = directory
        self._nodes = nodes
        self._channels: dict[int, set[str]] = {}
        self._boots: dict[tuple[int, int], tuple[int, int]] = {}
        """By node and start: the first and the last `seq` of its log."""

    def write_history(self, holdings: Holdings) -> None:
        """Write what the members of a channel hold."""

        def write(member: int) -> None:
            where = holdings.channel, HISTORY_FILE
            rows = holdings.of_one(member)
            self._write(int(holdings.members[member]), HISTORY_DIR, where, HISTORY, rows)

        self._note(holdings.channel, holdings.members)
        _several(write, range(len(holdings.members)))

    def write_log(self, table: LogTable, rows: Rows, channel: ChannelId) -> None:
        """Write rows of the log of a channel."""
        nodes = table.events.node[rows]
        order = np.argsort(nodes, kind="stable")
        parts = np.split(rows[order], np.flatnonzero(np.diff(nodes[order])) + 1)

        def write(part: Rows) -> None:
            where = channel, f"{RUN}.parquet"
            node = int(table.events.node[part[0]])
            self._write(node, LOG_DIR, where, LOG, table.rows(part, channel))

        parts = [part for part in parts if len(part)]
        self._note(channel, nodes)
        for part in parts:
            self._note_boots(table, part)
        _several(write, parts)

    def finish(self, names: Mapping[str, str]) -> None:
        """Write the note of each node, also of one that is in no channel."""
        for node, name in enumerate(self._nodes):
            channels = sorted(self._channels.get(node, ()))
            directory = self._directory / name
            make_directory(directory)
            Note(
                nodes=[name],
                channels={channel: names[channel] for channel in channels},
                hosts={name: HOST},
                more={BOOTS: self._boots_of(node)},
                clocks={name: HOST},
                version=about.version(),
                capabilities=about.capabilities(),
            ).write_files(directory)

    def _note(self, channel: ChannelId, nodes: NDArray[Any]) -> None:
        for node in np.unique(nodes):
            self._channels.setdefault(int(node), set()).add(channel)

    def _note_boots(self, table: LogTable, rows: Rows) -> None:
        node = int(table.events.node[rows[0]])
        for boot in np.unique(table.boot[rows]):
            seqs = table.seq[rows[table.boot[rows] == boot]]
            first, last = int(seqs.min()), int(seqs.max())
            known = self._boots.get((node, int(boot)), (first, last))
            self._boots[node, int(boot)] = min(first, known[0]), max(last, known[1])

    def _boots_of(self, node: int) -> list[dict[str, object]]:
        return [
            {
                "run": RUN,
                "node": self._nodes[node],
                "boot": boot,
                "first": first,
                "last": last,
                "cut_short": False,
                CLOCK: HOST,
                KEPT: [[first, last]],
            }
            for (of, boot), (first, last) in sorted(self._boots.items())
            if of == node
        ]

    def _write(
        self,
        node: int,
        table: str,
        where: tuple[ChannelId, str],
        schema: pa.Schema,
        batches: Batches,
    ) -> None:
        channel, name = where
        with ExitStack() as open_file:
            file: TableFile | None = None
            last = None
            for day, rows in _by_day(batches):
                if file is None or day != last:
                    open_file.close()
                    path = self._directory / self._nodes[node] / partition(table, channel, day)
                    file = open_file.enter_context(TableFile(path / name, schema))
                for batch in rows.cast(schema).to_batches():
                    file.add_columns(batch)
                last = day


LAYOUTS: Final[Mapping[Layout, Callable[[Path, Sequence[str]], Writer]]] = {
    Layout.ONE: OneExport,
    Layout.NODES: NodeExports,
}


def _by_day(batches: Batches) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of batches by day."""
    for times, batch in batches:
        edges = [0, *(np.flatnonzero(np.diff(times // DAY)) + 1).tolist(), len(times)]
        for begin, end in pairwise(edges):
            yield day_of(int(times[begin])), batch.slice(begin, end - begin)


def _several(write: Callable[[Any], None], things: Iterable[Any]) -> None:
    """Write several at a time; the first problem of one ends all."""
    with ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(write, things):
            pass
