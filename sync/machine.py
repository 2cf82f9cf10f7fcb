"""The one shape every protocol has: inputs and a clock in, effects out.

Rules:
1. Only `handle` changes state; it returns what must happen, in order.
2. A machine never reads a clock, a socket, a disk or a global random source.
3. One `deadline()` instead of many timers: feed `Tick` no later than that.
4. Bad input from a peer raises `RemoteError` before any state has changed.
"""

from collections.abc import Sequence
from typing import NewType, Protocol, TypeAlias, TypeVar

from msgspec import Struct

Nanos: TypeAlias = int
"""A point in time (since the Unix epoch) or a span, in nanoseconds."""

MessageId = NewType("MessageId", str)
"""Lowercase hex SHA-256 of an entry's header, 64 characters."""

PeerId = NewType("PeerId", str)
"""A participant: lowercase hex of its Ed25519 public key, 64 characters."""

ChannelId = NewType("ChannelId", str)
"""Lowercase hex, 32 characters."""

MILLISECOND: Nanos = 1_000_000
SECOND: Nanos = 1_000_000_000
MINUTE: Nanos = 60 * SECOND
HOUR: Nanos = 60 * MINUTE
DAY: Nanos = 24 * HOUR


def earlier(one: Nanos | None, other: Nanos | None) -> Nanos | None:
    """Return the earlier of two points in time; None never comes."""
    if one is None or (other is not None and other < one):
        return other
    return one


class Tick(Struct, frozen=True):
    """Input: the clock reached `deadline()`."""


InputT_contra = TypeVar("InputT_contra", contravariant=True)
EffectT_co = TypeVar("EffectT_co", covariant=True)


class Machine(Protocol[InputT_contra, EffectT_co]):
    """See the module docstring."""

    def handle(self, event: InputT_contra, now: Nanos) -> Sequence[EffectT_co]:
        """Apply `event` at time `now`; return the effects in the order they must happen."""

    def deadline(self) -> Nanos | None:
        """Return when `Tick` is next due, or None when nothing waits on time."""
