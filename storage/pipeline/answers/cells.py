"""Values of tables as people read them, on a terminal and on a page: times, spans, ids, sizes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from storage.pipeline.report.number_text import bytes_text, number, span
from storage.report import printable

SPANS_NS: Final = frozenset({"converged_ns", "offset_ns", "uncertainty_ns", "latency_ns", "by_ns"})
"""Columns of nanoseconds that are no times of a day."""

BLOBS: Final = frozenset({"header", "signature", "body"})
"""Columns of bytes that are no ids: their size is told."""

SIZES: Final = frozenset({"bytes", "sent_bytes"})

FIRST: Final = ("reason", "kind_of_finding", "created_ns", "ts_ns", "sent_ns", "channel", "node")
"""Columns that lead: why, when, where; then those of the table in their order."""

LAST: Final = ("sync_0", "sync_1", "sync_2", "sync_3", "header", "signature", "body")

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

US: Final = 1_000

CELL_MAX: Final = 400

LIST_SHOWN: Final = 8


def arranged(columns: Sequence[str]) -> list[str]:
    """Return columns in the order that people read: the reason first, raw bytes at the end."""
    first = [name for name in FIRST if name in columns]
    last = [name for name in LAST if name in columns]
    middle = [name for name in columns if name not in FIRST and name not in LAST]
    return [*first, *middle, *last]


def cell(name: str, value: Any) -> str:  # noqa: ANN401  # any value of a table
    """Return a value of a column in words."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return bytes_text(len(value)) if name in BLOBS else value.hex()
    if isinstance(value, list):
        more = f", and {len(value) - LIST_SHOWN:,} more" if len(value) > LIST_SHOWN else ""
        return ", ".join(cell(name, one) for one in value[:LIST_SHOWN]) + more
    if isinstance(value, int) and not isinstance(value, bool):
        return _whole(name, value)
    if isinstance(value, bool | float):
        return number(value)
    return printable(value, CELL_MAX)


def _whole(name: str, value: int) -> str:
    if name in SPANS_NS:
        return span(value / US)
    if name.endswith("_ns"):
        return time_text(value)
    if name.endswith("_us"):
        return span(value)
    return bytes_text(value) if name in SIZES else str(value)


def time_text(ns: int) -> str:
    """Return a time in UTC, to a millisecond."""
    try:
        when = EPOCH + timedelta(microseconds=ns // US)
    except OverflowError:
        return f"{ns} ns"
    return f"{when:%Y-%m-%d %H:%M:%S}.{when.microsecond // US:03d}"
