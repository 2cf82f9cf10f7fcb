"""An export, as files: its tables in Parquet, where they lie, and the note beside them.

    DIR/export.json                                          `Note`: format, nodes, channels
    DIR/history/channel=<hex>/day=<YYYY-MM-DD>/*.parquet     `HISTORY`: what each node holds
    DIR/log/channel=<hex>/day=<YYYY-MM-DD>/*.parquet         `LOG`: what happened at each node
    DIR/governance/channel=<hex>/*.parquet                   `OPS`: signed acts of governance
    DIR/not_let_in/channel=<hex>/*.parquet                   `NOT_LET_IN`: what it kept out

The path lets a reader skip channels and days (UTC, of `created_ns` and of `ts_ns`); all that a row
means stands in its columns. One export may hold several nodes: each row says whose it is. Message
ids and hashes are raw bytes, participants and channels hex.
Everything in an export is untrusted; what is believed is what a signed header says.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec import Struct, field

from sync.machine import SECOND, Nanos

MAJOR: Final = 1
"""One more whenever a reader of the old tables would be wrong; older ones keep a reader."""

MINOR: Final = 3
"""One more with each addition: columns that may be null, tables, kinds, fields of the note."""

FORMAT: Final = f"{MAJOR}.{MINOR}"
"""Of `export.json` and the tables. The number 1 is 1.0."""


def read_format(written: object) -> tuple[int, int]:
    """Return the major and the minor number of a format.

    Raises:
        ValueError: it is no format.
    """
    if type(written) is int:
        return written, 0
    major, minor = str(written).split(".")
    return int(major), int(minor)


NOTE: Final = "export.json"
PROGRESS: Final = ".export.progress"
"""Beside the note while an export is written: who writes it, then a line for each day that is
newer than the note. Hidden, so that readers of the tables pass it by."""

HISTORY_DIR: Final = "history"
HISTORY_FILE: Final = "history.parquet"
"""Of a channel and a day; those of a log have the names of runs."""

LOG_DIR: Final = "log"

OPS_DIR: Final = "governance"
OPS_FILE: Final = "ops.parquet"
NOT_LET_IN_DIR: Final = "not_let_in"
NOT_LET_IN_FILE: Final = "entries.parquet"
"""Of a channel; both since 1.2, and only where somebody governs."""

WAITS: Final = "waits"
"""Label of an entry whose author's cut is not known yet; others are `Dropped`."""

WORLD: Final = "simulated"
"""In the note of a simulated group: its name. People of two groups never met."""

WORLD_ID: Final = "simulation"
"""In the note of a simulated group, which may have several exports: what tells it from others of
its name. Older notes tell them apart by `BOOTS`."""

DAYS: Final = "days"
"""In a note: what is noted of each place that has files; of a log, by the runs of the program."""

LOG_IN_PART: Final = "log_in_part"
"""In the note of an export: it has only the log's rows of some channels, or from some day on."""

BEFORE: Final = "before"
"""In the note of an export that begins on some day: ids of what is held from before it, and what is
in it depends on."""

BOOTS: Final = "boots"
KEPT: Final = "kept"
CLOCK: Final = "clock"
"""See `Note.more`."""

SINCE: Final = "since"
"""In the note of such an export: by channel, from when on it has what was created. What is older
may be held all the same."""

ROW_GROUP: Final = 64 * 1024
"""Rows of a row group, sorted by time: statistics let a reader of some minutes skip the others."""

BIGINT_MAX: Final = 2**63 - 1
"""Unsigned times and clocks above this are cut to it: Parquet readers have signed longs only. The
header has the true one, and what is checked against it is cut the same way. Log numbers are not
cut, but `signed`."""

SYNC_HASH: Final = ("sync_0", "sync_1", "sync_2", "sync_3")
"""The Waku hash as four signed big-endian longs: XOR works on these, not on bytes."""

