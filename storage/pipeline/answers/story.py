"""The story of one message in sentences: each sending, each loss, each question and answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from storage.pipeline.answers.message_logs import REFUSED, Noted
from storage.pipeline.answers.people import SHORT, Names
from storage.pipeline.answers.sendings import (
    Course,
    Sending,
    course_of,
    is_running,
    link_down_since,
)
from storage.pipeline.report.number_text import bytes_text, span
from sync.runner.log_rows import LogKind

Row = dict[str, Any]

US: Final = 1_000

PEOPLE_NAMED: Final = 8
"""People that one sentence names; of more it says how many."""


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a story: when, by the clock of whoever noted it, and what happened."""

    at_ns: int
    node: str
    text: str
    about: frozenset[str]
    """The nodes it concerns: a story of one node leaves the others out."""


class Story:
    """Sentences about a message, made of what logs noted of it."""

    def __init__(self, noted: Noted, names: Names) -> None:
        self._noted = noted
        self._names = names
        self._course: Course = course_of(noted)
        self._author = noted.message.author or self._first_sender()

    @property
    def author(self) -> str | None:
        """The author's key; None if neither a history nor a log says it."""
        return self._author

    @property
    def begins_ns(self) -> int | None:
        """The time that all others are told from: that of the first sending."""
        first = [one.row["ts_ns"] for one in self._course.sendings]
        first += [row["ts_ns"] for row in self._noted.rows]
        return first[0] if first else self._noted.message.created_ns

    def lines(self, node: str | None = None) -> Iterator[Line]:
        """Yield what happened, in the order of the clocks; of one node what concerns it."""
        sent = {id(one.row): one for one in self._course.sendings}
        for row in self._noted.rows:
            sending = sent.get(id(row))
            line = self._sent(sending) if sending is not None else self._happened(row)
            if line is not None and (node is None or node in line.about):
                yield line

    def _first_sender(self) -> str | None:
        return next((one.row["node"] for one in self._course.sendings if not one.answers), None)

    def _who(self, key: str | None) -> str:
        return self._names.person(key) if key else "somebody"

    def _people(self, keys: Sequence[str]) -> str:
        named = ", ".join(self._who(key) for key in keys[:PEOPLE_NAMED])
        more = len(keys) - PEOPLE_NAMED
        return f"{named} and {more:,} more" if more > 0 else named

    # --- Sendings ------------------------------------------------------------------------------

    def _sent(self, sending: Sending) -> Line:
        row = sending.row
        me, at = str(row["node"]), int(row["ts_ns"])
        size = f" ({bytes_text(row['bytes'])})" if row["bytes"] else ""
        if sending.answers is not None:
            what = f"answered {self._who(sending.answers)} by sending it to everybody{size}"
        elif sending.number > 1:
            what = f"sent it to everybody again{size}"
        else:
            what = f"sent it to everybody{size}"
        came = {one.node: one for one in sending.arrivals}
        new = [one for one in sending.arrivals if not one.again]
        parts = []
        if new:
            took = ", ".join(
                f"{self._who(one.node)} after {span(one.took_ns / US)}"
                for one in new[:PEOPLE_NAMED]
            )
            over = len(new) - PEOPLE_NAMED
            parts.append(f"it came to {took}" + (f" and {over:,} more" if over > 0 else ""))
        if had := dict.fromkeys(one.node for one in sending.arrivals if one.again):
            parts.append(f"{self._people([*had])} had it")
        has_it = {*came, me, *self._having(at)}
        not_there = [one for one in self._noted.starts if one not in has_it]
        parts += self._losses(me, at, not_there)
        text = f"{self._who(me)} {what}" + (f": {'; '.join(parts)}" if parts else "")
        about = frozenset({me, *self._noted.starts, sending.answers or me})
        return Line(at, me, text, about)

    def _having(self, at: int) -> Iterator[str]:
        """Yield who had it already at a time: a copy lost on the way to them costs nothing."""
        for row in self._noted.rows:
            if row["ts_ns"] < at and row["kind"] in (LogKind.RECEIVED, LogKind.DELIVERED):
                yield row["node"]

    def _losses(self, sender: str, at: int, nodes: Sequence[str]) -> Iterator[str]:
        """Say why it came not to some: a link that was down, a program that was off, or lost."""
        why: dict[str, list[str]] = {}
        for node in nodes:
            if not is_running(self._noted, node, at):
                reason = "whose logs do not cover that time"
            elif link_down_since(self._noted, sender, node, at) is not None:
                reason = "the link was down"
            else:
                reason = "lost on the way"
            why.setdefault(reason, []).append(node)
        for reason, missed in why.items():
            yield f"not to {self._people(missed)} ({reason})"

    # --- Everything else -----------------------------------------------------------------------

    def _happened(self, row: Row) -> Line | None:
        said = SAID.get(str(row["kind"]))
        me, peer = str(row["node"]), row["peer"]
        if said is None or self._is_told(row):
            return None
        text = f"{self._who(me)} {said(self, row)}"
        return Line(int(row["ts_ns"]), me, text, frozenset({me, *([peer] if peer else ())}))

    def _is_told(self, row: Row) -> bool:
        """Return whether a sending tells it, or it goes without saying."""
        kind, node = row["kind"], row["node"]
        if kind in (LogKind.RECEIVED, LogKind.DUPLICATE):
            return any(
                one.node == node
                and row["peer"] == sending.row["node"]
                and one.took_ns == row["ts_ns"] - sending.row["ts_ns"]
                for sending in self._course.sendings
                for one in sending.arrivals
            )
        if kind == LogKind.DELIVERED:  # told of those alone who had to wait
            return not any(
                other["kind"] == LogKind.BUFFERED and other["node"] == node
                for other in self._noted.rows
            )
        return False

    def received(self, row: Row) -> str:
        """Say how it came where no sending tells it."""
        how = ROUTES.get(row["route"] or "", "by a way that was not recorded")
        return f"received it from {self._who(row['peer'])}, {how}"

    def named(self, row: Row) -> str:
        """Say how a node learned of it."""
        if not row["peer"]:
            return "found by what it keeps that it lacks this message"
        return f"learned from what came from {self._who(row['peer'])} that it lacks this message"

    def waits(self, row: Row) -> str:
        """Say for which messages it is held back."""
        lacking = [one.hex()[:SHORT] for one in self.lacked_parents(str(row["node"]), row["ts_ns"])]
        of = f": {', '.join(lacking)} had not come" if lacking else ""
        return f"held it back, as what it builds on was not all there{of}"

    def lacked_parents(self, node: str, at: int) -> list[bytes]:
        """Return which parents a node had not delivered at a time."""
        there = {
            row["message_id"]
            for row in self._noted.of_parents
            if row["node"] == node
            and row["ts_ns"] <= at
            and row["kind"] in (LogKind.DELIVERED, LogKind.SENT)
        }
        return [one for one in self._noted.message.parents if one not in there]

    def refused(self, row: Row) -> str:
        """Say why it was not taken."""
        why = row["reason"] or "no reason was recorded"
        return f"did not take it from {self._who(row['peer'])}: {why}"

    def by(self, row: Row) -> str:
        """Return ` by NAME`, nothing where nobody is named."""
        return f" by {self._who(row['peer'])}" if row["peer"] else ""


