"""The messages of a channel as delta sync needs them (`sync.calimero.log.delta_view`)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sync.machine import MessageId

if TYPE_CHECKING:
    from sync.group.machines import Machines


class FrozenMessages:
    """Messages delivered, and waiting, at a moment; and what lacks now.

    The log numbers ids as they come, so its part is the first ones of it. What waited is a copy:
    at most `sync.sds.incoming.WAITING_MAX` ids.
    """

    def __init__(self, group: "Machines") -> None:
        self._group = group
        self._order = group.sds.log.order
        self._count = len(self._order)
        self._waiting = {
            bytes.fromhex(one): held.content.lamport
            for one, held in group.sds.incoming.waiting.items()
        }

    def lamport_of(self, message_id: bytes) -> int | None:
        """See `DeltaView`."""
        lamport = self._waiting.get(message_id)
        if lamport is not None:
            return lamport
        return self._order.lamport_of(message_id.hex(), self._count)

    def between(self, floor: int, until: int, most: int) -> list[tuple[int, bytes]]:
        """See `DeltaView`."""
        places = self._order.between(floor, until, most, self._count)
        waits = [(at, one) for one, at in self._waiting.items() if floor <= at < until]
        return sorted([*places, *waits])[-most:] if waits else places

    def floor_of(self, count: int, until: int) -> int:
        """See `DeltaView`; what waits does not count."""
        return self._order.floor_of(count, until, self._count)

    def holds(self, message_id: bytes) -> bool:
        """See `DeltaView`."""
        return self._group.holds(MessageId(message_id.hex()))

    def comes(self, message_id: bytes) -> bool:
        """See `DeltaView`."""
        named = self._group.sds.repairs.asking.entry_of(MessageId(message_id.hex()))
        return self._group.loading.is_brought(named)

    def missing(self) -> Iterator[tuple[bytes, int | None]]:
        """See `DeltaView`."""
        incoming = self._group.sds.incoming
        for message_id, sought in incoming.missing.items():
            if not self._group.holds(message_id):
                yield bytes.fromhex(message_id), self._place_of(sought.named_by)
        for message_id in incoming.lost:
            if message_id not in incoming.missing and not self._group.holds(message_id):
                yield bytes.fromhex(message_id), None

    def _place_of(self, named_by: str) -> int | None:
        """Return where a message stands that names another; None for a peer that does."""
        held = self._group.sds.incoming.waiting.get(MessageId(named_by))
        if held is not None:
            return held.content.lamport
        return self._order.lamport_of(named_by, len(self._order))
