"""Notes of all nodes on one message, on those that it waits for, and on links meanwhile."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from storage.archive.tables import HISTORY, HISTORY_DIR, LOG, LOG_DIR
from storage.pipeline.answers.filters import id_range
from storage.pipeline.answers.local_results import unreadable
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from sync.machine import HOUR
from sync.runner.log_rows import LogKind

Row = dict[str, Any]

LATER: Final = (
    pa.field("protocol", pa.string()),
    pa.field("outcome", pa.string()),
    pa.field("role", pa.string()),
    pa.field("route", pa.string()),
    pa.field("reason", pa.string()),
    pa.field("mono_ns", pa.int64()),
)
"""Columns that not every log has; where one is missing, nothing was recorded."""

READ: Final = ("run", "boot", "seq", "ts_ns", "node", "peer", "channel", "kind", "message_id")
READ_TOO: Final = ("bytes", "session", "protocol", "outcome", "role", "route", "reason")

LINKS: Final = (LogKind.LINK_UP.value, LogKind.LINK_DOWN.value)
REFUSED: Final = LogKind.REFUSED.value

ROWS_MAX: Final = 200_000
"""Rows about one message and what it depends on: a hundred for each of two thousand nodes."""

NAMED_MAX: Final = 5
"""Ids that a sentence offers where a beginning fits several."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as its holders have it; without its history only its id is known."""

    message_id: bytes
    author: str | None = None
    channel: str | None = None
    created_ns: int | None = None
    lamport: int | None = None
    parents: Sequence[bytes] = ()
    holders: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Noted:
    """All there is to tell of one message."""

    message: Message
    rows: Sequence[Row]
    """Of the message itself, in the order of their times."""
    of_parents: Sequence[Row] = ()
    links: Sequence[Row] = ()
    starts: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    """First and last time that each start of a node noted anything of the channel, in order."""


def find_message(inputs: Inputs, prefix: str) -> Message:
    """Return the one message whose id begins so.

    Raises:
        PipelineError: none does, or several do, or the exports cannot be read.
    """
    low, high = id_range(prefix)
    held: dict[bytes, Message] = {}
    columns = ["node", "message_id", "author", "channel", "created_ns", "lamport", "parents"]
    for row in _rows(export_table(inputs, HISTORY_DIR, HISTORY), _between(low, high), columns):
        known = held.get(row["message_id"])
        holders = known.holders if known else frozenset()
        held[row["message_id"]] = Message(
            row["message_id"],
            row["author"],
            row["channel"],
            row["created_ns"],
            row["lamport"],
            tuple(row["parents"] or ()),
            holders | {row["node"]},
        )
        if len(held) > NAMED_MAX:
            break
    if not held:
        for row in _rows(
            export_table(inputs, LOG_DIR, LOG), _between(low, high), ["message_id", "channel"]
        ):
            held[row["message_id"]] = Message(row["message_id"], channel=row["channel"])
            if len(held) > NAMED_MAX:
                break
    if not held:
        raise PipelineError(
            f"No message whose id begins with {prefix} is in these histories, and no log names one."
        )
    if len(held) > 1:
        ids = ", ".join(sorted(one.hex()[: len(prefix) + 4] for one in held)[:NAMED_MAX])
        raise PipelineError(
            f"Several messages begin with {prefix} ({ids}{', ...' * (len(held) > NAMED_MAX)}): "
            "give more of the id."
        )
    [message] = held.values()
    return message


def noted_of(inputs: Inputs, message: Message) -> Noted:
    """Read all that logs have about a message.

    Raises:
        PipelineError: they cannot be read, or there are none.
    """
    log = export_table(inputs, LOG_DIR, LOG)
    if log is None:
        raise PipelineError("These exports have no protocol log, which alone tells a story.")
    ids = [message.message_id, *message.parents]
    columns = [*READ, *READ_TOO]
    told = pc.field("message_id").isin(ids)
    found = list(_rows(log, told, columns))[:ROWS_MAX]
    rows = _in_order(row for row in found if row["message_id"] == message.message_id)
    channel = message.channel or next((row["channel"] for row in rows), None)
    times = [row["ts_ns"] for row in rows] or [message.created_ns or 0]
    near = (pc.field("ts_ns") >= min(times) - HOUR) & (pc.field("ts_ns") <= max(times) + HOUR)
    links = pc.field("kind").isin(LINKS) & near
    return Noted(
        message,
        rows,
        _in_order(row for row in found if row["message_id"] != message.message_id),
        _in_order(_rows(log, links, columns)),
        _starts(log, channel),
    )


def _in_order(rows: Iterable[Row]) -> list[Row]:
    once = {(row["run"], row["boot"], row["node"], row["seq"]): row for row in rows}
    return sorted(once.values(), key=lambda row: (row["ts_ns"], row["node"], row["seq"]))


def _starts(log: Any, channel: str | None) -> Mapping[str, Sequence[tuple[int, int]]]:  # noqa: ANN401
    there = (pc.field("channel") == (channel or "")) & (pc.field("ts_ns") >= 0)
    table = log.to_table(columns=["node", "run", "boot", "ts_ns"], filter=there)
    grouped = table.group_by(["node", "run", "boot"]).aggregate(
        [("ts_ns", "min"), ("ts_ns", "max")]
    )
    starts: dict[str, list[tuple[int, int]]] = {}
    for row in grouped.to_pylist():
        starts.setdefault(row["node"], []).append((row["ts_ns_min"], row["ts_ns_max"]))
    return {node: sorted(spans) for node, spans in sorted(starts.items())}


def _between(low: bytes, high: bytes) -> Any:  # noqa: ANN401  # pyarrow has no types
    column = pc.field("message_id")
    return (column >= pa.scalar(low)) & (column <= pa.scalar(high))


def export_table(inputs: Inputs, name: str, schema: pa.Schema) -> Any:  # noqa: ANN401
    """Open a table of all exports, with columns that only some logs have; None without files."""
    files: list[Path] = []
    for export in inputs.directories:
        files += sorted((export / name).rglob("*.parquet"))
    if not files:
        return None
    there = set(schema.names)
    wide = pa.schema([*schema, *(one for one in LATER if one.name not in there)])
    return ds.dataset([str(file.absolute()) for file in files], schema=wide, format="parquet")


def _rows(dataset: Any, expression: Any, columns: Sequence[str]) -> Iterator[Row]:  # noqa: ANN401
    if dataset is None:
        return
    try:
        for batch in dataset.to_batches(
            columns=list(columns), filter=expression, batch_readahead=2, fragment_readahead=2
        ):
            yield from batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise unreadable(Path(dataset.files[0]), error) from error
