"""The tables of a made data set, by 64k rows at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from storage.archive import tables
from storage.archive.tables import BIGINT_MAX, HISTORY, LOG, ROW_GROUP, SYNC_HASH
from storage.pipeline.synthetic import faults
from storage.pipeline.synthetic.events import KINDS, NONE, Events
from storage.pipeline.synthetic.plan import BEGIN
from sync.group.values import StoredMessage
from sync.machine import ChannelId
from sync.manager.registry import PROTOCOLS
from sync.runner.log_rows import LogKind, Role, Route
from sync.sessions.values import Outcome

RUN: Final = "synthetic"

Rows = NDArray[np.int64]


def coded(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose texts and bytes are numbered: Parquet keeps them so anyway."""
    return pa.schema(
        [
            pa.field(field.name, pa.dictionary(pa.int32(), field.type), nullable=field.nullable)
            if field.type in (pa.string(), pa.binary())
            else field
            for field in schema
        ]
    )


CODED_HISTORY: Final = coded(HISTORY)
CODED_LOG: Final = coded(LOG)


class HistoryTable:
    """Messages that the members of a channel hold: one row for each holder, of the same bytes."""

    def __init__(self, messages: Sequence[StoredMessage], nodes: Sequence[str]) -> None:
        self.messages = messages
        self.nodes = nodes
        entries = [message.entry for message in messages]
        headers = [entry.header for entry in entries]
        self.values: dict[str, pa.Array] = {
            "channel": pa.array([message.channel for message in messages[:1]]),
            "message_id": pa.array([bytes.fromhex(entry.message_id) for entry in entries]),
            "header": pa.array([entry.header_bytes for entry in entries]),
            "signature": pa.array([entry.signature for entry in entries]),
            "body": pa.array([entry.body for entry in entries]),
            "backlink": _ids(header.backlink for header in headers),
            "skiplink": _ids(header.skiplink for header in headers),
            "node": pa.array(nodes),
            "author": pa.array([header.author for header in headers]),
            "parents": pa.array(
                [
                    [bytes.fromhex(parent.message_id) for parent in header.parents]
                    for header in headers
                ],
                pa.list_(pa.binary()),
            ),
        }
        self.numbers = {
            "created_ns": np.array([min(header.created_ns, BIGINT_MAX) for header in headers]),
            "lamport": np.array([min(header.lamport, BIGINT_MAX) for header in headers]),
            "log": np.array([tables.signed(header.log) for header in headers]),
            "seq": np.array([header.seq for header in headers]),
        }
        words = [tables.sync_words(message.waku_hash) for message in messages]
        for at, name in enumerate(SYNC_HASH):
            self.numbers[name] = np.array([one[at] for one in words])
        hashes = [message.waku_hash for message in messages]
        created = self.numbers["created_ns"]
        self.order = sorted(range(len(messages)), key=lambda at: (created[at], hashes[at]))
        """Positions of the messages by (created_ns, hash)."""

    def rows(
        self,
        held: NDArray[np.bool_],
        delivered: NDArray[np.bool_],
        members: Rows,
        false: Mapping[tuple[int, int], str],
    ) -> Iterator[tuple[Rows, pa.Table]]:
        """Yield the rows of (message, member) that are `held`, sorted by (created_ns, hash)."""
        step = max(1, ROW_GROUP // held.shape[1])
        for begin in range(0, len(self.order), step):
            some = np.array(self.order[begin : begin + step])
            row, member = np.nonzero(held[some])
            message = some[row]
            if len(message):
                yield (
                    self.numbers["created_ns"][message],
                    self._table(message, member, members[member], delivered, false),
                )

    def _table(
        self,
        message: Rows,
        member: Rows,
        node: Rows,
        delivered: NDArray[np.bool_],
        false: Mapping[tuple[int, int], str],
    ) -> pa.Table:
        count = len(message)
        columns: dict[str, Any] = {name: values[message] for name, values in self.numbers.items()}
        columns |= {"kind": np.ones(count, np.int32), "delivered": delivered[message, member]}
        # those of a message lie together: their numbers are small
        local, index = np.unique(message, return_inverse=True)
        for name in ("message_id", "header", "signature", "body", "author", "backlink", "skiplink"):
            columns[name] = _coded(self.values[name].take(pa.array(local)), index)
        columns["node"] = pa.DictionaryArray.from_arrays(
            pa.array(node, pa.int32()), self.values["node"]
        )
        columns["channel"] = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(count, np.int32)), self.values["channel"]
        )
        for name in ("governance", "reply_to"):
            columns[name] = pa.nulls(count, HISTORY.field(name).type)
        columns["parents"] = self.values["parents"].take(pa.array(message))
        table = pa.table([columns[name] for name in HISTORY.names], schema=CODED_HISTORY)
        for (at, who), kind in false.items():
            for row in np.flatnonzero((message == at) & (member == who)):
                table = falsified(table, int(row), kind)
        return table


