"""consolidate: many nodes' histories to one, what is false set apart.

Tables, each by days of creation: `history` (the columns of `HISTORY` but node; by channel too,
sorted by lamport and message_id), `holders` (message_id, node, channel, delivered), `quarantine`
(`HISTORY` and the reason), `held`, who holds what in bits, and `present` (channel, node). `members`
says which bit is whose (see `storage.pipeline.consolidate.transforms`). Findings are the rows in
quarantine.

Days whose files are the same as the last time are taken over, see
`storage.pipeline.consolidate.spans`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from storage.archive.consolidated import write_names
from storage.archive.tables import HISTORY, HISTORY_DIR
from storage.pipeline.consolidate import transforms
from storage.pipeline.consolidate.counts import counted, figures_of
from storage.pipeline.consolidate.plan import Plan
from storage.pipeline.consolidate.spans import EPOCH, Span, write_spans
from storage.pipeline.consolidate.transforms import DAY_NAME
from storage.pipeline.consolidate.verify import REASON
from storage.pipeline.fingerprints.archive import write_state
from storage.pipeline.handed import handed
from storage.pipeline.inputs.batches import files_of, least_in
from storage.pipeline.inputs.footers import history_ends
from storage.pipeline.job_context import Work
from storage.pipeline.places.place import sink
from storage.pipeline.places.spark_tables import read_tables
from storage.pipeline.results.carrying import carry, days_in
from storage.pipeline.results.small_tables import row_count
from storage.results import CHOSEN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ARROW_ROWS: Final = 1024
"""Rows that Python gets at once: 60 MB, were all their bodies as large as they may be."""

KEPT: Final = "checked"
"""Rows that several tables are made from; they lie with the results, seen by all of a cluster."""

PRESENT: Final = "present"
HELD: Final = "held"
HOLDERS: Final = "holders"
QUARANTINE: Final = "quarantine"
MEMBERS: Final = "members"

BY_DAY: Final[Mapping[str, str]] = {
    PRESENT: "channel string, node string, day string",
    HELD: "channel string, message_id binary, word int, held long, delivered long, day string",
    HISTORY_DIR: "",
    HOLDERS: "",
    QUARANTINE: "",
}
"""Tables whose days are taken over, and the columns of those that are read again."""

NUMBERED: Final = "channel string, node string, word int, bit int"
"""Columns of `MEMBERS`."""

PARTS: Final = 4
"""Parts of the rows for each task: several, so that they come out about even."""


class Made(NamedTuple):
    """The spans that were made anew, all members, and days that no file said it has."""

    fresh: Sequence[Span]
    members: "DataFrame"
    stray: Collection[str]


def run(work: Work) -> None:
    """Make the tables; see the module docstring."""
    plan = work.plan
    if plan is None:
        plan = Plan.of(work.inputs, work.results, work.options, history_ends(work.inputs))
    Consolidation(work, plan).run()


class Consolidation:
    """One run by a plan."""

    def __init__(self, work: Work, plan: Plan) -> None:
        self.work = work
        self.plan = plan

    def run(self) -> None:
        """Make the tables, and count their rows."""
        work = self.work
        write_state(work.run.directory, work.inputs)
        work.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ARROW_ROWS))
        made = self._made(by_ends=self.plan.selection.is_all)
        if made is None:
            self.plan = self.plan.in_full
            for name in (*BY_DAY, MEMBERS):
                work.run.drop(name)
            made = self._made(by_ends=False)
            assert made is not None, "nobody was overlooked"
        for name in (HELD, HISTORY_DIR, HOLDERS, QUARANTINE):
            self._carry(name)
        self._show_columns()
        spans = [*self.plan.unchanged, *made.fresh]
        # where some file did not say which days it has, nothing is taken over the next time
        write_spans(work.run.directory, [] if made.stray else spans)
        named = [item for one in work.inputs.notes for item in one.channels.items()]
        write_names(work.run.directory, {channel: name for channel, name in named if name})
        self._figure(spans, made.members)

    def _made(self, *, by_ends: bool) -> "Made | None":
        """Make the tables of the days that are made anew.

        Args:
            by_ends: whether files that say whose rows they have are believed so far.

        Returns:
            None if a file has rows that it does not say it has.
        """
        rows = self._rows()
        stray = self._write_present(rows, by_ends=by_ends)
        if stray and self.plan.unchanged:
            self.plan = self.plan.in_full
            self.work.run.drop(PRESENT)
            rows = self._rows()
            stray = self._write_present(rows, by_ends=by_ends)
        self._carry(PRESENT)
        members = self._members()
        fresh: list[Span] | None = []
        if self.plan.changed:
            fresh = self._tables(rows, members)
        return None if fresh is None else Made(fresh, members, stray)

    def _rows(self) -> "DataFrame":
        inputs, spark = self.work.inputs, self.work.spark
        if self.plan.reads_all:
            rows = inputs.history(spark)
        else:
            files = [path for span in self.plan.changed for path in span.files]
            rows = self.plan.selection.rows(inputs.history_in(spark, files))
        # what has no node is nobody's, and what has no channel not as signed
        return rows.fillna("", ["node", "channel"])

    def _write_present(self, rows: "DataFrame", *, by_ends: bool) -> set[str]:
        """Write who has rows of which day; returns days that no file said it has."""
        spark, inputs = self.work.spark, self.work.inputs
        found = transforms.present(rows)
        if by_ends:
            said, others = transforms.present_by(self.plan.read)
            found = spark.createDataFrame(sorted(said), BY_DAY[PRESENT])
            if others:
                of_others = inputs.history_in(spark, others).fillna("", ["node", "channel"])
                found = found.union(transforms.present(of_others)).distinct()
        self.work.write(PRESENT, found, DAY_NAME)
        return {day for day in self._days(PRESENT) if not self._is_expected(day)}

    def _is_expected(self, day: str) -> bool:
        return any(span.holds(day) for span in self.plan.changed)

    def _days(self, *names: str) -> set[str]:
        return {day for name in names for _, day in days_in(self.work.run.directory / name)}

    def _members(self) -> "DataFrame":
        spark, before = self.work.spark, self.plan.before
        there = read_tables(spark, BY_DAY[PRESENT], [self.work.run.directory / PRESENT])
        had = None
        if before is not None:
            had = read_tables(spark, NUMBERED, [before / MEMBERS])
            had = handed(had, row_count(before, MEMBERS))
        return self.work.write_side(MEMBERS, transforms.members_of(there, had))

    def _tables(self, rows: "DataFrame", members: "DataFrame") -> list[Span] | None:
        """Write all other tables; None if there are rows of somebody who is no member."""
        work, changed = self.work, self.plan.changed
        shuffled = int(work.spark.conf.get("spark.sql.shuffle.partitions") or 1)
        parts = -(-PARTS * shuffled // len(changed))
        found = work.write(
            KEPT, transforms.checked(transforms.variants(rows, members), transforms.false_by_word())
        )
        if least_in(work.run.directory / KEPT, "word") == transforms.NOBODY:
            work.run.drop(KEPT)
            return None
        held = work.write(HELD, transforms.held(found, parts), DAY_NAME)
        work.write(HISTORY_DIR, transforms.history(found, held), "channel", DAY_NAME)
        work.write(HOLDERS, transforms.holders(held, members), DAY_NAME)
        false = work.write(QUARANTINE, transforms.quarantine(found, members), DAY_NAME)
        work.run.drop(KEPT)
        if self._days(HELD, QUARANTINE) - self._days(PRESENT):
            return None
        return counted(changed, held, false, work.run.directory / QUARANTINE)

    def _carry(self, name: str) -> None:
        to = self.work.run.directory / name
        to.mkdir(exist_ok=True)
        if self.plan.before is not None:
            kept = self.plan.unchanged
            carry(self.plan.before / name, to, lambda day: any(span.holds(day) for span in kept))

    def _show_columns(self) -> None:
        """Leave a file without rows where nothing is false: a table says which columns it has."""
        table = self.work.run.directory / QUARANTINE
        if files_of(table):
            return
        where = table / f"{DAY_NAME}={EPOCH.isoformat()}"
        where.mkdir(parents=True, exist_ok=True)
        empty = HISTORY.append(pa.field(REASON, pa.string())).empty_table()
        with sink(where / "part-0.parquet") as file:
            pq.write_table(empty, file)

    def _figure(self, spans: Sequence[Span], members: "DataFrame") -> None:
        run, kept = self.work.run, self.plan.unchanged
        days = self._days(PRESENT)
        figures = figures_of(spans)
        run.figures |= {
            **{name: figures.pop(name) for name in ("rows", "entries", "holders")},
            "channels": len(list((run.directory / HISTORY_DIR).glob("channel=*"))),
            "nodes": members.where("node != ''").select("node").distinct().count(),
            "days": len(days),
            "taken_over": sum(any(span.holds(day) for span in kept) for day in days),
            **figures,
        }
        if chosen := self.plan.selection.words:
            run.figures[CHOSEN] = chosen
