"""Exports whose nodes have clocks of their own, some of them wrong."""

import json
import shutil
from collections.abc import Mapping
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


def without(export: Path, copy: Path, node: str, kept: int, lacking: set[bytes]) -> Path:
    """Copy an export to where a node has nothing of some messages.

    Args:
        export: what is copied
        copy: where to
        node: who lacks them
        kept: rows of its log that have other messages, and are kept from the first on
        lacking: their ids
    """
    shutil.copytree(export, copy)
    for path in copy.rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        ids = table.column("message_id").to_pylist()
        nodes = table.column("node").to_pylist()
        mine = [number for number, one in enumerate(nodes) if one == node]
        gone = {number for number in mine if ids[number] in lacking}
        gone |= set(mine[kept:]) if kept else set()
        keep = pa.array([number for number in range(len(ids)) if number not in gone], pa.int64())
        pq.write_table(table.take(keep), path)
    return copy