def falsified(table: pa.Table, row: int, kind: str) -> pa.Table:
    """Return the rows with one of them false."""
    name = {
        faults.FALSE_ID: "message_id",
        faults.BAD_SIGNATURE: "signature",
        faults.FALSE_COLUMN: "lamport",
    }[kind]
    column = table.schema.get_field_index(name)
    values = table.column(name).cast(HISTORY.field(name).type).to_pylist()
    value = values[row]
    values[row] = value + 1 if isinstance(value, int) else bytes([value[0] ^ 1]) + value[1:]
    field = table.schema.field(column)
    array = pa.array(values, HISTORY.field(name).type)
    if pa.types.is_dictionary(field.type):
        array = array.dictionary_encode()
    return table.set_column(column, field, array)


class LogTable:
    """The logs of all nodes; `seq` and `boot` are those of each row of `events`."""

    def __init__(self, events: Events, seq: Rows, boot: Rows, nodes: Sequence[str]) -> None:
        self.events = events
        self.seq = seq
        self.boot = boot
        self.nodes = pa.array(nodes)
        self.kinds = pa.array([str(kind) for kind in KINDS])
        self.ids = pa.array([], pa.binary())
        self.lamports = np.zeros(0, np.int64)
        self.sizes = np.zeros(0, np.int32)
        self.told: dict[int, int] = {}

    def know(self, ids: Sequence[bytes], lamports: Sequence[int], sizes: Sequence[int]) -> None:
        """Set the messages that rows speak of: a Lamport time below 0 is not known to anybody."""
        self.ids = pa.array(ids, pa.binary())
        self.lamports = np.array(lamports, np.int64)
        self.sizes = np.array(sizes, np.int32)

    def rows(self, rows: Rows, channel: ChannelId) -> Iterator[tuple[Rows, pa.Table]]:
        """Yield some rows of the log, all of one channel, sorted by (ts_ns, node, seq)."""
        events = self.events
        order = rows[np.lexsort((self.seq[rows], events.node[rows], events.ts_ns[rows]))]
        for begin in range(0, len(order), ROW_GROUP):
            some = order[begin : begin + ROW_GROUP]
            yield events.ts_ns[some], self._table(some, channel)

    def _table(self, rows: Rows, channel: ChannelId) -> pa.Table:
        events = self.events
        message, session, kind = events.message[rows], events.session[rows], events.kind[rows]
        known = np.maximum(message, 0)
        lamport = self.lamports[known]
        for at in np.flatnonzero(np.isin(rows, list(self.told))) if self.told else ():
            lamport[at] = self.told[int(rows[at])]
        local, index = np.unique(known, return_inverse=True)
        count = len(rows)
        sized = (message != NONE) & np.isin(events.kind[rows], SIZED)
        columns: dict[str, Any] = {
            "run": _one(RUN, count),
            "boot": self.boot[rows],
            "seq": self.seq[rows],
            "ts_ns": events.ts_ns[rows],
            "node": _named(self.nodes, events.node[rows]),
            "peer": _named(self.nodes, events.peer[rows]),
            "channel": _one(channel, count),
            "kind": _named(self.kinds, events.kind[rows]),
            "message_id": pa.DictionaryArray.from_arrays(
                pa.array(index, pa.int32(), mask=message == NONE), self.ids.take(pa.array(local))
            ),
            "lamport": pa.array(lamport, mask=(message == NONE) | (lamport < 0)),
            "bytes": pa.array(
                np.where(session == NONE, self.sizes[known], SESSION_BYTES).astype(np.int32),
                mask=~(sized | (events.round[rows] > 0)),
            ),
            "session": pa.array(session.astype(np.int64), mask=session == NONE),
            "round": pa.array(events.round[rows].astype(np.int32), mask=events.round[rows] < 1),
            "mono_ns": events.ts_ns[rows] - BEGIN,
            "route": _chosen(kind, ROUTE_OF, count),
            "protocol": _where(session != NONE, PROTOCOLS.spoken[0].name),
            "role": _where(session != NONE, Role.BEGAN),
            "outcome": _where(kind == KINDS.index(LogKind.SESSION_ENDED), CONVERGED),
            "items_in": _zero(kind == KINDS.index(LogKind.SESSION_ENDED)),
            "items_out": _zero(kind == KINDS.index(LogKind.SESSION_ENDED)),
            "estimate": pa.nulls(count, pa.int64()),
            "reason": _where(np.zeros(count, bool), ""),
        }
        return pa.table([columns[name] for name in LOG.names], schema=CODED_LOG)


