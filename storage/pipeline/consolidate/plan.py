"""Plan of a consolidation, made without Spark: which days are taken over, which are made anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from storage.archive.consolidated import CONSOLIDATE
from storage.pipeline.consolidate.selection import Selection
from storage.pipeline.consolidate.spans import Before, Span
from storage.pipeline.inputs.file_ends import FileEnd
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.results.publishing import Results


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows that are wanted, their spans, and those of them that are as they were."""

    selection: Selection
    spans: Sequence[Span]
    unchanged: Sequence[Span] = ()
    before: Path | None = None
    """Directory of the run that these are taken over from."""
    ends: Sequence[FileEnd] = field(default=(), compare=False, repr=False)
    """Those of all files of the histories."""

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        results: Results,
        options: Mapping[str, Any],
        ends: Sequence[FileEnd],
    ) -> "Plan":
        """Make a plan from the ends of the histories' files; the option `full` reads them all.

        Raises:
            PipelineError: nothing is of what the options name, or the results cannot be read.
        """
        selection = Selection.of(options, inputs.notes)
        plan = cls(selection, selection.spans(ends, inputs), ends=ends)
        published = None if options.get("full") else results.published(CONSOLIDATE)
        if published is None:
            return plan
        unchanged = Before.of(published.directory).unchanged(plan.spans)
        return replace(plan, unchanged=unchanged, before=published.directory if unchanged else None)

    @property
    def changed(self) -> list[Span]:
        """The spans that are made anew."""
        kept = {span.days for span in self.unchanged}
        return [span for span in self.spans if span.days not in kept]

    @property
    def size(self) -> int:
        """Bytes of the files that are read."""
        return sum(span.size for span in self.changed)

    @property
    def read(self) -> list[FileEnd]:
        """The ends of the files that are read."""
        files = {path for span in self.changed for path in span.files}
        return [end for end in self.ends if end.path in files]

    @property
    def in_full(self) -> "Plan":
        """The same with nothing taken over."""
        return replace(self, unchanged=(), before=None)

    @property
    def reads_all(self) -> bool:
        """True if every file of the exports is read."""
        return not self.unchanged and self.selection.is_all
