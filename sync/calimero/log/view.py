"""Messages of a channel, as sessions over them need to know them.

What is compared is frozen by the sessions (`Opening.local`); this is the rest.
"""

from typing import Protocol

from sync.calimero.log.delta_view import DeltaView
from sync.calimero.log.snapshot_news import SnapshotView
from sync.machine import MessageId, Nanos
from sync.sketch.prefix import Sketch
from sync.structures.ordered_set import OrderedSet


class LogView(Protocol):
    """The messages of a channel."""

    @property
    def is_empty(self) -> bool:
        """True if no entry and no state is stored here; governance does not count.

        Nor do our own registers, and our own lines while a snapshot is on its way: it adds to them.
        """

    @property
    def snapshot(self) -> SnapshotView:
        """The snapshot that is on its way here, if one is."""

    def scope(self) -> bytes:
        """Return SHA-256 of our sorted heads of governance; zeros where nobody governs."""

    def heads(self) -> tuple[MessageId, ...]:
        """Return the newest messages that are held, `HEADS_MAX` at most, highest place last.

        Those that wait for others count: they are here.
        """

    def wanted(self) -> tuple[MessageId, ...]:
        """Return the messages that others name and that are not here, those given up too."""

    def sketch(self, frozen: OrderedSet, floor: Nanos, now: Nanos) -> Sketch | None:
        """Return the symbols of what was frozen, from about a floor on; None if none are kept."""

    def frozen(self) -> DeltaView:
        """Return the messages as they are at this moment, for delta sync."""