SIZED: Final = [
    KINDS.index(kind)
    for kind in KINDS
    if kind in ("sent", "received", "duplicate", "repair answered")
]
ROUTE_OF: Final = {
    LogKind.SENT: Route.BROADCAST,
    LogKind.RECEIVED: Route.BROADCAST,
    LogKind.DUPLICATE: Route.BROADCAST,
    LogKind.REPAIR_ANSWERED: Route.ANSWER,
}
CONVERGED: Final = Outcome.CONVERGED.value
SESSION_BYTES: Final = 400
"""Of the payloads of a round between two who hold nearly the same."""


def _named(values: pa.Array, index: NDArray[Any]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(
        pa.array(index.astype(np.int32), mask=index == NONE), values
    )


def _coded(values: pa.Array, index: NDArray[Any]) -> pa.DictionaryArray:
    """Return values by number; Parquet takes what is null among the numbers, not the values."""
    nothing = values.is_null().to_numpy(zero_copy_only=False)[index]
    there = values.fill_null(b"") if values.null_count else values
    return pa.DictionaryArray.from_arrays(pa.array(index, pa.int32(), mask=nothing), there)


def _ids(ids: Iterable[str | None]) -> pa.Array:
    """Return ids as bytes; null where there is none."""
    return pa.array([None if one is None else bytes.fromhex(one) for one in ids], pa.binary())


def _chosen(kind: NDArray[Any], values: Mapping[LogKind, Route], count: int) -> pa.DictionaryArray:
    """Return the value of each row's kind; null for kinds without one."""
    names = sorted(set(values.values()))
    code = np.full(len(KINDS), NONE)
    for one, value in values.items():
        code[KINDS.index(one)] = names.index(value)
    assert len(kind) == count
    return _named(pa.array(names), code[kind])


def _where(rows: NDArray[Any], value: str) -> pa.DictionaryArray:
    """Return the value where it is wanted, and null elsewhere."""
    return _named(pa.array([value]), np.where(rows, 0, NONE))


def _zero(rows: NDArray[Any]) -> pa.Array:
    return pa.array(np.zeros(len(rows), np.int64), mask=~rows)


def _one(value: str, count: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value]))
