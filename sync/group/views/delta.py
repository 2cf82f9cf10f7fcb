"""The messages of a channel as delta sync needs them (`sync.calimero.log.delta_view`)."""

from collections.abc import Iterator
from typing import Final

from sync.calimero.log.delta_view import FrozenLog
from sync.group.machines import Machines
from sync.machine import MessageId
from sync.sds.log import OrderedLog


class FrozenMessages:
    """Messages delivered, and waiting, at a moment; none that come later.

    The log numbers ids as they come, so its part is the first ones of it. What waited is a copy:
    at most `sync.sds.incoming.WAITING_MAX` ids.
    """

    def __init__(self, order: OrderedLog, waiting: dict[bytes, int]) -> None:
        self._order: Final = order
        self._count: Final = len(order)
        self._waiting: Final = waiting

    def lamport_of(self, message_id: bytes) -> int | None:
        """See `sync.calimero.log.delta_view.FrozenLog`."""
        lamport = self._waiting.get(message_id)
        if lamport is not None:
            return lamport
        return self._order.lamport_of(message_id.hex(), self._count)

    def between(self, floor: int, until: int, most: int) -> list[tuple[int, bytes]]:
        """See `sync.calimero.log.delta_view.FrozenLog`."""
        places = self._order.between(floor, until, most, self._count)
        waits = [(at, one) for one, at in self._waiting.items() if floor <= at < until]
        return sorted([*places, *waits])[-most:] if waits else places

    def floor_of(self, count: int, until: int) -> int:
        """See `sync.calimero.log.delta_view.FrozenLog`; what waits does not count."""
        return self._order.floor_of(count, until, self._count)


class DeltaMessages:
    """The messages of a group as they are now."""

    def __init__(self, group: Machines) -> None:
        self._group = group

    def holds(self, message_id: bytes) -> bool:
        """See `sync.calimero.log.delta_view.DeltaView`."""
        return self._group.holds(MessageId(message_id.hex()))

    def missing(self) -> Iterator[tuple[bytes, int | None]]:
        """See `sync.calimero.log.delta_view.DeltaView`."""
        incoming = self._group.sds.incoming
        for message_id, sought in incoming.missing.items():
            if message_id not in incoming.waiting:
                yield bytes.fromhex(message_id), self._lamport_of(MessageId(sought.named_by))
        for message_id in incoming.lost:
            if message_id not in incoming.missing:
                yield bytes.fromhex(message_id), None

    def frozen(self) -> FrozenLog:
        """Return what is here now."""
        sds = self._group.sds
        waiting = {
            bytes.fromhex(one): held.content.lamport for one, held in sds.incoming.waiting.items()
        }
        return FrozenMessages(sds.log.order, waiting)

    def _lamport_of(self, message_id: MessageId) -> int | None:
        sds = self._group.sds
        held = sds.incoming.waiting.get(message_id)
        if held is not None:
            return held.content.lamport
        return sds.log.order.lamport_of(message_id, len(sds.log.order))
