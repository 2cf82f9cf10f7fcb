"""`why`: the story of one message, printed or as JSON."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from storage.archive.tables import HISTORY, HISTORY_DIR
from storage.pipeline.answers.cells import time_text
from storage.pipeline.answers.filters import plain_id
from storage.pipeline.answers.local_results import exports_behind, published_results
from storage.pipeline.answers.message_logs import Noted, export_table, find_message, noted_of
from storage.pipeline.answers.outcomes import Outcome, Outcomes
from storage.pipeline.answers.people import Names, names_of, nicks
from storage.pipeline.answers.story import Line, Story
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.report.number_text import span
from storage.results import has_results

US: Final = 1_000

LINES_MAX: Final = 400
"""Lines of a story on the terminal: more are not read; --json has all."""


class Told:
    """The story of one message, ready to be printed.

    Raises:
        PipelineError: the message or the node is not one, or the exports cannot be read.
    """

    def __init__(self, out: Path, message: str, node: str | None) -> None:
        inputs = exports_behind(out)
        self.noted: Noted = noted_of(inputs, find_message(inputs, message))
        self.names = _names(out, inputs, self.noted)
        self.node = None if node is None else self._node(node)
        story = Story(self.noted, self.names)
        outcomes = Outcomes(self.noted, self.names, story)
        self.author = story.author
        self.begins_ns = story.begins_ns
        self.lines: list[Line] = list(story.lines(self.node))
        self.outcomes: list[Outcome] = (
            list(outcomes.all()) if self.node is None else [outcomes.of(self.node)]
        )
        self.clocks = len({host for note in inputs.notes for host in note.hosts.values()})

    def _node(self, prefix: str) -> str:
        """Return the one node that is meant, by the beginning of its key or by its name."""
        known = {*self.noted.starts, *self.noted.message.holders}
        meant = plain_id(prefix)
        found = sorted(key for key in known if key.startswith(meant))
        found = found or sorted(key for key in known if self.names.people.get(key) == prefix)
        if not found:
            there = ", ".join(self.names.person(key) for key in sorted(known)[:20])
            raise PipelineError(f"No node {prefix} is in this channel; there are: {there}.")
        if len(found) > 1:
            several = ", ".join(self.names.person(key) for key in found[:5])
            raise PipelineError(f"Several nodes begin with {prefix} ({several}): give more of it.")
        return found[0]

    def show(self, console: Console) -> None:
        """Print the story."""
        for label, value in self._head():
            console.print(Text(f"{label:<9}{value}"), soft_wrap=True)
        console.print()
        for line in self.lines[:LINES_MAX]:
            console.print(Text(f"{self._after(line.at_ns):>10}  {line.text}"), soft_wrap=True)
        if len(self.lines) > LINES_MAX:
            console.print(f"{len(self.lines) - LINES_MAX:,} lines more; --json has them.")
        if not self.lines:
            console.print("No log here tells anything of it.")
        console.print()
        for one in self.outcomes:
            style = "bold red" if one.has_it is False else ""
            console.print(Text(f"{self.names.person(one.node)}: {one.text}", style), soft_wrap=True)
        if self.clocks > 1:
            console.print(
                f"\nTimes are those of each node's own clock; here are {self.clocks} clocks."
            )

    def _head(self) -> list[tuple[str, str]]:
        message = self.noted.message
        rows = [("message", message.message_id.hex())]
        if self.author:
            rows.append(("author", f"{self.names.person(self.author)}  {self.author}"))
        if message.channel:
            rows.append(("channel", self.names.channel(message.channel)))
        if self.begins_ns is not None:
            rows.append(("sent", f"{time_text(self.begins_ns)} UTC"))
        has = sum(one.has_it is True for one in self.outcomes)
        if self.node is None:
            rows.append(("here at", f"{has} of {len(self.outcomes)} nodes"))
        return rows

    def _after(self, at_ns: int) -> str:
        took = at_ns - (self.begins_ns or at_ns)
        return f"{'+' if took >= 0 else ''}{span(took / US)}" if took else "0"

    def to_json(self) -> str:
        """Return it as one JSON object."""
        message = self.noted.message
        shown: dict[str, Any] = {
            "message_id": message.message_id.hex(),
            "author": self.author,
            "channel": message.channel,
            "sent_ns": self.begins_ns,
            "parents": [one.hex() for one in message.parents],
            "lines": [
                {"ts_ns": one.at_ns, "node": one.node, "text": one.text} for one in self.lines
            ],
            "nodes": [
                {"node": one.node, "has_it": one.has_it, "took_ns": one.took_ns, "text": one.text}
                for one in self.outcomes
            ],
        }
        return json.dumps(shown)


def _names(out: Path, inputs: Inputs, noted: Noted) -> Names:
    keys = {*noted.starts, *noted.message.holders, noted.message.author or ""}
    names = names_of(published_results(out), keys) if has_results(out) else Names()
    if not names.channels:
        named = [item for note in inputs.notes for item in note.channels.items()]
        names.channels = dict(named)
    if not names.people and (history := export_table(inputs, HISTORY_DIR, HISTORY)) is not None:
        with suppress(OSError, pa.ArrowException):
            names.people = nicks(history, {key for key in keys if key})
    return names