ROUTES: Final[Mapping[str, str]] = {
    "broadcast": "sent to everybody",
    "answer": "as an answer that somebody had asked for",
    "transfer": "in a reconciliation",
    "entry": "in a session that compares author logs",
    "live": "passed on by a live session",
    "snapshot": "in a snapshot",
}

SAID: Final[Mapping[str, Callable[[Story, Row], str]]] = {
    LogKind.RECEIVED.value: Story.received,
    LogKind.DUPLICATE.value: lambda story, row: f"{story.received(row)}, and had it",
    LogKind.BUFFERED.value: Story.waits,
    LogKind.DELIVERED.value: lambda _, __: "put it in its place",
    LogKind.MISSING.value: Story.named,
    LogKind.REPAIR_REQUESTED.value: lambda _, __: "asked everybody for it",
    LogKind.REPAIRED.value: lambda story, row: f"has it now, repaired{story.by(row)}",
    LogKind.LOST.value: lambda _, __: "gave it up: nobody answered in time",
    LogKind.POSSIBLY_ACKNOWLEDGED.value: lambda story, row: (
        f"marked it ◐, as it seems to be in the filter sent{story.by(row)}"
    ),
    LogKind.ACKNOWLEDGED.value: lambda story, row: f"marked it ●, proved{story.by(row)}",
    LogKind.FAILED.value: lambda _, __: "marked it ✗: nobody said that they have it",
    REFUSED: Story.refused,
}
"""Sentences of the kinds of rows, after the name of whoever noted it."""
