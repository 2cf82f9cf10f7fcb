"""The messages of a channel as delta sync needs them; ids are 32 bytes each."""

from collections.abc import Iterable, Sequence
from typing import Protocol


class FrozenLog(Protocol):
    """The messages of a channel as a session found them; ids are 32 bytes each."""

    def lamport_of(self, message_id: bytes) -> int | None:
        """Return the Lamport timestamp of a message; None if it was not here."""

    def between(self, floor: int, until: int, most: int) -> Sequence[tuple[int, bytes]]:
        """Return Lamport timestamp and id of what is there, ascending, without `until`.

        Of more than `most`, the last ones.
        """

    def floor_of(self, count: int, until: int) -> int:
        """Return the Lamport timestamp of the lowest of so many messages below another; 0: all."""


class DeltaView(Protocol):
    """The same, as it is now."""

    def holds(self, message_id: bytes) -> bool:
        """Return whether nobody need bring a message: it is here, or is not let in."""

    def missing(self) -> Iterable[tuple[bytes, int | None]]:
        """Return what messages name that is not here, and the Lamport timestamp of one of them."""
