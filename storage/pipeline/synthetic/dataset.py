"""Makes an export of many nodes with planted faults, and writes down the truth beside it.

The exports lie in DIR as `storage.pipeline.synthetic.layouts` has it; beside them, DIR/truth.json
has `Truth`, the counts, and what was asked for. No job reads the truth; a test holds it against
what the audit finds.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from storage.archive import tables
from storage.archive.layout import Layout
from storage.archive.parquet import whole, writable
from storage.archive.tables import replace_text
from storage.pipeline.errors import PipelineError
from storage.pipeline.synthetic import events, faults, files
from storage.pipeline.synthetic.layouts import LAYOUTS, Holdings
from storage.pipeline.synthetic.plan import BEGIN, Plan, channels, people
from storage.pipeline.synthetic.traffic import Traffic, Writing
from sync.entries.identity import Identity
from sync.errors import LocalError
from sync.machine import SECOND

TRUTH: Final = "truth.json"

RESTARTS: Final = 0.125
"""Of the nodes: start a second time, somewhere in the middle."""

Progress: TypeAlias = Callable[[str], None]


def synthesize(
    directory: Path, plan: Plan, progress: Progress, layout: Layout = Layout.ONE
) -> dict[str, int]:
    """Make the data set in a new or empty directory; returns what it holds and has planted.

    Raises:
        PipelineError: the directory has something in it, or cannot be written, or the plan cannot
            be carried out.
    """
    plan.check()
    try:
        with writable(directory), whole(directory):
            made = _Made(directory, plan, layout)
            made.write_messages(progress)
            made.write_history(progress)
            made.write_log(progress)
            for lack in made.lacking():
                progress(lack)
            return made.finish()
    except LocalError as error:
        raise PipelineError(str(error)) from error


class _Made:
    """A data set while it is made, channel after channel."""

    def __init__(self, directory: Path, plan: Plan, layout: Layout) -> None:
        self.directory = directory
        self.plan = plan
        self.dice = np.random.default_rng(plan.seed)
        self.truth = faults.Truth()
        self.people: Sequence[Identity] = people(plan)
        self.nodes = [one.peer_id for one in self.people]
        self.writer = LAYOUTS[layout](directory, self.nodes)
        self.traffics: list[Traffic] = []
        self.firsts: list[int] = []
        self.rights: list[NDArray[np.bool_]] = []
        """Holders of each message, by channel: false rows count for nothing."""
        self.protected: list[tuple[int, int]] = []
        """(member's node, message) of rows of the log that must not go lost."""
        self.history_rows = self.log_rows = 0

    def write_messages(self, progress: Progress) -> None:
        """Have everybody write, and deliver it."""
        first = 0
        for channel in channels(self.plan, self.dice):
            traffic = Traffic.of(self.plan, channel, self.dice)
            members = [self.people[int(node)] for node in channel.members]
            Writing(traffic, members, self.dice).write_rows()
            self.traffics.append(traffic)
            self.firsts.append(first)
            first += len(traffic.messages)
            progress(f"signed {first:,} of {self.plan.messages:,} messages")
            self._note_authors(traffic)
        self._early()

    def write_history(self, progress: Progress) -> None:
        """Write what each node holds."""
        chosen = faults.false_rows(self.traffics, self.plan.faults, self.dice)
        for number, traffic in enumerate(self.traffics):
            false = {(at, who): kind for (of, at, who), kind in chosen.items() if of == number}
            held = np.isfinite(traffic.received)
            table = files.HistoryTable(traffic.messages, self.nodes)
            delivered = np.isfinite(traffic.delivered)
            self.writer.write_history(Holdings(table, held, delivered, traffic.plan.members, false))
            self.history_rows += int(held.sum())
            self._note_history(traffic, held, false)
            progress(f"wrote {self.history_rows:,} rows of history")

    def write_log(self, progress: Progress) -> None:
        """Write what each node logged."""
        first_ghost = self.plan.messages
        ids, lamports, sizes = self._messages()
        parts = []
        for traffic, first in zip(self.traffics, self.firsts, strict=True):
            ghosts = {at: len(ids) + number for number, at in enumerate(traffic.ghosts)}
            ids += traffic.ghosts.values()
            noting = events.Noting(traffic, first, self.dice)
            parts.append(noting.note(self.plan, ghosts))
        ends = np.cumsum([0] + [len(part) for part in parts])
        all_events = events.joined(parts)
        del parts
        progress(f"numbering {len(all_events):,} rows of logs")
        boot, seq, gone, told = self._number(all_events, first_ghost, lamports)
        table = files.LogTable(all_events, seq, boot, self.nodes)
        unknown = len(ids) - len(lamports)
        table.know(ids, lamports + [events.NONE] * unknown, sizes + [0] * unknown)
        table.told = told
        for number, traffic in enumerate(self.traffics):
            rows = np.arange(ends[number], ends[number + 1])
            rows = rows[~gone[rows]]
            self._note_tails(number, all_events, rows)
            self.writer.write_log(table, rows, traffic.plan.channel)
            self.log_rows += len(rows)
            progress(f"wrote {self.log_rows:,} rows of logs")

    def lacking(self) -> list[str]:
        """Return a sentence for each kind of fault of which fewer fit than were asked for."""
        planted = {name: len(found) for name, found in asdict(self.truth).items()}
        return [
            f"planted {planted[name]:,} {name.replace('_', ' ')} of {wanted:,}: for more, name "
            "more messages, channels or members"
            for name, wanted in asdict(self.plan.faults).items()
            if planted.get(name, wanted) < wanted  # false rows are of one kind in the truth
        ]

    def finish(self) -> dict[str, int]:
        """Write the truth and the note; only with the note it is an export."""
        truth = asdict(self.truth)
        counts = {"history": self.history_rows, "log": self.log_rows}
        counts |= {name: len(planted) for name, planted in truth.items()}
        text = json.dumps({"plan": asdict(self.plan), "counts": counts, "truth": truth}) + "\n"
        replace_text(self.directory / TRUTH, text)
        self.writer.finish(
            {
                str(traffic.plan.channel): f"synthetic-{traffic.plan.number}"
                for traffic in self.traffics
            }
        )
        return counts

    def _note_authors(self, traffic: Traffic) -> None:
        """Write down what was planted in the messages of a channel."""
        entries = [message.entry for message in traffic.messages]
        for one, _ in traffic.forks:
            header = entries[one].header
            self.truth.equivocations.append([header.author, tables.signed(header.log), header.seq])
        for at, ghost in traffic.ghosts.items():
            self.truth.unknown_dependencies.append([entries[at].message_id, ghost.hex()])
        for at, parent in traffic.backward:
            planted = [entries[at].message_id, entries[parent].message_id]
            self.truth.causal_violations.append(planted)
        for member in np.flatnonzero(traffic.plan.joined_ns > traffic.plan.joined_ns.min()):
            node = self.nodes[int(traffic.plan.members[member])]
            self.truth.late_joiners.append([node, traffic.plan.channel])

    def _early(self) -> None:
        """Plant messages that are delivered before their parent."""
        done: set[tuple[int, int]] = set()
        for _ in range(self.plan.faults.early_deliveries):
            for _ in range(faults.TRIES):
                number = int(self.dice.integers(len(self.traffics)))
                traffic = self.traffics[number]
                found = faults.early(traffic, self.dice, {at for of, at in done if of == number})
                if found is not None:
                    break
            else:
                raise PipelineError("No message is left to deliver early; name more messages.")
            member, at, parent = found
            done |= {(number, at), (number, parent)}
            node = int(traffic.plan.members[member])
            first = self.firsts[number]
            self.protected += [(node, first + at), (node, first + parent)]
            ids = [traffic.messages[one].entry.message_id for one in (at, parent)]
            self.truth.early_deliveries.append([self.nodes[node], *ids])

    def _note_history(
        self, traffic: Traffic, held: NDArray[np.bool_], false: dict[tuple[int, int], str]
    ) -> None:
        """Write down which rows are false, and what is missing; a false row counts for nothing."""
        right = held.copy()
        for (at, member), kind in false.items():
            right[at, member] = False
            said = bytes.fromhex(traffic.messages[at].entry.message_id)
            if kind == faults.FALSE_ID:
                said = bytes([said[0] ^ 1]) + said[1:]
            node = self.nodes[int(traffic.plan.members[member])]
            self.truth.quarantine.append([node, said.hex(), kind])
        self.rights.append(right)
        for at, member in faults.missing(traffic, right):
            node = self.nodes[int(traffic.plan.members[member])]
            self.truth.missing.append([node, traffic.messages[at].entry.message_id])

    def _note_tails(self, number: int, noted: events.Events, rows: NDArray[np.int64]) -> None:
        """Write down what members lack at the end of a channel; `rows` are those of its log."""
        traffic = self.traffics[number]
        latest = np.full(self.plan.nodes, BEGIN, np.int64)
        np.maximum.at(latest, noted.node[rows], noted.ts_ns[rows])
        ends = (latest[traffic.plan.members] - BEGIN) / SECOND
        for at, member in faults.missing_tail(traffic, self.rights[number], ends):
            node = self.nodes[int(traffic.plan.members[member])]
            self.truth.missing_tail.append([node, traffic.messages[at].entry.message_id])

    def _messages(self) -> tuple[list[bytes], list[int], list[int]]:
        """Return ids, Lamport times and sizes of all messages, in the order of their numbers."""
        messages = [message for traffic in self.traffics for message in traffic.messages]
        return (
            [bytes.fromhex(message.entry.message_id) for message in messages],
            [message.entry.header.lamport for message in messages],
            [len(message.payload) for message in messages],
        )

    def _number(
        self, rows: events.Events, first_ghost: int, lamports: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], dict[int, int]]:
        """Number the rows of each start of each node, and plant the faults of logs.

        Returns:
            boot and seq of each row; whether it is gone; what rows tell in place of `lamports`.
        """
        span = self.plan.span_ns
        restart = np.full(self.plan.nodes, np.iinfo(np.int64).max)
        again = self.dice.random(self.plan.nodes) < RESTARTS
        middle = self.dice.uniform(0.3, 0.7, self.plan.nodes) * span
        restart[again] = (BEGIN + middle[again]).astype(np.int64)
        boot = 1 + (rows.ts_ns >= restart[rows.node]).astype(np.int64)
        order = np.lexsort((rows.ts_ns, rows.node))
        log = rows.node[order].astype(np.int64) * 2 + boot[order]
        starts = np.append(np.flatnonzero(np.diff(log, prepend=-1)), len(order))
        seq = np.empty(len(order), np.int64)
        begins = np.repeat(starts[:-1], np.diff(starts))
        seq[order] = np.arange(len(order)) - begins + 1
        told = faults.diverging(rows, first_ghost, self.plan.faults, self.dice)
        told = {row: int(lamports[rows.message[row]]) + by for row, by in told.items()}
        for row, lamport in told.items():
            message = self._id(int(rows.message[row]))
            self.truth.order_divergence.append([self.nodes[rows.node[row]], message, lamport])
        kept = set(told) | self._kept(rows)
        gone = np.zeros(len(order), np.bool_)
        for first, last in faults.holes(order, starts, kept, self.plan.faults, self.dice):
            row = int(order[first])
            hole = [int(seq[row]), int(seq[order[last]])]
            node = self.nodes[rows.node[row]]
            self.truth.trace_holes.append([node, int(boot[row]), *hole])
            gone[order[first : last + 1]] = True
        return boot, seq, gone, told

    def _kept(self, rows: events.Events) -> set[int]:
        """Return the rows of the log that tell of an early delivery."""
        kept: set[int] = set()
        for node, message in self.protected:
            kept.update(np.flatnonzero((rows.message == message) & (rows.node == node)).tolist())
        return kept

    def _id(self, message: int) -> str:
        number = int(np.searchsorted(self.firsts, message, "right")) - 1
        traffic: Any = self.traffics[number]
        return str(traffic.messages[message - self.firsts[number]].entry.message_id)
