"""Writing rows that a job found as exports, which every other job and `import` can read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as fn

from storage.archive.tables import HISTORY, HISTORY_DIR, SYNC_HASH, Note
from storage.pipeline.places.spark_tables import spark_name
from sync.machine import SECOND

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SIGN: Final = -(2**63)
"""Turns the order of signed longs into that of the bytes they stand for."""


def write_split(rows: "DataFrame", table: Path, by: Sequence[str]) -> None:
    """Write rows to `table`/BY=value/..., with all their columns in the files.

    Spark takes the columns it makes directories of out of the rows, where we want them to stay; so
    it gets copies, and their directories are then given the right names.
    """
    copies = {f"_{name}": fn.col(name) for name in by}
    rows.withColumns(copies).write.partitionBy(*copies).parquet(spark_name(table))
    for depth in range(len(by), 0, -1):
        for directory in table.glob("/".join(f"_{name}=*" for name in by[:depth])):
            directory.rename(directory.with_name(directory.name.removeprefix("_")))


def write_exports(
    history: "DataFrame", scratch: Path, exports: Mapping[str, tuple[Path, Sequence[Note]]]
) -> None:
    """Write several exports at once, into directories that are there.

    Args:
        history: the columns of `HISTORY`, and target string: a key of `exports`
        scratch: a directory that does not exist yet, beside the exports
        exports: where each goes, and the notes of those it was taken from
    """
    day = fn.date_format(fn.timestamp_seconds(fn.expr(f"created_ns div {SECOND}")), "yyyy-MM-dd")
    order = [fn.col(name).bitwiseXOR(fn.lit(SIGN)) for name in SYNC_HASH]
    parts = ("target", "channel", "day")
    rows = (
        history.select(*HISTORY.names, "target")
        .withColumn("day", day)
        .repartition(*parts)
        .sortWithinPartitions(*parts, "created_ns", *order)
    )
    write_split(rows, scratch, parts)
    for target, (export, notes) in exports.items():
        written = scratch / f"target={target}"
        if written.is_dir():
            written.rename(export / HISTORY_DIR)
        Note(
            nodes=sorted({node for note in notes for node in note.nodes}),
            channels={key: name for note in notes for key, name in note.channels.items()},
            hosts={key: host for note in notes for key, host in note.hosts.items()},
            more={},
            clocks={key: clock for note in notes for key, clock in note.clocks.items()},
        ).write_files(export)
