"""The uplinks of simulated nodes: all streams of a sender share so many bytes a second.

A push sends its next message when the one before it has left, so other streams get their turn.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sync.group import values
from sync.machine import SECOND, ChannelId, Nanos

SMALL: Final = 64
"""Bytes of what opens, proves or ends a stream."""


Way: TypeAlias = tuple[int, int, ChannelId]
"""Sender, receiver, and the channel that a push is of."""


@dataclass(slots=True)
class Pushing:
    """Rest of a transfer stream still to be sent; afterwards the stream is ended or left open."""

    payloads: Iterator[bytes]
    ends: bool = True
    stops_at: Nanos | None = None
    """When the sender notices that its receiver has closed it."""

    def stopped(self, now: Nanos) -> bool:
        """Return whether the sender has noticed that its receiver closed the stream."""
        return self.stops_at is not None and self.stops_at <= now


@dataclass(slots=True)
class Uplinks:
    """Of all nodes, by number.

    Attributes:
        rate: bytes a second of each; None without a limit.
        received: bytes that were sent to each node on streams.
        pushes: transfers that go on.
    """

    rate: int | None
    received: Counter[int] = field(default_factory=Counter)
    pushes: dict[Way, list[Pushing]] = field(default_factory=dict)
    _free_at: dict[int, Nanos] = field(default_factory=dict)

    def departs(self, sender: int, receiver: int, event: values.Input, now: Nanos) -> Nanos:
        """Return when all of an input that is sent now has left."""
        size = size_of(event)
        self.received[receiver] += size
        if self.rate is None:
            return now
        left = max(now, self._free_at.get(sender, 0)) + size * SECOND // self.rate
        self._free_at[sender] = left
        return left

    def free_at(self, sender: int) -> Nanos:
        """Return when what was given to the uplink so far has left."""
        return self._free_at.get(sender, 0)

    def begin(self, way: Way, pushing: Pushing) -> None:
        """A push begins."""
        self.pushes.setdefault(way, []).append(pushing)

    def stop(self, way: Way, at: Nanos) -> None:
        """A receiver closes what is pushed to it; the sender notices `at`."""
        for pushing in self.pushes.pop(way, []):
            pushing.stops_at = at

    def end(self, way: Way, pushing: Pushing) -> None:
        """A push is over."""
        going_on = self.pushes.get(way, [])
        if any(one is pushing for one in going_on):
            self.pushes[way] = [one for one in going_on if one is not pushing]


def size_of(event: values.Input) -> int:
    """Return how many bytes an input has on a stream."""
    if isinstance(event, values.SessionPayload | values.Transferred):
        return len(event.payload)
    return SMALL
