"""audit: what is wrong with the one history, with what the nodes hold, and with their logs.

Tables, one row a finding: `equivocations`, `unknown_dependencies`, `causal_violations`,
`early_deliveries`, `order_divergence`, `missing`, `missing_tail`, `trace_holes`; their columns
stand in `storage.pipeline.audit.history_findings`, `storage.pipeline.audit.tails` and
`storage.pipeline.audit.log_findings`. `left` says who left, and `not_let_in` what governance kept
out of histories, which are no findings.
"""

from itertools import islice
from typing import TYPE_CHECKING, Final

from storage.pipeline.audit import history_findings, log_findings, log_reading, not_let_in, tails
from storage.pipeline.errors import PipelineError
from storage.pipeline.handed import handed
from storage.pipeline.inputs.omissions import BEGINS, HOLES, OLDER, Omissions
from storage.pipeline.job_context import Work
from storage.pipeline.places.spark_tables import read_tables
from storage.pipeline.results.small_tables import first_rows, row_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HELPERS: Final = (
    "edges",
    "order",
    "ends",
    "behind",
    "reached",
    "unheld",
    "noticed",
    "disputed",
    "suspected",
    "about",
)
"""Tables that findings are made from, and that nobody reads afterwards."""

CLAIMS_MAX: Final = 10_000
"""Nodes of channels that are compared with who holds something; of more, all logs are read."""

LEFT_MAX: Final = 8
"""Nodes that left, and are told of by name."""

HISTORY: Final = (
    "channel string, message_id binary, author string, log long, seq long, lamport long, "
    "created_ns long, parents array<binary>"
)
CLAIMED: Final = "channel string, node string"
REFUSED: Final = "channel string, node string, message_id binary, label string, held boolean"
HELD: Final = "channel string, message_id binary, word int, held long, delivered long"
MEMBERS: Final = "channel string, node string, word int, bit int"


def run(work: Work) -> None:
    """Make the tables; see the module docstring.

    Raises:
        PipelineError: nothing is consolidated yet.
    """
    Audit(work).run()


