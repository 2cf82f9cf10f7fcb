"""Report of traffic: bytes by purpose, who repaired for whom, the slowest, healed partitions."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from storage.pipeline.report.number_text import MS, bytes_text, number, span
from storage.report import printable
from storage.results import Figures
from sync.runner.log_rows import LogKind

Rows = Iterator[tuple[str, str]]
Row = dict[str, Any]

KEY_SHOWN: Final = 8

TRANSFERS: Final = ("transfer", "entry", "live", "snapshot")
"""Routes of messages that a session brings."""

NAMED: Final = 3
"""Pairs, or nodes, that a line names."""

PURPOSES: Final = {
    LogKind.SENT.value: "of messages, as sent",
    LogKind.REPAIR_ANSWERED.value: "of answers to who asked",
    LogKind.SESSION_ROUND.value: "said in sessions",
    "brought": "of messages that sessions brought",
    LogKind.DUPLICATE.value: "of copies that came to who had them",
}
"""Purposes in the order they are told; what all others received is what was sent."""


def traffic_rows(figures: Figures) -> Rows:
    """Say what went over the wire and why; results of earlier versions do not tell."""
    told = figures.get("traffic")
    if not told:
        return
    yield from _purposes(told["purposes"], figures)
    yield from _protocols(told["purposes"], figures)
    if told["repairers"]:
        yield "repairs, most by", "; ".join(_repairs(told["repairers"][:NAMED]))
    if told["slowest_links"]:
        yield "slowest links", "; ".join(_links(told["slowest_links"][:NAMED]))
    if told["slowest_nodes"]:
        yield "slowest nodes", "; ".join(_nodes(told["slowest_nodes"][:NAMED]))
    yield from _partitions(told)


def _purpose(row: Row) -> str:
    came = row["kind"] in (LogKind.RECEIVED, LogKind.DUPLICATE)
    return "brought" if came and row["route"] in TRANSFERS else str(row["kind"])


def brought_by_sessions(figures: Figures) -> int | None:
    """Return the bytes of messages that sessions brought; None where no row has a route."""
    rows = (figures.get("traffic") or {}).get("purposes") or ()
    if not any(row["route"] for row in rows):
        return None
    return sum(int(row["bytes"]) for row in rows if row["route"] in TRANSFERS)


def _once(figures: Figures) -> float:
    """Return the share of what both ends noted that counts each payload once."""
    talked = figures.get("reconciliation") or {}
    whole = talked.get("bytes")
    return float(talked.get("bytes_once") or 0) / whole if whole else 1.0


def _purposes(rows: Sequence[Row], figures: Figures) -> Rows:
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[_purpose(row)] = sizes.get(_purpose(row), 0) + row["bytes"]
    if (rounds := sizes.get(LogKind.SESSION_ROUND)) is not None:
        sizes[LogKind.SESSION_ROUND] = round(rounds * _once(figures))
    said = [f"{bytes_text(sizes[name])} {text}" for name, text in PURPOSES.items() if name in sizes]
    if said:
        yield "bytes by purpose", "; ".join(said)


def _protocols(rows: Sequence[Row], figures: Figures) -> Rows:
    sizes: dict[str | None, int] = {}
    for row in rows:
        if row["kind"] == LogKind.SESSION_ROUND:
            sizes[row["protocol"]] = sizes.get(row["protocol"], 0) + row["bytes"]
    if sizes:
        once = _once(figures)
        named = sorted(sizes.items(), key=lambda one: -one[1])
        yield (
            "sessions by protocol",
            ", ".join(
                f"{printable(name or 'not recorded', 40)} {bytes_text(size * once)}"
                for name, size in named
            ),
        )


def _short(key: object) -> str:
    return printable(key, 64)[:KEY_SHOWN]


def _repairs(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"{_short(row['node'])} for {_short(row['peer'])} ({number(row['answers'])})"


def _links(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"{_short(row['author'])} to {_short(row['node'])}, p95 {span(row['p95_us'])}"


def _nodes(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"{_short(row['node'])}, p95 {span(row['p95_us'])}"


def _partitions(told: Figures) -> Rows:
    if not told["links_recorded"]:
        yield "partitions", "not recorded: these logs tell nothing of links"
        return
    rows = told["partitions"]
    if not rows:
        yield "partitions", "no link went down and came up again"
    for row in rows:
        lasted = span((row["ends_ns"] - row["begins_ns"]) / MS)
        if row["healing_ns"] is None:
            end = "nothing came late"
        else:
            end = f"healed {span(row['healing_ns'] / MS)} after, {number(row['late'])} came late"
        never = f", {number(row['never'])} never everywhere" if row["never"] else ""
        meanwhile = f"{number(row['messages'])} message{'s' * (row['messages'] != 1)} meanwhile"
        yield f"partition {row['number']}", f"{lasted}, {meanwhile}; {end}{never}"
