"""The part of what exports hold that a person asked for: days, channels, nodes.

Files that have nothing of it are not opened; of the others, rows are looked at one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  # as all of its documentation says

from storage.archive.tables import Note
from storage.pipeline.consolidate.spans import EPOCH, TIME, Span, name_of, spans_of
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.file_ends import FileEnd
from storage.pipeline.inputs.inputs import Inputs
from sync.machine import DAY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class Selection:
    """All, unless something is named: `since` and `before` are numbers of days."""

    since: int | None = None
    before: int | None = None
    channels: Sequence[str] = ()
    nodes: Sequence[str] = ()

    @classmethod
    def of(cls, options: Mapping[str, Any], notes: Sequence[Note]) -> "Selection":
        """Return what the options of the command say.

        Raises:
            PipelineError: no export has such a channel or node, or there is no day between.
        """
        since, before = [_day(options.get(name)) for name in ("since", "before")]
        if since is not None and before is not None and since >= before:
            raise PipelineError("No day is from --since on and before --before: name other ones.")
        names = {channel: name for note in notes for channel, name in note.channels.items()}
        people = {str(node): "" for note in notes for node in note.nodes}
        return cls(
            since,
            before,
            [_meant(one, names, "channel") for one in options.get("channel", ())],
            [_meant(one, people, "node") for one in options.get("node", ())],
        )

    @property
    def is_all(self) -> bool:
        """True if nothing is left out."""
        return not self.words

    @property
    def words(self) -> dict[str, Any]:
        """The same as figures of the job, by option; empty where nothing is left out."""
        told = {
            "since": None if self.since is None else name_of(self.since),
            "before": None if self.before is None else name_of(self.before),
            "channels": list(self.channels),
            "nodes": list(self.nodes),
        }
        return {name: value for name, value in told.items() if value}

    def spans(self, ends: Sequence[FileEnd], inputs: Inputs) -> list[Span]:
        """Return the spans of what is wanted, from the ends of the histories' files."""
        owners = {
            directory: " ".join(map(str, note.nodes))
            for directory, note in zip(inputs.directories, inputs.notes, strict=True)
        }
        wanted = [end for end in ends if self._may_have(end)]
        nodes = {end.path: _owner(end.path, owners) for end in wanted}
        chosen = " ".join([*sorted(self.channels), "of", *sorted(self.nodes)])
        return [
            self._cut(span)
            for span in spans_of(wanted, nodes, chosen)
            if (self.before is None or span.days.least < self.before)
            and (self.since is None or span.days.most >= self.since)
        ]

    def rows(self, rows: "DataFrame") -> "DataFrame":
        """Return those of the rows of a history that are wanted."""
        asked: list[Column] = []
        if self.since is not None:
            asked.append(F.col(TIME) >= self.since * DAY)
        if self.before is not None:
            asked.append(F.col(TIME) < self.before * DAY)
        for name, values in (("channel", self.channels), ("node", self.nodes)):
            if values:
                asked.append(F.col(name).isin(list(values)))
        return rows.where(reduce(and_, asked)) if asked else rows

    def _may_have(self, end: FileEnd) -> bool:
        for column, values in (("channel", self.channels), ("node", self.nodes)):
            ends = end.ends(column) if values else None
            if ends is not None and not any(ends.least <= one <= ends.most for one in values):
                return False
        return True

    def _cut(self, span: Span) -> Span:
        """Return a span as another one, if not all of its days are wanted."""
        since, before = self.since, self.before
        whole = (since is None or span.days.least >= since) and (
            before is None or span.days.most < before
        )
        return span if whole else replace(span, digest=f"{span.digest} {since} {before}")


def _owner(path: Path, owners: Mapping[Path, str]) -> str:
    above = path.parent
    while above not in owners and above != above.parent:
        above = above.parent
    return owners.get(above, "")


def _day(when: datetime | None) -> int | None:
    return None if when is None else (when.date() - EPOCH).days


def _meant(asked: str, known: Mapping[str, str], what: str) -> str:
    """Return the id that a person means by a name, an id, or the beginning of one."""
    found = sorted(
        {one for one, name in known.items() if asked in (one, name, f"#{name}")}
        or {one for one in known if asked and one.startswith(asked.lower())}
    )
    if len(found) == 1:
        return found[0]
    several = ", ".join(found[:3])
    raise PipelineError(
        f"{asked} is the beginning of several {what}s ({several}): name more of it."
        if found
        else f"No export names a {what} {asked}."
    )