class Audit:
    """The tables of one run."""

    def __init__(self, work: Work) -> None:
        consolidated = work.results.published("consolidate")
        if consolidated is None:
            raise PipelineError(
                f"audit reads what consolidate found, and {work.results.out} has nothing of it: "
                "run `chat-tui pipeline consolidate` with the same --out first."
            )
        self.work = work
        self.consolidated = consolidated
        self.omissions = Omissions(work.inputs.notes)
        self.history = self._read("history", HISTORY)
        self.log = work.inputs.log(work.spark)
        self.refused: DataFrame | None = None
        """As of `storage.pipeline.audit.not_let_in.refused`; None if no export tells of any."""

    def run(self) -> None:
        """Make the tables, and count their rows."""
        self._governed()
        self._histories()
        self._logs()
        for name in HELPERS:
            self.work.run.drop(name)
        figures = self.work.run.figures
        figures["findings"] = sum(figures.values())
        if gone := row_count(self.work.run.directory, "left"):
            figures["left"] = gone
            figures["left_at"] = first_rows(self.work.run.directory, "left", LEFT_MAX)[:LEFT_MAX]
        if kept_out := row_count(self.work.run.directory, "not_let_in"):
            figures["not_let_in"] = kept_out
        if in_part := self.omissions.logs_in_part:
            figures["logs_exported_in_part"] = len(in_part)

    def _governed(self) -> None:
        """Tell what nodes did not let in, which they do not lack."""
        told = self.work.inputs.not_let_in(self.work.spark)
        if told is None:
            nothing = self.work.spark.createDataFrame([], REFUSED)
            self.work.write("not_let_in", nothing)
        else:
            self.refused = self.work.write_side(
                "not_let_in", not_let_in.refused(told, self.history)
            )

    def _lacked(self, found: "DataFrame") -> "DataFrame":
        return found if self.refused is None else not_let_in.lacked(found, self.refused)

    def _histories(self) -> None:
        self._found("equivocations", history_findings.equivocations(self.history))
        doubtful = history_findings.doubtful(history_findings.dependencies(self.history))
        if older := self.omissions.older:
            ids = self.work.spark.createDataFrame(older, OLDER)
            doubtful = doubtful.join(handed(ids, len(older)), "parent", "left_anti")
        if self.refused is not None:
            unknown = doubtful.where("parent_lamport is null")
            doubtful = doubtful.where("parent_lamport is not null").unionAll(
                not_let_in.unknown(unknown, self.refused)
            )
        edges = self.work.write("edges", doubtful)
        self._found("unknown_dependencies", history_findings.unknown_dependencies(edges))
        self._found("causal_violations", history_findings.causal_violations(edges))
        held, members = self._read("held", HELD), self._read("members", MEMBERS)
        members = handed(members, row_count(self.consolidated.directory, "members"))
        order = self.work.write("order", history_findings.placed(self.history))
        who = history_findings.bits(order, held, members)
        ends = self.work.write_side("ends", history_findings.ends(who, members))
        self._found("missing", self._exported(history_findings.missing(who, ends)))
        self._tails(self.work.write("behind", tails.behind(ends, self.history)), ends)

    def _exported(self, missing: "DataFrame") -> "DataFrame":
        missing = self._lacked(missing)
        if begins := self.omissions.begins:
            told = self.work.spark.createDataFrame(begins, BEGINS)
            return history_findings.exported(missing, handed(told, len(begins)))
        return missing

    def _tails(self, late: "DataFrame", ends: "DataFrame") -> None:
        """Tell who left from who lacks the end; where nobody is behind, no log is read."""
        nodes = sorted(row.node for row in late.select("node").distinct().collect())
        log = self.work.inputs.log_of(self.work.spark, nodes)
        reached = self.work.write("reached", tails.reach(log, self._whole(self.history)))
        there = handed(tails.awaited(late, reached), self._rows("reached"))
        found = tails.missing_tail(self.history, there)
        if (told := self._unheld(ends)) is not None:
            found = found.unionAll(tails.emptied(told, self._whole(self.history)))
        found = self._exported(found)
        self._found("missing_tail", found)
        away = handed(tails.gone(late, found), self._rows("behind"))
        later = self._lacked(tails.later(self.history, away))
        self.work.write("left", tails.left(later, reached))

    def _unheld(self, ends: "DataFrame") -> "DataFrame | None":
        """Return what logs of nodes tell that hold nothing of a channel; None if there are none.

        Where each node of an export holds something of each channel, no log is read.
        """
        inputs, log = self.work.inputs, self.log
        claims = sorted({*islice(inputs.logged(), CLAIMS_MAX + 1)})
        if len(claims) <= CLAIMS_MAX:
            claimed = self.work.spark.createDataFrame(claims, CLAIMED)
            nodes = sorted({row.node for row in tails.unheld(claimed, ends).collect()})
            if not nodes:
                return None
            log = inputs.log_of(self.work.spark, nodes)
        told = self.work.write("unheld", tails.told_by_unheld(log, ends))
        return told if self._rows("unheld") else None

    def _logs(self) -> None:
        related = log_reading.relations(self.history)
        known = self._whole(log_reading.known(self.history, related))
        in_part = self.omissions.logs_in_part
        rows = self.work.write("noticed", log_reading.noticed(self.log, known, in_part))
        holes = log_findings.trace_holes(log_reading.words(rows))
        if forgotten := self.omissions.forgotten:
            gone = self.work.spark.createDataFrame(forgotten, HOLES)
            holes = log_findings.unexplained(holes, handed(gone, len(forgotten)))
        self._found("trace_holes", holes)
        told = log_reading.told_otherwise(rows)
        disputed = self.work.write_side(
            "disputed", log_findings.disputed_lamports(told, self.history)
        )
        self._found("order_divergence", log_findings.order_divergence(told, disputed))
        self._early(self.work.write("suspected", log_reading.suspects(rows, self._whole(related))))

    def _early(self, suspected: "DataFrame") -> None:
        """Tell of early deliveries; only logs of who is suspected are read again."""
        inputs, log = self.work.inputs, self.log
        nodes = sorted({str(node) for note in inputs.notes for node in note.nodes})
        if (named := log_findings.owners(suspected, nodes)) is not None:
            log = inputs.log_of(self.work.spark, named)
        rows = log_findings.delivered_or_lost(log)
        about = self.work.write("about", log_findings.evidence(rows, suspected))
        self._found("early_deliveries", log_findings.early_deliveries(about, self.history))

    def _whole(self, entries: "DataFrame") -> "DataFrame":
        """Return what every entry has, handed to every task if it is small."""
        return handed(entries, self.consolidated.figures["entries"])

    def _rows(self, name: str) -> int:
        return row_count(self.work.run.directory, name)

    def _read(self, name: str, schema: str) -> "DataFrame":
        path = self.consolidated.directory / name
        # what the path of a file says besides, its day, is of no use here
        rows = self.work.whole(read_tables(self.work.spark, schema, [path]))
        return rows.select(*(one.partition(" ")[0] for one in schema.split(", ")))

    def _found(self, name: str, found: "DataFrame") -> None:
        """Write the findings of one kind, and count them by what the files say of themselves."""
        self.work.write(name, found)
        self.work.run.figures[name] = row_count(self.work.run.directory, name)
