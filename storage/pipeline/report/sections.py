"""Report sections of each job, in words: pure functions from its figures to sections."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from storage.pipeline.report.number_text import (
    MS,
    bytes_text,
    moment,
    number,
    share,
    span,
    spread_text,
)
from storage.pipeline.report.sweep_section import sweep_rows
from storage.pipeline.report.traffic_section import brought_by_sessions, traffic_rows
from storage.report import ROWS_MAX, Section, printable
from storage.results import Figures

Rows: TypeAlias = Iterator[tuple[str, str]]

TITLES: Final = {
    "consolidate": "One history",
    "audit": "Audit",
    "delivery": "Delivery",
    "fingerprints": "Fingerprints",
    "diff": "Differences between two archives",
    "sweep": "Sweep of parameters",
}
"""The jobs a report is made of, in its order."""


def sections(figures: Mapping[str, Figures]) -> list[Section]:
    """Return a section for each job, also for those that have not run."""
    return [
        section(job, title, figures[job]) if job in figures else absent(job, title)
        for job, title in TITLES.items()
    ]


def absent(job: str, title: str) -> Section:
    """Return what stands in place of a job that has not run."""
    how = f"Missing: this job has not run; `chat-tui pipeline {job} ... --out DIR` runs it."
    return Section(job, title, note=how)


def section(job: str, title: str, figures: Figures) -> Section:
    """Return what the figures of a job say."""
    rows = WORDS.get(job, plain_rows)(figures)
    shown = [(printable(label), printable(value)) for label, value in rows][:ROWS_MAX]
    return Section(job, title, shown, findings=int(figures.get("findings") or 0))


def plain_rows(figures: Figures) -> Rows:
    """Say figures by their own names, those within others after them."""
    for name, value in figures.items():
        label = name.replace("_", " ")
        if isinstance(value, Mapping):
            for inner, text in plain_rows(dict(value)):
                yield f"{label}, {inner}", text
        elif isinstance(value, list | tuple):
            yield label, ", ".join(map(number, value)) if _are_scalars(value) else f"{len(value):,}"
        else:
            yield label, number(value)


def fingerprints_rows(figures: Figures) -> Rows:
    """Say what was read: what nobody verified is not told as messages."""
    read = figures.get("verified")  # not in results of earlier versions
    if read is not None:
        yield "read", HISTORY_READ if read else f"the exports; {CLAIMED}"
    others = {name: value for name, value in figures.items() if name != "verified"}
    if not read:
        others = {"messages by their columns": others.pop("messages"), **others}
    yield from plain_rows(others)


def diff_rows(figures: Figures) -> Rows:
    """Say what was read on each side, and what differs."""
    others = {name: value for name, value in figures.items() if not name.startswith("verified_")}
    for side in ("a", "b"):
        read = figures.get(f"verified_{side}")
        if read is not None:
            yield f"read of {side}", HISTORY_READ if read else f"exports; {CLAIMED}{BUT_VERIFIED}"
        if not read:
            claimed = {f"messages {side} by their columns": others.pop(f"messages_{side}")}
            others = claimed | others
    yield from plain_rows(others)


def audit_rows(figures: Figures) -> Rows:
    """Say findings by their names, and who left."""
    yield from plain_rows({name: value for name, value in figures.items() if name != "left_at"})
    for gone in figures.get("left_at", ()):
        when = (
            "at a time no log tells" if gone["left_ns"] is None else f"at {moment(gone['left_ns'])}"
        )
        node, channel = printable(gone["node"], ID_SHOWN), printable(gone["channel"], ID_SHOWN)
        later = _counted(gone["later"], "later message")
        yield f"left {when}", f"node {node}, of channel {channel}; {later} of others"


def delivery_rows(figures: Figures) -> Rows:
    """Say how messages got around."""
    nodes, channels = figures["nodes"], figures["channels"]
    yield "logs", f"{_counted(nodes, 'node')} in {_counted(channels, 'channel')}"
    if copies := figures.get("copies"):
        yield "copies", f"{number(copies)} rows of logs were there more than once, and count once"
    if others := figures["reconciliation"].get("peers_without_log"):  # not in older results
        told = "what only they had or claimed counts as missing, or as false"
        yield "no log here", f"of {_counted(others, 'participant')} who reconciled: {told}"
    # in older results, all clocks were believed
    over = span(figures.get("longest_ns", (figures["to_ns"] or 0) - (figures["from_ns"] or 0)) / MS)
    again = figures["sends"] - figures["messages"]
    yield "messages", f"{number(figures['messages'])} in {over}, {number(again)} sent again"
    yield (
        "delivered",
        (
            f"{number(figures['delivered_of_due'])} of {number(figures['due'])} due "
            f"({share(figures['delivered_of_due'], figures['due'])})"
        ),
    )
    if without := figures.get("not_counted"):
        yield "not counted", f"{number(without)}: {NOT_COUNTED}"
    yield "latency", spread_text(figures["latency"])
    everybody = figures["convergence"]
    complete = everybody.get("complete", everybody["count"])
    whole = f"{number(complete)} of {number(figures['messages'])} messages; "
    yield "until everybody had it", whole + spread_text(everybody)
    if untimed := complete - everybody["count"]:
        yield "not timed", f"{number(untimed)} of these: clocks cannot be compared"
    yield "receptions per delivery", number(figures["receptions_per_delivery"])
    yield from _states(figures["states"])
    yield from _repair(figures["repair"])
    yield from _filters(figures["filters"])
    yield from _reconciliation(figures["reconciliation"], _brought(figures))
    yield from traffic_rows(figures)
    yield from _clocks(figures["clocks"], figures["latency"])
    if unknown := figures.get("unknown_kinds"):
        kind = printable(unknown["kind"], 32)
        yield "kinds unknown", f"{number(unknown['rows'])} rows of later versions, as of {kind!r}"
    if figures["of_unknown_senders"]:
        rows = number(figures["of_unknown_senders"])
        yield "sender unknown", f"{rows} (message, node) pairs: nobody here noted to have sent it"


def _states(states: Figures) -> Rows:
    counts = (f"{number(states[name])} {name.replace('_', ' ')}" for name in STATES)
    yield "own messages", ", ".join(counts)
    for name, times in states["times"].items():
        if times["count"]:
            yield name, spread_text(times)


def _repair(repair: Figures) -> Rows:
    if not repair["messages"]:
        yield "repair", "nothing was missing"
        return
    yield (
        "missing",
        (
            f"{number(repair['missing_at'])} times of {number(repair['messages'])} messages; "
            f"{number(repair['repaired_at'])} repaired, {number(repair['lost_at'])} given up"
        ),
    )
    yield (
        "repair, for each of them",
        (
            f"{number(repair['requests_per_message'])} requests, "
            f"{number(repair['answers_per_message'])} answers"
        ),
    )
    for row in repair["by_groups"][:LOADS_MAX]:
        size = number(row["participants"] / row["groups"])
        yield (
            f"load of {row['groups']:,} response group{'s' * (row['groups'] > 1)}",
            (
                f"{number(row['answers_per_group'])} answers a message in each, of {size} members; "
                f"{share(row['answers_in_group'], row['answers'])} came from the right one"
            ),
        )


def _filters(filters: Figures) -> Rows:
    if unjudged := filters.get("unjudged"):  # results of earlier versions have no such figure
        yield "marks not counted", f"{number(unjudged)}: {UNJUDGED}"
    if not filters["marked"]:
        if not unjudged:
            yield "filters", "no message was marked possibly acknowledged"
        return
    yield (
        "false “possibly acknowledged”",
        f"{number(filters['false'])} of {number(filters['marked'])}: nobody else had the message",
    )
    yield (
        "by theory of the filter",
        (
            f"about {number(filters['expected_at_most'])}, if each filter heard meanwhile "
            f"({number(filters['chances'])} or so) is full and wrong at "
            f"{number(filters['rate_of_full_filter'])}"
        ),
    )


def _brought(figures: Figures) -> str:
    """Say what sessions carried besides what both ends said; older logs have no routes."""
    size = brought_by_sessions(figures)
    once = figures["reconciliation"].get("bytes_once")
    if size is None or once is None:
        return ""
    total = bytes_text(once + size)
    return f", and {bytes_text(size)} of messages that they brought: {total} in all"


def _reconciliation(talked: Figures, brought: str) -> Rows:
    if not talked["sides"]:
        yield "reconciliation", "no session"
        return
    yield (
        "reconciliation",
        (
            f"{number(talked['sides'])} sides of sessions, {number(talked['ended'])} ended; "
            f"{number(talked['rounds_p50'])} rounds (p50), at most {number(talked['rounds_most'])}"
        ),
    )
    yield (
        "bytes of a session",
        (
            f"p50 {bytes_text(talked['bytes_p50'])}, p95 {bytes_text(talked['bytes_p95'])}, most "
            f"{bytes_text(talked['bytes_most'])}: what both ends say, without the messages that "
            "it brings"
        ),
    )
    if (once := talked.get("bytes_once")) is not None:  # not in older results
        yield "bytes of all sessions", f"{bytes_text(once)}, each payload counted once{brought}"


def _clocks(clocks: Figures, latency: Figures) -> Rows:
    if clocks["pairs"]:
        worst = clocks["largest"][0]
        yield (
            "clocks",
            (
                f"{number(clocks['pairs'])} pairs of hosts; largest difference "
                f"{span(worst['offset_ns'] / MS)} (± {span(worst['uncertainty_ns'] / MS)}) from "
                f"{printable(worst['a'], 32)} to {printable(worst['b'], 32)}; nothing is corrected "
                "by it"
            ),
        )
    elif not clocks.get("steps"):
        yield "clocks", "one clock, or too few messages between hosts to compare them"
    for step in clocks.get("steps", ())[:STEPS_MAX]:
        yield "clock set", _step(step)
    if more := len(clocks.get("steps", ())[STEPS_MAX:]):
        yield "clock set", f"between {_counted(more, 'more pair')} of hosts"
    if clocks["nodes_without_host"]:
        yield "clock unknown", _counted(clocks["nodes_without_host"], "node")
    if latency["negative"]:
        yield (
            "delivered before sent",
            (
                f"{number(latency['negative'])} deliveries, by up to {span(-latency['least_us'])}: "
                "clocks differ"
            ),
        )


def _step(step: Figures) -> str:
    """Say which clock was set, as far as two of them tell."""
    a, b = printable(step["a"], 32), printable(step["b"], 32)
    return (
        f"that of {a} or of {b}, by {span(step['by_ns'] / MS)} or more, between "
        f"{moment(step['from_ns'])} and {moment(step['to_ns'])} by that of {a}; times between the "
        "two are not compared"
    )


STATES: Final = ("possibly_acknowledged", "acknowledged", "failed")

LOADS_MAX: Final = 8
STEPS_MAX: Final = 8
HISTORY_READ: Final = "the history that consolidate verified"
CLAIMED: Final = "columns are believed, nothing is verified"
BUT_VERIFIED: Final = " but what differs"
ID_SHOWN: Final = 64

NOT_COUNTED: Final = (
    "(message, node) pairs before the first message that a node has of a channel, or after its last"
)
UNJUDGED: Final = "nobody else's log tells of that time, or clocks cannot be compared well enough"

WORDS: Final[Mapping[str, Callable[[Figures], Rows]]] = {
    "audit": audit_rows,
    "diff": diff_rows,
    "fingerprints": fingerprints_rows,
    "delivery": delivery_rows,
    "sweep": sweep_rows,
}
"""The jobs whose figures have sentences; those of others are said by their names."""


def _counted(value: int, what: str) -> str:
    return f"{number(value)} {what}{'s' * (value != 1)}"


def _are_scalars(values: list[Any] | tuple[Any, ...]) -> bool:
    return all(not isinstance(value, Mapping | list | tuple) for value in values)
