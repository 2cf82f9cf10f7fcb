"""Exports and histories of what a test made, written by the tables alone."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.consolidated import IN_FILES
from storage.archive.tables import (
    HISTORY,
    HISTORY_DIR,
    LOG,
    LOG_DIR,
    Note,
    day_of,
    partition,
    sync_words,
)
from sync.group.values import StoredMessage

Row = dict[str, Any]

LOGGED: Row = {
    "run": "test",
    "boot": 1,
    "seq": 1,
    "ts_ns": 5,
    "node": "ab",
    "channel": "0010",
    "kind": "sent",
    "message_id": b"\x01" * 32,
}
"""A row of `LOG`."""


def row_of(message: StoredMessage, node: str = "a") -> Row:
    """A row of `HISTORY`."""
    entry, header = message.entry, message.entry.header
    words = dict(zip(HISTORY.names[3:7], sync_words(message.waku_hash), strict=True))
    return {
        "node": node,
        "channel": message.channel,
        "message_id": bytes.fromhex(entry.message_id),
        **words,
        "created_ns": header.created_ns,
        "lamport": header.lamport,
        "author": header.author,
        "log": header.log,
        "seq": header.seq,
        "parents": [bytes.fromhex(parent.message_id) for parent in header.parents],
        "kind": header.kind,
        "delivered": True,
        "header": entry.header_bytes,
        "signature": entry.signature,
        "body": entry.body,
    }


def export_rows(
    directory: Path,
    rows: Iterable[Row],
    nodes: Sequence[str] = ("a",),
    names: Mapping[str, str] | None = None,
    schema: pa.Schema = HISTORY,
) -> Path:
    """Write an export with these rows, wherever they say they belong; returns `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    Note(nodes, names or {}, {}, {}).write_files(directory)

    def place(row: Row) -> tuple[str, str]:
        return str(row.get("in_channel", row["channel"])), day_of(row["created_ns"] or 0)

    for (channel, day), together in groupby(sorted(rows, key=place), place):
        where = directory / partition(HISTORY_DIR, channel, day)
        where.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pylist(list(together), schema)
        number = len(list(where.iterdir()))
        pq.write_table(table, where / f"{number}.parquet")
    return directory


def export(
    directory: Path, messages: Iterable[StoredMessage], nodes: Sequence[str] = ("a",)
) -> Path:
    """Write an export in which each node holds these messages; returns `directory`."""
    held = list(messages)
    return export_rows(directory, [row_of(one, node) for node in nodes for one in held], nodes)


def consolidated_rows(
    out: Path,
    rows: Iterable[Row],
    names: Mapping[str, str] | None = None,
    size: int = 100,
    schema: pa.Schema = IN_FILES,
) -> Path:
    """Write results of `consolidate` with these rows, `size` a file; returns `out`."""
    run = out / "runs" / "consolidate-1"
    (run / HISTORY_DIR).mkdir(parents=True)

    def place(row: Row) -> str:
        return str(row.get("in_channel", row["channel"]))

    for channel, together in groupby(sorted(rows, key=place), place):
        where = run / HISTORY_DIR / f"channel={channel}"
        where.mkdir()
        ordered = sorted(together, key=lambda row: (row["lamport"], row["message_id"]))
        for first in range(0, len(ordered), size):
            table = pa.Table.from_pylist(ordered[first : first + size], schema)
            pq.write_table(table, where / f"part-{first // size:05d}.parquet")
    (run / "channels.json").write_text(json.dumps(names or {}))
    jobs = {"consolidate": {"directory": "runs/consolidate-1", "figures": {}}}
    (out / "manifest.json").write_text(json.dumps({"format": 1, "jobs": jobs}))
    return out


def consolidated(out: Path, messages: Iterable[StoredMessage], size: int = 100) -> Path:
    """Write results of `consolidate` that hold these messages; returns `out`."""
    return consolidated_rows(out, map(row_of, messages), size=size)


def export_log(directory: Path, table: pa.Table | None = None) -> Path:
    """Write an export whose log is one file, with `LOGGED` unless told; returns the file."""
    where = directory / partition(LOG_DIR, "0010", "1970-01-01")
    where.mkdir(parents=True, exist_ok=True)
    Note(["ab"], {}, {}, {}).write_files(directory)
    path = where / "a.parquet"
    pq.write_table(pa.Table.from_pylist([LOGGED], LOG) if table is None else table, path)
    return path
