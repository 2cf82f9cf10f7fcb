"""The faults that no author makes: in what a node holds, and in what it logs."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from storage.pipeline.errors import PipelineError
from storage.pipeline.synthetic.events import CODE, Events
from storage.pipeline.synthetic.plan import Faults
from storage.pipeline.synthetic.traffic import Traffic
from sync.machine import MILLISECOND, SECOND
from sync.runner.log_rows import LogKind

FALSE_ID: Final = "false id"
BAD_SIGNATURE: Final = "bad signature"
FALSE_COLUMN: Final = "false column"

EARLY_S: Final = MILLISECOND / SECOND / 1000
"""Time before its parent at which a message is delivered, if that fault is planted."""

HOLE_MAX: Final = 5
"""Rows of a hole."""

STAYED_S: Final = 10.0
"""Time for which a log goes on after a message should have come, if its node stayed."""

TRIES: Final = 100
"""Draws for one fault: hardly a row in ten is unfit."""


@dataclass(slots=True)
class Truth:
    """The planted faults; ids are hex, lists in the order of `storage.pipeline.audit.job`."""

    equivocations: list[Any] = field(default_factory=list)
    """(author, log, seq)"""
    unknown_dependencies: list[Any] = field(default_factory=list)
    """(message, the parent that nobody holds)"""
    causal_violations: list[Any] = field(default_factory=list)
    """(message, parent): signed with a Lamport time not above the parent's"""
    early_deliveries: list[Any] = field(default_factory=list)
    """(node, message, parent): delivered before the parent"""
    order_divergence: list[Any] = field(default_factory=list)
    """(node, message, the Lamport time that the node tells)"""
    missing: list[Any] = field(default_factory=list)
    """(node, message)"""
    missing_tail: list[Any] = field(default_factory=list)
    """(node, message): after all that the node holds, while its log goes on"""
    trace_holes: list[Any] = field(default_factory=list)
    """(node, boot, first, last): rows that are gone"""
    quarantine: list[Any] = field(default_factory=list)
    """(node, the id as the row says it, what is false)"""
    late_joiners: list[Any] = field(default_factory=list)
    """(node, channel): not among the findings"""


def early(
    traffic: Traffic, dice: np.random.Generator, used: set[int]
) -> tuple[int, int, int] | None:
    """Have a member deliver a message just before its last parent; (member, message, parent).

    None if there is none to be found; `used` are messages that have another such fault.
    """
    candidates = [
        at
        for at, parents in enumerate(traffic.parents)
        if parents and used.isdisjoint((at, *parents))
    ]
    for _ in range(TRIES if candidates else 0):
        at = candidates[int(dice.integers(len(candidates)))]
        member = int(dice.integers(len(traffic.plan.members)))
        times = {parent: traffic.delivered[parent, member] for parent in traffic.parents[at]}
        parent = max(times, key=lambda one: times[one])
        others = [time for one, time in times.items() if one != parent]
        if (
            member not in (traffic.authors[at], traffic.authors[parent])
            and np.isfinite(traffic.delivered[at, member])
            and np.isfinite(times[parent])
            and np.isinf(traffic.given_up[parent, member])
            and all(time < times[parent] - 2 * EARLY_S for time in others)
        ):
            traffic.delivered[at, member] = times[parent] - EARLY_S
            return member, at, parent
    return None


def false_rows(
    traffics: list[Traffic], faults: Faults, dice: np.random.Generator
) -> dict[tuple[int, int, int], str]:
    """Choose rows of the history that are false: (channel, message, member) -> what is."""
    wanted = (
        [FALSE_ID] * faults.false_ids
        + [BAD_SIGNATURE] * faults.bad_signatures
        + [FALSE_COLUMN] * faults.false_columns
    )
    chosen: dict[tuple[int, int, int], str] = {}
    for kind in wanted:
        for _ in range(TRIES):
            number = int(dice.integers(len(traffics)))
            received = traffics[number].received
            at, member = (int(dice.integers(size)) for size in received.shape)
            # the author's own row stays right: somebody has to hold it
            if (
                (number, at, member) not in chosen
                and traffics[number].authors[at] != member
                and np.isfinite(received[at, member])
            ):
                chosen[number, at, member] = kind
                break
        else:
            raise PipelineError(f"No row is left for a {kind}; name more messages or fewer faults.")
    return chosen


def missing(traffic: Traffic, held: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return (message, member) of what a member lacks between two messages it holds.

    Messages are in the order of the history: (lamport, message_id).
    """
    entries = [message.entry for message in traffic.messages]
    order = sorted(
        range(len(entries)), key=lambda at: (entries[at].header.lamport, entries[at].message_id)
    )
    rows = held[order]
    before = np.maximum.accumulate(rows, axis=0)
    after = np.maximum.accumulate(rows[::-1], axis=0)[::-1]
    lacking = np.argwhere(before & after & ~rows)
    return [(order[int(row)], int(member)) for row, member in lacking]


def missing_tail(
    traffic: Traffic, held: NDArray[np.bool_], ends: NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Return (message, member) of what came after the last message of a member who stayed.

    Args:
        traffic: of a channel
        held: by (message, member)
        ends: until when each member logged something of the channel
    """
    headers = [message.entry.header for message in traffic.messages]
    lamports = np.array([header.lamport for header in headers])
    sent = traffic.received[np.arange(len(headers)), traffic.authors]
    found: list[tuple[int, int]] = []
    for member in np.flatnonzero(held.any(axis=0)):
        last = lamports[held[:, member]].max()
        took = traffic.received[:, member] - sent
        for at in np.flatnonzero((lamports > last) & (traffic.authors != member)):
            least = took[traffic.authors == traffic.authors[at]].min()
            if sent[at] + least + STAYED_S <= ends[member]:
                found.append((int(at), int(member)))
    return found


def diverging(
    events: Events, first_ghost: int, faults: Faults, dice: np.random.Generator
) -> dict[int, int]:
    """Choose rows of the logs that tell another Lamport time: row -> by how much."""
    rows = np.flatnonzero((events.kind == CODE[LogKind.DELIVERED]) & (events.message < first_ghost))
    count = min(faults.order_divergence, len(rows))
    chosen = dice.choice(rows, count, replace=False) if count else ()
    return {int(row): 1 + at for at, row in enumerate(chosen)}


def holes(
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    kept: set[int],
    faults: Faults,
    dice: np.random.Generator,
) -> list[tuple[int, int]]:
    """Choose stretches of the logs that are gone: (first, last) positions in `order`.

    Args:
        order: the rows of all logs, log after log.
        starts: where in `order` each log begins, rising, and the end of the last one.
        kept: rows that carry another fault.
        faults: how many.
        dice: who draws.
    """
    found: list[tuple[int, int]] = []
    taken: set[int] = set()
    for _ in range(faults.trace_holes):
        for _ in range(TRIES):
            first = int(dice.integers(len(order)))
            last = first + int(dice.integers(HOLE_MAX))
            log = int(np.searchsorted(starts, first, "right")) - 1
            around = range(first - 1, last + 2)
            if (
                first > starts[log]
                and last + 1 < starts[log + 1]
                and taken.isdisjoint(around)
                and not any(int(order[at]) in kept for at in around)
            ):
                found.append((first, last))
                taken.update(around)
                break
        else:
            raise PipelineError("No room for a trace hole; name more messages or fewer holes.")
    return found
