"""Spans of days, and which of them are as they were the last time.

A span is days that share files; with our exporters, which write a file for each day, one day. It is
unchanged while the same files stand behind it. Days are those of `created_ns`, which a header
signs: all right rows of a message are of one day, so spans are consolidated each by itself.

What a file says of its times is believed, as by Spark itself. A file that does not say, or has rows
without a time, may be of any day: all days are one span then.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from storage.archive.tables import replace_text
from storage.pipeline.inputs.file_ends import Ends, FileEnd
from storage.results import MANIFEST_MAX, small_text

STATE: Final = "days.json"
"""Beside the tables of a run: its spans. It is published with them, by the manifest."""

VERSION: Final = 2
"""Of what the tables of a day mean; another one is not taken over."""

TIME: Final = "created_ns"

ALWAYS: Final = Ends(-(2**63), 2**63 - 1)
"""Days of a file that does not say which it has."""

EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Span:
    """Days from the first to the last, both included, and the files behind them."""

    days: Ends
    digest: str
    files: Sequence[Path] = field(default=(), compare=False)
    size: int = field(default=0, compare=False)
    """Bytes of these files."""
    figures: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Counts of its rows, once it is consolidated."""

    def holds(self, day: str) -> bool:
        """Return whether a directory of this name is of one of its days."""
        return bool(self.days.least <= number_of(day) <= self.days.most)

    def with_figures(self, figures: Mapping[str, Any]) -> "Span":
        """Return the same with figures."""
        return Span(self.days, self.digest, self.files, self.size, figures)


def spans_of(ends: Iterable[FileEnd], nodes: Mapping[Path, str], chosen: str = "") -> list[Span]:
    """Return the spans that files make, in the order of days.

    Args:
        ends: of all files of the histories.
        nodes: what each file is said to be of.
        chosen: which of their rows are wanted, as a text.
    """
    ordered = sorted(
        ((end.days(TIME) or ALWAYS, end) for end in ends if end.rows), key=lambda one: one[0]
    )
    spans: list[Span] = []
    some: list[FileEnd] = []
    days = ALWAYS
    for of_file, end in ordered:
        if some and of_file.least <= days.most:
            days = Ends(days.least, max(days.most, of_file.most))
        else:
            spans += _span(days, some, nodes, chosen)
            days, some = of_file, []
        some.append(end)
    return [*spans, *_span(days, some, nodes, chosen)]


def _span(
    days: Ends, ends: Sequence[FileEnd], nodes: Mapping[Path, str], chosen: str
) -> Iterator[Span]:
    if ends:
        behind = [
            [nodes[end.path], str(end.path), end.size, end.rows, end.digest]
            for end in sorted(ends, key=lambda end: str(end.path))
        ]
        digest = sha256(json.dumps([chosen, behind]).encode()).hexdigest()
        yield Span(days, digest, [end.path for end in ends], sum(end.size for end in ends))


@dataclass(frozen=True, slots=True)
class Before:
    """The last run, as far as it can be taken over."""

    directory: Path
    spans: Sequence[Span] = ()

    @classmethod
    def of(cls, directory: Path) -> "Before":
        """Return what a published run says of its spans; nothing if it does not, or not so."""
        try:
            told = json.loads(small_text(directory / STATE, MANIFEST_MAX))
            if told["version"] != VERSION:
                return cls(directory)
            spans = [
                Span(Ends(int(least), int(most)), str(digest), figures=dict(figures))
                for least, most, digest, figures in told["spans"]
            ]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return cls(directory)
        return cls(directory, spans)

    def unchanged(self, spans: Sequence[Span]) -> list[Span]:
        """Return those of `spans` that are as they were, with the figures of then."""
        then = {(span.days, span.digest): span for span in self.spans}
        return [
            span.with_figures(known.figures)
            for span in spans
            if (known := then.get((span.days, span.digest))) is not None
        ]


def write_spans(run: Path, spans: Sequence[Span]) -> None:
    """Write the spans of a run beside its tables."""
    told = [[*span.days, span.digest, dict(span.figures)] for span in spans]
    replace_text(run / STATE, json.dumps({"version": VERSION, "spans": told}) + "\n")


def number_of(day: str) -> int:
    """Return the number of a day that is written as YYYY-MM-DD."""
    return (date.fromisoformat(day) - EPOCH) // timedelta(days=1)


def name_of(number: int) -> str:
    """Return the day of a number, written as YYYY-MM-DD."""
    return (EPOCH + timedelta(days=number)).isoformat()
