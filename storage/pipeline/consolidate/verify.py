"""Check that rows of a history are what their author signed: the pipeline's part in Python.

Rules:
1. It imports what every computer of a cluster has: pyarrow, protobuf, PyNaCl, cryptography, and of
   ours what the chat itself checks a message with.
2. Rows come in groups of one id. The last check is remembered, so that an entry in several rows, of
   many holders, is checked once.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

import pyarrow as pa

from storage.archive.tables import BIGINT_MAX, HISTORY, SYNC_HASH, signed, sync_words
from sync.entries.entry import Entry, content_of, open_content
from sync.entries.identity import verify
from sync.entries.replies import answered_by
from sync.errors import RemoteError
from sync.group.ingest import Gate, history_of
from sync.machine import ChannelId
from sync.sds.message import Message
from sync.waku.message import TIMESTAMP_MAX

REASON: Final = "reason"
CHOSEN: Final = "chosen"

CLAIMS: Final = (
    "channel",
    *SYNC_HASH,
    "created_ns",
    "lamport",
    "author",
    "log",
    "seq",
    "parents",
    "kind",
)
"""Columns that repeat what the header says; the last check of a row holds them against it."""

LINKS: Final = ("backlink", "skiplink", "governance", "reply_to")
"""The same, of exports since 1.1, and what the body says is answered, since 1.3: null in others."""

SIGNED: Final = ("header", "signature", "body")
COLUMNS: Final = tuple([name for name in HISTORY.names if name not in ("node", "delivered")])
"""All that says something of the entry."""

ID: Final = COLUMNS.index("message_id")
assert {"message_id", *CLAIMS, *LINKS, *SIGNED} == set(COLUMNS)

GATES_CACHED: Final = 1024
"""Channels whose topics are remembered."""

Row: TypeAlias = tuple[Any, ...]


def verified(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Check rows, those of an id one after the other.

    Args:
        batches: at least `COLUMNS`, and reason string: what is known to be wrong, such as an id
            that is not the header's hash; null if nothing is.

    Yields:
        the same, reason being null only if all is right, and one more column: chosen boolean, true
        for the first right row of each id.
    """
    check = Check()
    for batch in batches:
        known = batch.column(REASON).to_pylist()
        rows = zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True)
        verdicts = [
            check(row) if reason is None else (reason, False)
            for reason, row in zip(known, rows, strict=True)
        ]
        reasons = pa.array([reason for reason, _ in verdicts], pa.string())
        chosen = pa.array([first for _, first in verdicts], pa.bool_())
        at = batch.schema.get_field_index(REASON)
        yield batch.set_column(at, REASON, reasons).append_column(CHOSEN, chosen)


class Check:
    """Checks one row after the other: (what is wrong, whether it is the first right one)."""

    def __init__(self) -> None:
        self._row: Row | None = None
        self._reason: str | None = None
        self._chosen: bytes | None = None

    def __call__(self, row: Row) -> tuple[str | None, bool]:
        """Check a row of `COLUMNS`."""
        if row != self._row:
            self._row, self._reason = row, wrong(row)
        if self._reason is not None or row[ID] == self._chosen:
            return self._reason, False
        self._chosen = row[ID]
        return None, True


def wrong(row: Row) -> str | None:
    """Return what is wrong with a row of `COLUMNS`, None if nothing is."""
    values = dict(zip(COLUMNS, row, strict=True))
    if None in row:
        for name, value in values.items():
            if value is None and name not in LINKS:
                return f"no {name}"
    try:
        entry = open_content(content_of(*(values[name] for name in SIGNED)))
    except RemoteError as error:
        return str(error)
    header = entry.header
    if not verify(header.author, entry.signature, entry.header_bytes):
        return "the signature is not its author's"
    if header.created_ns >= TIMESTAMP_MAX:
        return "a time that no Waku message can have"
    claims = _claims(entry)
    differing = [name for name in CLAIMS if values[name] != claims[name]]
    differing += [name for name in LINKS if values[name] not in (None, claims[name])]
    return f"not as signed: {', '.join(differing)}" if differing else None


def _claims(entry: Entry) -> dict[str, Any]:
    """Return what the columns of `CLAIMS` are by the header, and those of `LINKS`."""
    header, answers = entry.header, answered_by(entry)
    message = Message(
        sender_id=header.author,
        message_id=entry.message_id,
        channel_id=header.channel_id,
        lamport=header.lamport,
        causal_history=history_of(entry),
        content=entry.content,
    )
    words = sync_words(_gate(header.channel_id).store(entry, message).waku_hash)
    return {
        "channel": header.channel_id,
        **dict(zip(SYNC_HASH, words, strict=True)),
        "created_ns": min(header.created_ns, BIGINT_MAX),
        "lamport": min(header.lamport, BIGINT_MAX),
        "author": header.author,
        "log": signed(header.log),
        "seq": min(header.seq, BIGINT_MAX),
        "parents": [bytes.fromhex(parent.message_id) for parent in header.parents],
        "kind": header.kind,
        "backlink": None if header.backlink is None else bytes.fromhex(header.backlink),
        "skiplink": None if header.skiplink is None else bytes.fromhex(header.skiplink),
        "governance": list(header.governance),
        "reply_to": None if answers is None else bytes.fromhex(answers),
    }


@lru_cache(maxsize=GATES_CACHED)
def _gate(channel: ChannelId) -> Gate:
    return Gate.of(channel, verify)