HISTORY: Final = pa.schema(
    [
        pa.field("node", pa.string(), nullable=False),
        pa.field("channel", pa.string(), nullable=False),
        pa.field("message_id", pa.binary(), nullable=False),
        *(pa.field(name, pa.int64(), nullable=False) for name in SYNC_HASH),
        pa.field("created_ns", pa.int64(), nullable=False),
        pa.field("lamport", pa.int64(), nullable=False),
        pa.field("author", pa.string(), nullable=False),
        pa.field("log", pa.int64(), nullable=False),
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("parents", pa.list_(pa.binary()), nullable=False),
        pa.field("kind", pa.int32(), nullable=False),
        pa.field("delivered", pa.bool_(), nullable=False),
        pa.field("header", pa.binary(), nullable=False),
        pa.field("signature", pa.binary(), nullable=False),
        pa.field("body", pa.binary(), nullable=False),
        # since 1.1
        pa.field("backlink", pa.binary()),
        pa.field("skiplink", pa.binary()),
        pa.field("governance", pa.list_(pa.binary())),
        # since 1.3
        pa.field("reply_to", pa.binary()),
    ]
)
"""Rows sorted by (created_ns, sync hash). What is not `delivered` is held back, and reconciled
all the same. Links and `governance` are those of the header, `reply_to` is what a text answers;
null where there is none, and in older exports."""

