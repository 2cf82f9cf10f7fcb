"""Exports whose logs tell a story that a test made up, row by row."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.tables import LOG, LOG_DIR, partition
from sync.machine import MILLISECOND
from tests.support.storage.archived import export_rows, row_of
from tests.support.sync.entries import CHANNEL, Author

BEGINS: Final = 1_700_000_000_000_000_000

Row = dict[str, Any]

LATER: Final = pa.schema(
    [
        *LOG,
        *(
            pa.field(name, pa.string())
            for name in ("protocol", "outcome", "role", "route", "reason")
            if name not in LOG.names
        ),
    ]
)
"""A log as newer nodes write it."""


class Told:
    """A channel of some people, of whom the first writes two messages; the second builds on it."""

    def __init__(self, *names: str) -> None:
        self.people = {name: Author(name) for name in names}
        writer = self.people[names[0]]
        self.parent = writer.write("the first line", created_ns=BEGINS)
        self.message = writer.write("the second line", created_ns=BEGINS + 1, after=[self.parent])
        self.greetings = [self.people[name].write("hello") for name in names[1:]]
        """Of the others: their names are known by these."""
        self.rows: list[Row] = []
        self._seq = dict.fromkeys(names, 0)

    @property
    def id(self) -> str:
        """The id of the second message."""
        return self.message.entry.message_id

    def key(self, name: str) -> str:
        """The key of somebody."""
        return self.people[name].peer_id

    def note(
        self, ms: float, name: str, kind: str, peer: str | None = None, **more: object
    ) -> None:
        """Add a row to a node's log, of the second message unless told."""
        self._seq[name] += 1
        row: Row = {
            "run": f"run of {name}",
            "boot": 1,
            "seq": self._seq[name],
            "ts_ns": BEGINS + int(ms * MILLISECOND),
            "node": self.key(name),
            "peer": self.key(peer) if peer else None,
            "channel": CHANNEL,
            "kind": kind,
            "message_id": bytes.fromhex(self.message.entry.message_id),
        }
        self.rows.append(row | more)

    def there(self, *names: str, until_ms: float = 60_000) -> None:
        """Let nodes be there from before the message until a time."""
        for name in names:
            for ms in (-1000.0, until_ms):
                self.note(ms, name, "session round", message_id=None)

    def export(self, directory: Path, holders: Iterable[str]) -> Path:
        """Write the export; these hold both messages."""
        held = [
            row_of(message, self.key(name))
            for message in (self.parent, self.message)
            for name in holders
        ] + [row_of(greeting, greeting.entry.header.author) for greeting in self.greetings]
        keys = [self.key(name) for name in self.people]
        export_rows(directory, held, keys, {CHANNEL: "plans"})
        where = directory / partition(LOG_DIR, CHANNEL, "2023-11-14")
        where.mkdir(parents=True)
        ordered = sorted(self.rows, key=lambda row: int(row["ts_ns"]))
        pq.write_table(pa.Table.from_pylist(ordered, LATER), where / "log.parquet")
        return directory
