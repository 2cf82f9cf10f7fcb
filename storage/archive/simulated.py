"""`chat-tui sim --export`: exports all nodes of a simulated group.

One export holds all nodes, or each node has one; all go by the clock of their world. `run` of the
protocol log is the seed's.
"""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from storage.archive import about
from storage.archive.layout import Layout
from storage.archive.parquet import (
    TableFile,
    history_row,
    log_row,
    make_directory,
    whole,
    writable,
)
from storage.archive.tables import (
    BOOTS,
    HISTORY,
    HISTORY_DIR,
    HISTORY_FILE,
    LOG,
    LOG_DIR,
    NOT_LET_IN,
    NOT_LET_IN_DIR,
    NOT_LET_IN_FILE,
    OPS,
    OPS_DIR,
    OPS_FILE,
    WAITS,
    WORLD,
    WORLD_ID,
    Note,
    day_of,
    of_channel,
    partition,
)
from sync.entries.entry import Entry
from sync.errors import LocalError
from sync.group.status import Status
from sync.machine import ChannelId, PeerId
from sync.runner.log_rows import LogRow
from sync.sim.disk import Disk
from sync.sim.node import Node
from sync.sim.recording import Recording
from sync.sim.scenario import Recorded

CHANNEL_NAME = "sim"
"""Name of a world's only channel."""

OPEN_MAX: Final = 800
"""Files of logs open at once; a process may have 1024."""


class SimulatedExport:
    """Writes the export of one world into `directory`, which must be new or empty.

    A context manager: if its block raises, nothing stays.

    Raises:
        LocalError: it is not, or cannot be written.
    """

    def __init__(self, directory: Path, seed: int, layout: Layout = Layout.ONE) -> None:
        self._directory = directory
        self._layout = layout
        self._stack = ExitStack()
        self._files = ExitStack()
        self._log: dict[tuple[Path, ChannelId, str], TableFile] = {}
        self._recording = Recording(f"sim-{seed}", self._add_log)
        self.recorded = Recorded(self._recording, self._ended)
        """Arguments of `sync.sim.scenario.run`."""

    def __enter__(self) -> Self:
        with writable(self._directory):
            self._stack.enter_context(whole(self._directory))
        self._stack.enter_context(self._files)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with writable(self._directory):
            self._stack.__exit__(kind, error, trace)

    def _add_log(self, rows: Sequence[LogRow]) -> None:
        with writable(self._directory):
            for row in rows:
                export = self._export_of(row.node)
                self._log_file(export, row.channel, day_of(row.ts_ns)).add(log_row(row))

    def _export_of(self, node: PeerId) -> Path:
        """Return the directory of the export that has the rows of a node."""
        if self._layout is Layout.NODES:
            return self._directory / node
        return self._directory

    def _log_file(self, export: Path, channel: ChannelId, day: str) -> TableFile:
        place = export, channel, day
        file = self._log.get(place)
        if file is None:
            if len(self._log) >= OPEN_MAX:
                raise LocalError(
                    f"One export a node has too many files for so many nodes: name fewer of them, "
                    f"or --layout {Layout.ONE}."
                )
            where = export / partition(LOG_DIR, channel, day)
            file = self._files.enter_context(TableFile(where / "log.parquet", LOG))
            self._log[place] = file
        return file

    def _ended(self, nodes: Sequence[Node]) -> None:
        with writable(self._directory):
            self._files.close()
            exports: dict[Path, list[Node]] = {}
            for node in nodes:
                exports.setdefault(self._export_of(node.identity.peer_id), []).append(node)
            world_id = sha256(json.dumps(self._boots()).encode()).hexdigest()
            for export, of_it in exports.items():
                self._write_export(export, of_it, world_id)

    def _write_export(self, export: Path, nodes: Sequence[Node], world_id: str) -> None:
        """Write the history of some nodes, and the note of their export."""
        ids = [node.identity.peer_id for node in nodes]
        make_directory(export)
        channels = self._write_history(export, nodes)
        _write_governance(export, nodes)
        boots = [boot for boot in self._boots() if boot["node"] in ids]
        Note(
            nodes=ids,
            channels=dict.fromkeys(sorted(channels), CHANNEL_NAME),
            hosts=dict.fromkeys(ids, self._recording.run),
            more={WORLD: self._recording.run, WORLD_ID: world_id, BOOTS: boots},
            clocks=dict.fromkeys(ids, self._recording.run),
            version=about.version(),
            capabilities=about.capabilities(),
        ).write_files(export)

    def _boots(self) -> list[dict[str, object]]:
        """Return every start of a node: how many rows it wrote, and whether a crash took some."""
        return [
            {
                "run": self._recording.run,
                "node": one.node,
                "boot": one.boot,
                "first": 1,
                "last": one.rows,
                "cut_short": one.cut_short,
            }
            for one in self._recording.boots
        ]

    def _write_history(self, export: Path, nodes: Sequence[Node]) -> set[ChannelId]:
        """Write what is on the disks, a day at a time; returns the channels there are."""
        held: dict[tuple[ChannelId, str], set[tuple[int, bytes]]] = {}
        entries: dict[tuple[int, bytes], Entry] = {}
        for node in nodes:
            for row in chain(*[disk.rows.values() for disk in node.disks.values()]):
                if row.status is not Status.PARKED:
                    header = row.message.entry.header
                    place = (header.created_ns, row.message.waku_hash)
                    entries[place] = row.message.entry
                    day = held.setdefault((header.channel_id, day_of(header.created_ns)), set())
                    day.add(place)
        for (channel, day_name), places in sorted(held.items()):
            where = export / partition(HISTORY_DIR, channel, day_name)
            with TableFile(where / HISTORY_FILE, HISTORY) as file:
                for place in sorted(places):
                    entry = entries[place]
                    for node in nodes:
                        disk = node.disks.get(channel)
                        kept = None if disk is None else disk.rows.get(entry.message_id)
                        if kept is not None and kept.status is not Status.PARKED:
                            delivered = kept.status is Status.DELIVERED
                            me = node.identity.peer_id
                            file.add(history_row(me, entry, place[1], delivered=delivered))
        return {channel for channel, _ in held}


def _write_governance(export: Path, nodes: Sequence[Node]) -> None:
    """Write the acts that are on the disks, and the entries that were not let in."""
    disks: dict[ChannelId, list[tuple[PeerId, Disk]]] = {}
    for node in nodes:
        for channel, disk in node.disks.items():
            if disk.ops:
                disks.setdefault(channel, []).append((node.identity.peer_id, disk))
    for channel, of_it in sorted(disks.items()):
        with TableFile(export / of_channel(OPS_DIR, channel) / OPS_FILE, OPS) as file:
            for me, disk in of_it:
                file.add_all((me, channel, one, op.content) for one, op in disk.ops.items())
        where = export / of_channel(NOT_LET_IN_DIR, channel) / NOT_LET_IN_FILE
        with TableFile(where, NOT_LET_IN) as file:
            for me, disk in of_it:
                labels = dict.fromkeys(disk.pending, WAITS)
                labels |= {one: label.value for one, label in disk.dropped.items()}
                for one, label in sorted(labels.items()):
                    file.add((me, channel, bytes.fromhex(one), label))
