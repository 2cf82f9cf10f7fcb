"""Plan of a data set: its size, who takes part, and which message carries which fault."""

import hashlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from storage.pipeline.errors import PipelineError
from sync.entries.ed25519 import KEY_SIZE
from sync.entries.identity import Identity
from sync.machine import SECOND, ChannelId, Nanos

BEGIN: Final[Nanos] = 1_763_700_000 * SECOND
"""When the first message may be written."""

ROWS_MAX: Final = 100_000_000
"""Rows of one table: what is noted of each event before it is written takes 27 bytes."""

NODES_MAX: Final = 10_000
HOURS_MAX: Final = 1_000_000
"""A century; of three no number of nanoseconds has room."""

MEMBERS_MIN: Final = 2
EARLIEST: Final = 8
"""Messages at the beginning and the end of a channel that carry no fault: a fault needs messages
around it."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Faults:
    """Numbers of planted faults, by kind."""

    equivocations: int = 5
    unknown_dependencies: int = 30
    causal_violations: int = 10
    early_deliveries: int = 10
    order_divergence: int = 10
    trace_holes: int = 10
    late_joiners: int = 8
    false_ids: int = 5
    bad_signatures: int = 5
    false_columns: int = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """The size of a data set. Shares are of 1; `duplicates` of what is received."""

    nodes: int
    messages: int
    channels: int
    members: int
    loss: float
    never: float
    duplicates: float
    hours: float
    seed: int
    faults: Faults

    def check(self) -> None:
        """Make sure that it can be made.

        Raises:
            PipelineError: too few nodes or members, a share that is none, or too many rows.
        """
        if not MEMBERS_MIN <= self.members <= self.nodes <= NODES_MAX:
            raise PipelineError(
                f"{self.members} members of a channel, out of {self.nodes} nodes: name at least "
                f"{MEMBERS_MIN} members, no more than there are nodes, and at most {NODES_MAX:,} "
                "nodes."
            )
        for name, share in (("loss", self.loss), ("never", self.never)):
            if not 0 <= share < 1:
                raise PipelineError(f"--{name} is a share from 0 to below 1, not {share}.")
        if not 0 <= self.duplicates <= 1:
            raise PipelineError(f"--duplicates is a share from 0 to 1, not {self.duplicates}.")
        if self.messages * self.members * (2 + self.duplicates) > ROWS_MAX:
            raise PipelineError(
                f"{self.messages:,} messages for {self.members} members each are over "
                f"{ROWS_MAX:,} rows; name fewer."
            )
        if self.channels < 1 or self.messages < self.channels:
            raise PipelineError("Name at least one channel, and one message for each.")
        if not 0 < self.hours <= HOURS_MAX:
            raise PipelineError(
                f"--hours is above 0, and at most {HOURS_MAX:,}, not {self.hours:g}."
            )

    @property
    def span_ns(self) -> Nanos:
        """Over how long messages are written."""
        return round(self.hours * 3600 * SECOND)


class Role(IntEnum):
    """The fault that a message is planted for, if any."""

    HONEST = 0
    EQUIVOCATION = 1
    UNKNOWN_DEPENDENCY = 2
    CAUSAL_VIOLATION = 3


@dataclass(frozen=True, slots=True)
class ChannelPlan:
    """One channel: its nodes (rising), since when each is there, and its messages by time."""

    number: int
    channel: ChannelId
    members: Ints
    joined_ns: Ints
    created_ns: Ints
    roles: Ints


def people(plan: Plan) -> list[Identity]:
    """Return the nodes, in the order of their keys."""
    made = [
        Identity.from_seed(*(_seed(plan.seed, use, number) for use in ("signing", "noise")))
        for number in range(plan.nodes)
    ]
    return sorted(made, key=lambda one: one.peer_id)


def channels(plan: Plan, dice: np.random.Generator) -> list[ChannelPlan]:
    """Return the channels, the first one the busiest (Zipf), with the faults of their messages.

    Raises:
        PipelineError: there are too few messages for so many faults.
    """
    sizes = _zipf(plan.messages, plan.channels)
    roles = _roles(plan.faults, sizes, dice)
    late = _late(plan, sizes, dice)
    found = []
    for number, (size, planted) in enumerate(zip(sizes, roles, strict=True)):
        members = np.sort(dice.choice(plan.nodes, plan.members, replace=False)).astype(np.int64)
        joined = np.full(plan.members, BEGIN, np.int64)
        for member in late.get(number, ()):
            joined[member] = BEGIN + int(plan.span_ns * dice.uniform(0.3, 0.7))
        created = np.sort(dice.integers(BEGIN, BEGIN + plan.span_ns, size))
        channel = ChannelId(_seed(plan.seed, "channel", number)[:16].hex())
        found.append(ChannelPlan(number, channel, members, joined, created, planted))
    return found


def _zipf(messages: int, count: int) -> list[int]:
    weights = 1 / np.arange(1, count + 1)
    sizes = np.maximum((messages * weights / weights.sum()).astype(int), 1)
    sizes[0] += messages - sizes.sum()
    return [int(size) for size in sizes]


def _roles(faults: Faults, sizes: list[int], dice: np.random.Generator) -> list[Ints]:
    """Return the `Role` of each message, by channel."""
    wanted = (
        [Role.EQUIVOCATION] * faults.equivocations
        + [Role.UNKNOWN_DEPENDENCY] * faults.unknown_dependencies
        + [Role.CAUSAL_VIOLATION] * faults.causal_violations
    )
    places = [
        (number, at) for number, size in enumerate(sizes) for at in range(EARLIEST, size - EARLIEST)
    ]
    if len(wanted) > len(places):
        raise PipelineError(
            f"{len(wanted)} faults do not fit {sum(sizes)} messages in {len(sizes)} channels; "
            "name more messages or fewer faults."
        )
    roles = [np.zeros(size, np.int64) for size in sizes]
    chosen = dice.choice(len(places), len(wanted), replace=False) if wanted else ()
    for place, role in zip(chosen, wanted, strict=True):
        number, at = places[int(place)]
        roles[number][at] = role
    return roles


def _late(plan: Plan, sizes: list[int], dice: np.random.Generator) -> dict[int, set[int]]:
    """Return who joins late: members (by position) by channel; half of them are always there."""
    places = [
        (number, member)
        for number, size in enumerate(sizes)
        if size > 4 * EARLIEST
        for member in range(plan.members // 2)
    ]
    count = min(plan.faults.late_joiners, len(places))
    late: dict[int, set[int]] = {}
    for place in dice.choice(len(places), count, replace=False) if count else ():
        number, member = places[int(place)]
        late.setdefault(number, set()).add(member)
    return late


def _seed(seed: int, use: str, number: int) -> bytes:
    made = hashlib.sha256(f"chat-tui synthetic {seed} {use} {number}".encode()).digest()
    assert len(made) == KEY_SIZE
    return made
