"""Evidence of a report: the first findings of each kind, with names, times and whole ids."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from storage.archive.tables import HISTORY_DIR
from storage.pipeline.answers.cells import arranged, cell, time_text
from storage.pipeline.answers.local_results import open_dataset, unreadable
from storage.pipeline.answers.people import Names, names_of
from storage.pipeline.results.small_tables import Row, first_rows, row_count, table_names
from storage.pipeline.results.table_meanings import MEANINGS
from storage.results import Published

EVIDENCE: Final[Mapping[str, Sequence[str] | None]] = {
    "consolidate": ["quarantine"],
    "audit": [name for name in MEANINGS["audit"] if name not in ("left", "not_let_in")],
    "delivery": ["repairers", "slowest_links", "slowest_nodes", "partitions"],
    "diff": ["only_a", "only_b", "false"],
    "sweep": None,
}
"""The tables of each job whose first rows stand in the page; None: all that the job wrote."""

EVIDENCE_ROWS: Final = 20
"""Rows of each: enough to see what is meant; the table has all."""

LOOKED_THROUGH_MAX: Final = 5_000_000
"""Messages of a history that is looked through for the times of a few of them, in seconds."""

HOLDERS_NAMED: Final = 4

ENTRY: Final = "entry_"
ENTRIES_SHOWN: Final = 4
"""Entries of one fork that stand side by side."""

PEOPLE: Final = frozenset({"node", "author", "peer"})
MESSAGES: Final = frozenset({"message_id", "parent"})

TIME: Final = "created_ns"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: words, and an id that is copied whole; either may be empty."""

    text: str
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The first rows of a table that a job wrote, and how many it has."""

    name: str
    count: int
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    meaning: str = ""


def _side_by_side(row: Row) -> Row:
    """Give each of the first entries of a fork a column of its own."""
    entries = list(row.get("message_ids") or ())
    rest = {name: value for name, value in row.items() if name != "message_ids"}
    shown = {f"{ENTRY}{number}": one for number, one in enumerate(entries[:ENTRIES_SHOWN], 1)}
    more = {"more_entries": len(entries) - ENTRIES_SHOWN} if len(entries) > ENTRIES_SHOWN else {}
    return rest | shown | more


class Gatherer:
    """Gathers the evidence of published results.

    Raises:
        PipelineError: a table cannot be read.
    """

    def __init__(self, found: Mapping[str, Published]) -> None:
        self._found = found
        self._tables: dict[tuple[str, str], list[Row]] = {}
        for job, one in found.items():
            for name in self._names_in(job):
                if rows := first_rows(one.directory, name, EVIDENCE_ROWS):
                    self._tables[job, name] = rows
        rows = [row for rows in self._tables.values() for row in rows]
        keys = {str(row[name]) for row in rows for name in PEOPLE if row.get(name)}
        self._held = self._looked_up(rows)
        holders = {node for _, nodes in self._held.values() for node in nodes}
        self._names: Names = names_of(found, keys | holders)

    def _names_in(self, job: str) -> Sequence[str]:
        if job not in EVIDENCE:
            return ()
        return list(EVIDENCE[job] or table_names(self._found[job].directory))

    def of(self, job: str) -> Iterator[Evidence]:
        """Yield the evidence of a job."""
        meanings = MEANINGS.get(job, {})
        for (of_job, name), rows in self._tables.items():
            if of_job == job:
                count = row_count(self._found[job].directory, name)
                yield self._table(name, count, rows, meanings.get(name, ""))

    def _table(self, name: str, count: int, rows: Sequence[Row], meaning: str) -> Evidence:
        rows = [self._with_time(row) for row in rows]
        if name == "equivocations":
            rows = [_side_by_side(row) for row in rows]
        columns = arranged(list(dict.fromkeys(column for row in rows for column in row)))
        cells = [[self._cell(column, row.get(column)) for column in columns] for row in rows]
        return Evidence(name, count, columns, cells, meaning)

    def _with_time(self, row: Row) -> Row:
        """Add when a message was written, where the table does not tell a time."""
        held = self._held.get(row.get("message_id") or b"")
        if held is None or any(name.endswith("_ns") for name in row):
            return row
        return {TIME: held[0][TIME], **row}

    def _cell(self, column: str, value: Any) -> Cell:  # noqa: ANN401  # any value of a table
        if column.startswith(ENTRY) and isinstance(value, bytes):
            return Cell(self._entry(value), value.hex())
        if column in PEOPLE and isinstance(value, str):
            return Cell(self._names.people.get(value, ""), value)
        if column == "channel" and isinstance(value, str):
            known = value in self._names.channels
            return Cell(self._names.channel(value) if known else "", value)
        if column in MESSAGES and isinstance(value, bytes):
            return Cell("", value.hex())
        return Cell(cell(column, value))

    # --- Entries of a fork ---------------------------------------------------------------------

    def _entry(self, message_id: bytes) -> str:
        """Say of one entry of a fork when it was written and who holds it."""
        held = self._held.get(message_id)
        if held is None:
            return ""
        row, nodes = held
        named = ", ".join(self._names.person(node) for node in nodes[:HOLDERS_NAMED])
        over = len(nodes) - HOLDERS_NAMED
        more = f" and {over:,} more" if over > 0 else ""
        when = f"{time_text(row[TIME])}\nLamport time {row['lamport']}"
        return f"{when}\nheld by {named or 'nobody'}{more}\n"

    def _looked_up(self, rows: Sequence[Row]) -> dict[bytes, tuple[Row, list[str]]]:
        """Return the history's row of each message that is named, and who holds it."""
        consolidated = self._found.get("consolidate")
        ids = {row["message_id"] for row in rows if isinstance(row.get("message_id"), bytes)}
        forked = {one for row in rows for one in row.get("message_ids") or ()}
        if consolidated is None or not ids | forked:
            return {}
        if int(consolidated.figures.get("entries") or 0) > LOOKED_THROUGH_MAX:
            return {}
        columns = ["message_id", TIME, "lamport"]
        history = self._chosen(consolidated.directory / HISTORY_DIR, ids | forked, columns)
        holding: dict[bytes, list[str]] = {}
        where = consolidated.directory / "holders"
        for row in self._chosen(where, forked, ["message_id", "node"]):
            holding.setdefault(row["message_id"], []).append(row["node"])
        return {
            row["message_id"]: (row, sorted(holding.get(row["message_id"], ()))) for row in history
        }

    @staticmethod
    def _chosen(table: Path, ids: set[bytes], columns: list[str]) -> list[Row]:
        if not ids or not any(table.rglob("*.parquet")):
            return []
        chosen = pc.field("message_id").isin(sorted(ids))
        try:
            rows: list[Row] = (
                open_dataset(table).to_table(columns=columns, filter=chosen).to_pylist()
            )
        except (OSError, pa.ArrowException) as error:
            raise unreadable(table, error) from error
        return rows
