"""Outcomes: one sentence for each node on how a message came there, or why it did not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from storage.pipeline.answers.message_logs import REFUSED, Noted
from storage.pipeline.answers.people import SHORT, Names
from storage.pipeline.answers.sendings import Sending, course_of, is_running, link_down_since
from storage.pipeline.answers.story import ROUTES, Story
from storage.pipeline.report.number_text import span
from sync.runner.log_rows import LogKind

Row = dict[str, Any]

US: Final = 1_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a message at a node; `has_it` is None where nothing tells."""

    node: str
    has_it: bool | None
    text: str
    took_ns: int | None = None


class Outcomes:
    """Says of each node how the message came there, or why it did not."""

    def __init__(self, noted: Noted, names: Names, story: Story) -> None:
        self._noted = noted
        self._names = names
        self._story = story
        self._course = course_of(noted)
        self._by_node: dict[str, list[Row]] = {}
        for row in noted.rows:
            self._by_node.setdefault(row["node"], []).append(row)

    def all(self) -> Iterator[Outcome]:
        """Yield the outcome of each node that has a log of the channel, or holds the message."""
        nodes = {*self._noted.starts, *self._noted.message.holders, *self._by_node}
        for node in sorted(nodes):
            yield self.of(node)

    def of(self, node: str) -> Outcome:
        """Return what became of the message at one node."""
        delivered = self._first(node, LogKind.DELIVERED)
        if node == self._story.author:
            return Outcome(node, has_it=True, text="wrote it")
        if delivered is not None:
            return self._delivered(node, delivered)
        if node in self._noted.message.holders:
            return Outcome(node, has_it=True, text=self._held(node))
        if node not in self._noted.starts:
            return Outcome(node, has_it=None, text="has no log here: nothing tells how it fared")
        return Outcome(node, has_it=False, text=self._never(node))

    def _first(self, node: str, kind: str) -> Row | None:
        return next((row for row in self._by_node.get(node, ()) if row["kind"] == kind), None)

    def _count(self, node: str, kind: str) -> int:
        return sum(row["kind"] == kind for row in self._by_node.get(node, ()))

    # --- It has it -----------------------------------------------------------------------------

    def _delivered(self, node: str, delivered: Row) -> Outcome:
        begins = self._story.begins_ns
        took = None if begins is None else delivered["ts_ns"] - begins
        parts = [f"after {span((took or 0) / US)}", self._way(node)]
        if (asked := self._count(node, LogKind.REPAIR_REQUESTED)) > 0:
            parts.append(f"asked for {_times(asked)}")
        received = self._first(node, LogKind.RECEIVED)
        if received is not None and delivered["ts_ns"] > received["ts_ns"]:
            waited = span((delivered["ts_ns"] - received["ts_ns"]) / US)
            parts.append(f"held back for {waited}{self._for_parents(node, received['ts_ns'])}")
        if self._first(node, LogKind.LOST) is not None:
            parts.append("given up meanwhile")
        return Outcome(node, has_it=True, text=", ".join(parts), took_ns=took)

    def _way(self, node: str) -> str:
        received = self._first(node, LogKind.RECEIVED)
        sending: Sending | None = self._course.brought.get(node)
        if sending is not None:
            by = self._names.person(sending.row["node"])
            if sending.answers is not None:
                for_it = (
                    " to it"
                    if sending.answers == node
                    else (f" to {self._names.person(sending.answers)}" if sending.answers else "")
                )
                return f"by the answer of {by}{for_it}"
            which = "first sending" if sending.number == 1 else f"sending number {sending.number}"
            return f"by the {which} of {by}"
        if received is None:
            return "by what was kept: no row says how it came"
        how = ROUTES.get(received["route"] or "", "by a way that was not recorded")
        return f"from {self._names.person(received['peer'] or '')}, {how}"

    def _for_parents(self, node: str, at: int) -> str:
        lacked = self._story.lacked_parents(node, at)
        return f", waiting for {', '.join(one.hex()[:SHORT] for one in lacked)}" if lacked else ""

    def _held(self, node: str) -> str:
        received = self._first(node, LogKind.RECEIVED)
        if received is None:
            return "holds it, and its log does not tell how: those rows are not here"
        return "holds it back" + self._for_parents(node, received["ts_ns"])

    # --- It has it not -------------------------------------------------------------------------

    def _never(self, node: str) -> str:
        if (refused := self._first(node, REFUSED)) is not None:
            return f"never: it did not take it ({refused['reason'] or 'no reason was recorded'})"
        if self._first(node, LogKind.RECEIVED) is not None:
            received = self._first(node, LogKind.RECEIVED)
            assert received is not None
            return "received, never put in its place" + self._for_parents(node, received["ts_ns"])
        missed = f"never: {self._missed(node)}"
        named = self._first(node, LogKind.MISSING)
        if named is None:
            return f"{missed}; nothing that came later named it, so it was never asked for"
        asked = self._count(node, LogKind.REPAIR_REQUESTED)
        answers = [one for one in self._course.sendings if one.answers == node]
        told = f"asked {_times(asked)}" if asked else "never asked"
        if answers:
            told += (
                f", answered by {self._names.person(answers[0].row['node'])}, which was lost too"
            )
        elif asked:
            told += ", and no log tells of an answer"
        end = "; given up" if self._first(node, LogKind.LOST) is not None else ""
        return f"{missed}; named after {self._since(named)}, {told}{end}"

    def _since(self, row: Row) -> str:
        return span((row["ts_ns"] - (self._story.begins_ns or row["ts_ns"])) / US)

    def _missed(self, node: str) -> str:
        """Say why no sending came."""
        if not self._course.sendings:
            return "nobody's log tells of a sending"
        first = self._course.sendings[0]
        at, sender = first.row["ts_ns"], first.row["node"]
        if not is_running(self._noted, node, at):
            starts = self._noted.starts[node]
            if at < starts[0][0]:
                return f"it came later: its log begins {span((starts[0][0] - at) / US)} after"
            if at > starts[-1][1]:
                return f"it had left: its log ends {span((at - starts[-1][1]) / US)} before"
            return "it was not running when it was sent"
        down = link_down_since(self._noted, sender, node, at)
        if down is not None:
            return f"the link to {self._names.person(sender)} was down when it was sent"
        count = len(self._course.sendings)
        return (
            "the sending was lost on the way" if count == 1 else f"all {count} sendings were lost"
        )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
