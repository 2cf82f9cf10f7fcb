"""Notes of a protocol log: the part of a row that is known before its commit.

A note costs the live chat a microsecond: what few rows have stands in `Details`.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.runner.log_rows import REASON_MAX, LogKind, LogRow, Role, Route


class Details(NamedTuple):
    """Columns of rows that are about no message; see `sync.runner.log_rows.LogRow`."""

    session: int | None = None
    round: int | None = None
    protocol: str | None = None
    role: Role | None = None
    outcome: str | None = None
    items_in: int | None = None
    items_out: int | None = None
    estimate: int | None = None
    reason: str | None = None


class Note(Struct, frozen=True):
    """See the module docstring, and `sync.runner.log_rows.LogRow`."""

    channel: ChannelId
    kind: LogKind
    peer: PeerId | None
    message_id: MessageId | None
    lamport: int | None
    size: int | None
    route: Route | None = None
    details: Details | None = None


NO_DETAILS: Final = Details()

Chunk: TypeAlias = tuple[Nanos, int, Sequence[Note]]
"""Rows let out together: when, and the `seq` of the first."""


def short(reason: str) -> str:
    """Return a reason as a log keeps it: one line, of limited length."""
    return " ".join(reason[:REASON_MAX].split())


def rows_of(
    chunks: Sequence[Chunk], run: str, boot: int, node: PeerId, anchor: Nanos | None = None
) -> Iterator[LogRow]:
    """Yield what was taken of a node's logbook as rows; `anchor` is that of the logbook."""
    for at, first, notes in chunks:
        mono_ns = None if anchor is None else at - anchor
        for seq, note in enumerate(notes, first):
            more = note.details or NO_DETAILS
            yield LogRow(
                run, boot, seq, at, node, note.peer, note.channel, note.kind, note.message_id,
                note.lamport, note.size, more.session, more.round, mono_ns, note.route,
                more.protocol, more.role, more.outcome,
                more.items_in, more.items_out, more.estimate, more.reason,
            )  # fmt: skip
