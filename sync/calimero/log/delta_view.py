"""The messages of a channel as delta sync needs them; ids are 32 bytes each."""

from collections.abc import Iterable, Sequence
from typing import Protocol


class DeltaView(Protocol):
    """The messages as they were when a session froze what it compares, and what lacks now."""

    def lamport_of(self, message_id: bytes) -> int | None:
        """Return the Lamport timestamp of a message; None if it was not here."""

    def between(self, floor: int, until: int, most: int) -> Sequence[tuple[int, bytes]]:
        """Return Lamport timestamp and id of what was there, ascending, without `until`.

        Of more than `most`, the last ones.
        """

    def floor_of(self, count: int, until: int) -> int:
        """Return the Lamport timestamp of the lowest of so many messages below another; 0: all."""

    def holds(self, message_id: bytes) -> bool:
        """Return whether nobody need bring a message now: it is here, or is not let in."""

    def comes(self, message_id: bytes) -> bool:
        """Return whether another session brings a message that is not here."""

    def missing(self) -> Iterable[tuple[bytes, int | None]]:
        """Return what messages name that is not here now.

        With each the Lamport timestamp of a message that names it, if that is known.
        """
