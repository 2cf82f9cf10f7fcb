"""The protocol logs of a world's nodes, written down as live nodes do it: once in a second.

Rule: what a node noted and had not written when it crashed is gone, as in a power cut. Its next
boot begins at 1 again, so that shows in no hole; `Boot.cut_short` says it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sync.machine import SECOND, Nanos, PeerId
from sync.runner.log_notes import Chunk, rows_of
from sync.runner.log_rows import LogRow
from sync.runner.logbook import Logbook
from sync.sim.node import Node

EVERY: Final[Nanos] = SECOND
"""Between two times that rows are written down."""

Sink = Callable[[Sequence[LogRow]], None]
"""Is given rows, sorted by (ts_ns, node, seq), later ones with every call."""


@dataclass(slots=True)
class Boot:
    """One start of a node: how many rows it wrote down, and whether a crash took some."""

    node: PeerId
    boot: int
    logbook: Logbook
    rows: int = 0
    cut_short: bool = False


class Recording:
    """Writes down what the logbooks of a world note; `run` names the world."""

    def __init__(self, run: str, sink: Sink) -> None:
        self.run = run
        self.boots: list[Boot] = []
        self._sink = sink
        self._open: dict[int, Boot] = {}

    def started(self, node: Node) -> Logbook:
        """A node starts; returns what it notes in."""
        boot = Boot(node.identity.peer_id, node.incarnation + 1, Logbook(anchor=0))
        self.boots.append(boot)
        self._open[node.number] = boot
        return boot.logbook

    def crashed(self, number: int) -> None:
        """A node loses power: what it has not written down is gone."""
        boot = self._open.pop(number)
        boot.cut_short = bool(boot.logbook.take_chunks())

    def write_exports(self) -> None:
        """Write down what was noted since the last time."""
        rows: list[LogRow] = []
        for boot in self._open.values():
            chunks: Sequence[Chunk] = boot.logbook.take_chunks()
            before = len(rows)
            rows += rows_of(chunks, self.run, boot.boot, boot.node, boot.logbook.anchor)
            boot.rows += len(rows) - before
        rows.sort(key=lambda row: (row.ts_ns, row.node, row.seq))
        if rows:
            self._sink(rows)
