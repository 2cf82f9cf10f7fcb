"""Sendings of one message, matched with what arrived of each: pure functions over log rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from storage.pipeline.answers.message_logs import Noted
from sync.runner.log_rows import LogKind

Row = dict[str, Any]

OUT: Final = (LogKind.SENT.value, LogKind.REPAIR_ANSWERED.value)
IN: Final = (LogKind.RECEIVED.value, LogKind.DUPLICATE.value)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message at another node: how long it took by both clocks, and whether it was there."""

    node: str
    took_ns: int
    again: bool


@dataclass(slots=True)
class Sending:
    """A message that one node sent to everybody: for the first time, again, or as an answer."""

    row: Row
    number: int
    """Of those of this node, from 1."""
    arrivals: list[Arrival] = field(default_factory=list)

    @property
    def answers(self) -> str | None:
        """The node that had asked for it; None if nobody had."""
        is_answer = self.row["kind"] == LogKind.REPAIR_ANSWERED
        return (self.row["peer"] or "") if is_answer else None


@dataclass(frozen=True, slots=True)
class Course:
    """All sendings in order, and which of them brought the message to a node first."""

    sendings: Sequence[Sending]
    brought: Mapping[str, Sending]
    """By node; nothing of a node that got it by another way, such as a session."""


def course_of(noted: Noted) -> Course:
    """Match each arrival with the last sending of where it came from."""
    sendings: list[Sending] = []
    by_node: dict[str, list[Sending]] = {}
    for row in noted.rows:
        if row["kind"] in OUT:
            mine = by_node.setdefault(row["node"], [])
            mine.append(Sending(row, len(mine) + 1))
            sendings.append(mine[-1])
    brought: dict[str, Sending] = {}
    for row in noted.rows:
        if row["kind"] not in IN or row["route"] in ("transfer", "entry", "live", "snapshot"):
            continue
        sending = _last_before(by_node.get(row["peer"] or "", ()), row["ts_ns"])
        if sending is None:
            continue
        again = row["kind"] == LogKind.DUPLICATE
        took = row["ts_ns"] - sending.row["ts_ns"]
        sending.arrivals.append(Arrival(row["node"], took, again))
        if not again:
            brought.setdefault(row["node"], sending)
    return Course(sendings, brought)


def _last_before(sendings: Sequence[Sending], at: int) -> Sending | None:
    before = [one for one in sendings if one.row["ts_ns"] <= at]
    if before:
        return before[-1]
    return sendings[0] if sendings else None  # the clocks differ by more than it took


def is_running(noted: Noted, node: str, at: int) -> bool:
    """Return whether a node noted something both before and after a time, in one start."""
    return any(first <= at <= last for first, last in noted.starts.get(node, ()))


def link_down_since(noted: Noted, one: str, other: str, at: int) -> Row | None:
    """Return the row of the link between two that was down at a time, None if none tells so."""
    ends = {(one, other), (other, one)}
    last: dict[str, Row] = {}
    for row in noted.links:
        if (row["node"], row["peer"] or "") in ends and row["ts_ns"] <= at:
            last[row["node"]] = row
    down = [row for row in last.values() if row["kind"] == LogKind.LINK_DOWN]
    return min(down, key=lambda row: int(row["ts_ns"]), default=None)
