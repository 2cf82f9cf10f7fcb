"""Exports whose nodes have clocks of their own, some of them wrong."""

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.tables import LOG, LOG_DIR, NOTE
from sync.machine import Nanos


def with_clocks(export: Path, copy: Path, ahead: Mapping[str, Nanos]) -> Path:
    """Copy an export to where each node has its own clock, some of them ahead of the right time."""
    shutil.copytree(export, copy)
    note = json.loads((copy / NOTE).read_text())
    note["hosts"] = {node: f"host of {node}" for node in note["nodes"]}
    (copy / NOTE).write_text(json.dumps(note))
    for path in (copy / LOG_DIR).rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        nodes = table.column("node").to_pylist()
        moved = table.column("ts_ns").to_numpy() + np.array([ahead.get(node, 0) for node in nodes])
        at = table.schema.get_field_index("ts_ns")
        pq.write_table(table.set_column(at, LOG.field("ts_ns"), pa.chunked_array([moved])), path)
    return copy


def without(
    export: Path, copy: Path, node: str, lacking: Collection[bytes], *, log_ends: bool = False
) -> Path:
    """Copy an export to where a node never had some messages.

    Args:
        export: what is copied
        copy: where to
        node: who lacks them
        lacking: their ids
        log_ends: its log has nothing from the first of them on; or else what is of others
    """
    shutil.copytree(export, copy)
    logs = sorted((copy / LOG_DIR).rglob("*.parquet"))
    ended = min(
        row["ts_ns"]
        for path in logs
        for row in pq.ParquetFile(path).read(["node", "ts_ns", "message_id", "kind"]).to_pylist()
        if row["node"] == node and row["message_id"] in lacking and row["kind"] in HAD
    )
    for path in copy.rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        is_log, keep = "ts_ns" in table.column_names, []
        for row in table.to_pylist():
            had = row["message_id"] in lacking and (not is_log or row["kind"] in HAD)
            over = log_ends and is_log and row["ts_ns"] >= ended
            keep.append(row["node"] != node or not (had or over))
        pq.write_table(table.filter(pa.array(keep)), path)
    return copy


HAD = ("sent", "received", "duplicate", "buffered", "delivered", "repaired")
"""Kinds of rows that nobody has without the message."""
