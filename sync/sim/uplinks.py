"""The uplinks of simulated nodes: all streams of a sender share so many bytes a second.

A push sends its next message when the one before it has left, so other streams get their turn.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sync.group import values
from sync.machine import SECOND, Nanos

SMALL: Final = 64
"""Bytes of what opens, proves or ends a stream."""


@dataclass(slots=True)
class Pushing:
    """What is still to be sent on a transfer stream; `stops_at` once its receiver closed it."""

    inputs: Iterator[values.Transferred]
    stops_at: Nanos | None = None

    def stopped(self, now: Nanos) -> bool:
        """Whether the sender has noticed that nobody takes more."""
        return self.stops_at is not None and self.stops_at <= now


@dataclass(slots=True)
class Uplinks:
    """Of all nodes, by number.

    Attributes:
        rate: bytes a second of each; None without a limit.
        received: bytes that were sent to each node on streams.
        pushes: transfers that go on, by sender and receiver.
    """

    rate: int | None
    received: Counter[int] = field(default_factory=Counter)
    pushes: dict[tuple[int, int], list[Pushing]] = field(default_factory=dict)
    _free_at: dict[int, Nanos] = field(default_factory=dict)

    def departs(self, sender: int, receiver: int, event: values.Input, now: Nanos) -> Nanos:
        """Return when all of an input that is sent now has left."""
        size = SMALL
        if isinstance(event, values.SessionPayload | values.Transferred):
            size = len(event.payload)
        self.received[receiver] += size
        if self.rate is None:
            return now
        left = max(now, self._free_at.get(sender, 0)) + size * SECOND // self.rate
        self._free_at[sender] = left
        return left

    def free_at(self, sender: int) -> Nanos:
        """Return when what was given to the uplink so far has left."""
        return self._free_at.get(sender, 0)

    def begin(self, sender: int, receiver: int, inputs: Iterator[values.Transferred]) -> Pushing:
        """A push begins."""
        pushing = Pushing(inputs)
        self.pushes.setdefault((sender, receiver), []).append(pushing)
        return pushing

    def stop(self, sender: int, receiver: int, at: Nanos) -> None:
        """A receiver closes the transfers of a sender, who notices `at`."""
        for pushing in self.pushes.pop((sender, receiver), []):
            pushing.stops_at = at

    def end(self, sender: int, receiver: int, pushing: Pushing) -> None:
        """A push is over."""
        going_on = self.pushes.get((sender, receiver), [])
        if pushing in going_on:
            going_on.remove(pushing)