LOG: Final = pa.schema(
    [
        pa.field("run", pa.string(), nullable=False),
        pa.field("boot", pa.int64(), nullable=False),
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("ts_ns", pa.int64(), nullable=False),
        pa.field("node", pa.string(), nullable=False),
        pa.field("peer", pa.string()),
        pa.field("channel", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("message_id", pa.binary()),
        pa.field("lamport", pa.int64()),
        pa.field("bytes", pa.int32()),
        pa.field("session", pa.int64()),
        pa.field("round", pa.int32()),
        # since 1.1
        pa.field("mono_ns", pa.int64()),
        pa.field("route", pa.string()),
        pa.field("protocol", pa.string()),
        pa.field("role", pa.string()),
        pa.field("outcome", pa.string()),
        pa.field("items_in", pa.int64()),
        pa.field("items_out", pa.int64()),
        pa.field("estimate", pa.int64()),
        pa.field("reason", pa.string()),
    ]
)
"""`sync.runner.log_rows.LogRow`, sorted by (ts_ns, node, seq)."""

OPS: Final = pa.schema(
    [
        pa.field("node", pa.string(), nullable=False),
        pa.field("channel", pa.string(), nullable=False),
        pa.field("op_id", pa.binary(), nullable=False),
        pa.field("op", pa.binary(), nullable=False),
    ]
)
"""Acts of governance that a node has, as they were signed; of each node ancestors first."""

NOT_LET_IN: Final = pa.schema(
    [
        pa.field("node", pa.string(), nullable=False),
        pa.field("channel", pa.string(), nullable=False),
        pa.field("message_id", pa.binary(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
    ]
)
"""Entries that came to a node and are not in its history, for governance did not let them in: the
label says why, or that they wait (`WAITS`). A node does not lack these."""


class UnknownFormatError(Exception):
    """An export has a format that has no reader here."""


class Note(Struct, frozen=True):
    """Note of an export about itself; `more` is for whoever wrote it (where to go on, and how)."""

    nodes: Sequence[str]
    channels: Mapping[str, str]
    """Names by id; empty where the exporter knows none."""
    hosts: Mapping[str, str]
    """Names of the computers of nodes; several may have one name, see `clocks`."""
    more: Mapping[str, object]
    """Among it, of our exporters, `boots`: every start of a node, with the `first` and the `last`
    seq of its log that were kept, and whether it was `cut_short` by a power cut, which takes up to
    a second of rows after `last`. `first` is above 1 where older rows were rotated away. What was
    left out as wished: `LOG_IN_PART`, `BEFORE` and `SINCE`. `kept`, of each start: the stretches of
    `seq` that the log had whenever all of it was exported (see `storage.archive.seq_ranges`)."""
    clocks: Mapping[str, str] = field(default_factory=dict)
    """The clock that each node goes by, as an id: nodes of one id have one clock. Since 1.1, as all
    below."""
    version: str = ""
    """Version of the program that exported."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """By channel, the name of its profile and the values that it stands for."""
    capabilities: Sequence[str] = ()
    """Protocols of sessions that the exporter speaks."""
    minor: int = MINOR
    """The minor number of its format, as read."""

    @classmethod
    def read(cls, text: str) -> "Note":
        """Return the note that a text is; missing additions are empty.

        Raises:
            ValueError: it is none.
            KeyError: something is missing.
            TypeError: something is of another type.
            UnknownFormatError: its format has no reader here.
        """
        note = json.loads(text)
        major, minor = read_format(note["format"])
        if major != MAJOR:
            raise UnknownFormatError(str(note["format"]))
        return cls(
            list(note["nodes"]),
            dict(note["channels"]),
            dict(note["hosts"]),
            dict(note["more"]),
            dict(note.get("clocks", {})),
            str(note.get("version", "")),
            dict(note.get("parameters", {})),
            list(note.get("capabilities", ())),
            minor,
        )

    def write_files(self, directory: Path) -> None:
        """Write it, all or nothing."""
        written = {
            "format": FORMAT,
            "nodes": list(self.nodes),
            "channels": dict(self.channels),
            "hosts": dict(self.hosts),
            "clocks": dict(self.clocks),
            "version": self.version,
            "parameters": dict(self.parameters),
            "capabilities": list(self.capabilities),
            "more": dict(self.more),
        }
        replace_text(directory / NOTE, json.dumps(written, indent=1) + "\n")


def is_unfinished(directory: Path) -> bool:
    """Return whether days of an export are newer than its note: interrupted, or still going on.

    Raises:
        OSError: that cannot be read.
    """
    try:
        with (directory / PROGRESS).open() as lines:
            return len(list(islice(lines, 2))) > 1
    except FileNotFoundError:
        return False


def replace_text(path: Path, text: str) -> None:
    """Write a small file so that whoever reads it sees the old one or the new one whole.

    After a power cut too: it is on the disk before it takes the old one's place.
    """
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_text(text)
        if isinstance(fresh, Path):  # other places see to that themselves
            with fresh.open("r+b") as file:
                os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)  # half of it, when the disk is full


def partition(table: str, channel: str, day: str) -> Path:
    """Return where rows of a channel and a day lie, inside an export."""
    return Path(table) / f"channel={channel}" / f"day={day}"


def of_channel(table: str, channel: str) -> Path:
    """Return where rows of a channel lie, inside an export, in a table without days."""
    return Path(table) / f"channel={channel}"


def channel_of(where: Path) -> str:
    """Return the channel of a `partition` or of what `of_channel` returns."""
    return where.parts[1].removeprefix("channel=")


def day_of(when: Nanos) -> str:
    """Return the day, in UTC, of a time as it is stored."""
    return datetime.fromtimestamp(min(when, BIGINT_MAX) // SECOND, UTC).date().isoformat()


def signed(number: int) -> int:
    """Return the signed long with the bits of an unsigned one.

    So log numbers are stored, which are 64 random bits: cut, half of them would be one log.
    """
    return number - (number >> 63 << 64)


def sync_words(waku_hash: bytes) -> tuple[int, ...]:
    """Return a 32-byte hash as `SYNC_HASH`."""
    return tuple(
        int.from_bytes(waku_hash[at : at + 8], "big", signed=True) for at in range(0, 32, 8)
    )


def sync_hash(words: Iterable[int]) -> bytes:
    """Return the hash of `sync_words`."""
    return b"".join(word.to_bytes(8, "big", signed=True) for word in words)
