"""`chat-tui sim --export`: exports all nodes of a simulated group.

One export holds all nodes, which go by the clock of their world. `run` of the protocol log is the
seed's.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from storage.archive import about
from storage.archive.parquet import TableFile, history_row, log_row, whole, writable
from storage.archive.tables import (
    BOOTS,
    HISTORY,
    HISTORY_DIR,
    HISTORY_FILE,
    LOG,
    LOG_DIR,
    WORLD,
    Note,
    day_of,
    partition,
)
from sync.entries.entry import Entry
from sync.group.status import Status
from sync.machine import ChannelId
from sync.runner.log_rows import LogRow
from sync.sim.node import Node
from sync.sim.recording import Recording
from sync.sim.scenario import Recorded

CHANNEL_NAME = "sim"
"""Name of a world's only channel."""


class SimulatedExport:
    """Writes the export of one world into `directory`, which must be new or empty.

    A context manager: if its block raises, nothing stays.

    Raises:
        LocalError: it is not, or cannot be written.
    """

    def __init__(self, directory: Path, seed: int) -> None:
        self._directory = directory
        self._stack = ExitStack()
        self._files = ExitStack()
        self._log: dict[tuple[ChannelId, str], TableFile] = {}
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
                self._log_file(row.channel, day_of(row.ts_ns)).add(log_row(row))

    def _log_file(self, channel: ChannelId, day: str) -> TableFile:
        file = self._log.get((channel, day))
        if file is None:
            where = self._directory / partition(LOG_DIR, channel, day)
            file = self._files.enter_context(TableFile(where / "log.parquet", LOG))
            self._log[channel, day] = file
        return file

    def _ended(self, nodes: Sequence[Node]) -> None:
        with writable(self._directory):
            self._files.close()
            channels = self._write_history(nodes)
            Note(
                nodes=[node.identity.peer_id for node in nodes],
                channels=dict.fromkeys(sorted(channels), CHANNEL_NAME),
                hosts={node.identity.peer_id: self._recording.run for node in nodes},
                more={WORLD: self._recording.run, BOOTS: self._boots()},
                clocks={node.identity.peer_id: self._recording.run for node in nodes},
                version=about.version(),
                capabilities=about.capabilities(),
            ).write_files(self._directory)

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

    def _write_history(self, nodes: Sequence[Node]) -> set[ChannelId]:
        """Write what is on the disks, a day at a time; returns the channels there are."""
        held: dict[tuple[ChannelId, str], set[tuple[int, bytes]]] = {}
        entries: dict[tuple[int, bytes], Entry] = {}
        for node in nodes:
            for row in node.disk.rows.values():
                if row.status is not Status.PARKED:
                    header = row.message.entry.header
                    place = (header.created_ns, row.message.waku_hash)
                    entries[place] = row.message.entry
                    day = held.setdefault((header.channel_id, day_of(header.created_ns)), set())
                    day.add(place)
        for (channel, day_name), places in sorted(held.items()):
            where = self._directory / partition(HISTORY_DIR, channel, day_name)
            with TableFile(where / HISTORY_FILE, HISTORY) as file:
                for place in sorted(places):
                    entry = entries[place]
                    for node in nodes:
                        kept = node.disk.rows.get(entry.message_id)
                        if kept is not None and kept.status is not Status.PARKED:
                            delivered = kept.status is Status.DELIVERED
                            me = node.identity.peer_id
                            file.add(history_row(me, entry, place[1], delivered=delivered))
        return {channel for channel, _ in held}
