"""The buffer of unacknowledged outgoing messages (SDS, "Review ACK Status")."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from sync.bloom import ReceivedFilter
from sync.machine import MILLISECOND, MessageId, Nanos, PeerId
from sync.sds.message import Delivery, HistoryEntry, Parameters

RESEND_BURST = 64
"""Messages sent again at one tick; a backlog of thousands must not stall the live chat."""

RESEND_PAUSE: Nanos = 250 * MILLISECOND
"""Between two such bursts: 256 messages a second, some 600 kB, which any link carries."""


@dataclass(slots=True)
class Pending:
    """One own message nobody has surely received."""

    message_id: MessageId
    positions: tuple[int, ...]
    """Its bits in a filter, computed once."""
    delivery: Delivery = Delivery.UNACKNOWLEDGED
    attempts: int = 0
    resend_at: Nanos | None = None
    """None while nobody is connected, and once it has failed."""
    possibly_by: set[PeerId] = field(default_factory=set)


@dataclass(slots=True)
class Outgoing:
    """Own messages by id until they are acknowledged, and a heap of when to send them again."""

    parameters: Parameters
    pending: dict[MessageId, Pending] = field(default_factory=dict)
    _heap: list[tuple[Nanos, MessageId]] = field(default_factory=list)
    online: bool = False
    _heard: tuple[PeerId, bytes] | None = None
    """Whose filter was read last, and that filter."""
    _paused_until: Nanos = 0

    @property
    def awaiting(self) -> bool:
        """Whether any message waits for an acknowledgement and was not given up."""
        return any(entry.delivery is not Delivery.FAILED for entry in self.pending.values())

    def add(
        self,
        message_id: MessageId,
        now: Nanos,
        delivery: Delivery = Delivery.UNACKNOWLEDGED,
        attempts: int = 0,
    ) -> None:
        """Put an own message into the buffer."""
        positions = self.parameters.bloom.positions(message_id)
        entry = Pending(message_id, tuple(positions), delivery, attempts)
        self.pending[message_id] = entry
        self._arm(entry, now)

    def acknowledge(self, history: Iterable[HistoryEntry]) -> list[MessageId]:
        """Remove what another author's causal history names, and return it: names are proof."""
        if not self.pending:
            return []
        named = [entry.message_id for entry in history if entry.message_id in self.pending]
        for message_id in named:
            del self.pending[message_id]
        return named

    def hint(self, bloom_filter: bytes, by: PeerId, now: Nanos) -> list[Pending]:
        """Note what a peer's filter may hold; return those whose state changed.

        A filter only ever gives "possibly" (DESIGN 5, "acknowledged"). A failed message that turns
        up in a filter is possibly acknowledged again, and sent again.

        Raises:
            DecodeError: the filter tells nothing; see `ReceivedFilter.read`.
        """
        if self._heard == (by, bloom_filter):
            return []  # each sync message of a burst repeats it
        received = ReceivedFilter.read(bloom_filter, self.parameters.bloom)
        self._heard = (by, bloom_filter)
        changed = []
        for entry in self.pending.values():
            if by in entry.possibly_by or not received.contains_positions(entry.positions):
                continue
            entry.possibly_by.add(by)
            if entry.delivery is not Delivery.POSSIBLY_ACKNOWLEDGED:
                entry.delivery = Delivery.POSSIBLY_ACKNOWLEDGED
                self._arm(entry, now)
                changed.append(entry)
        return changed

    def sweep(self, now: Nanos) -> tuple[list[Pending], list[Pending]]:
        """Return what to send again now, and what has failed ("Periodic Outgoing Buffer Sweep")."""
        due: list[Pending] = []
        failed: list[Pending] = []
        if now < self._paused_until:
            return due, failed
        while self._heap and self._heap[0][0] <= now and len(due) < RESEND_BURST:
            resend_at, message_id = heapq.heappop(self._heap)
            entry = self.pending.get(message_id)
            if entry is None or entry.resend_at != resend_at:
                continue  # acknowledged or armed anew since
            if entry.attempts < self.parameters.resend_max:
                entry.attempts += 1
                self._arm(entry, now)
                due.append(entry)
            elif entry.delivery is Delivery.UNACKNOWLEDGED:
                entry.delivery = Delivery.FAILED
                entry.resend_at = None
                failed.append(entry)
            else:
                self._arm(entry, now)  # possibly acknowledged: slowly, for ever
                due.append(entry)
        if len(due) == RESEND_BURST:
            self._paused_until = now + RESEND_PAUSE
        return due, failed

    def send_again(self, message_id: MessageId, now: Nanos) -> Pending | None:
        """Begin anew with a message the person asked to send again; None if it is not here."""
        entry = self.pending.get(message_id)
        if entry is not None:
            entry.attempts = 0
            entry.delivery = Delivery.UNACKNOWLEDGED
            entry.possibly_by.clear()
            self._heard = None
            self._arm(entry, now)
        return entry

    def connected(self, now: Nanos, *, online: bool) -> None:
        """Count no attempt while nobody is there; start the countdowns anew when somebody is."""
        if online == self.online:
            return
        self.online = online
        self._heap.clear()
        for entry in self.pending.values():
            self._arm(entry, now)

    def deadline(self) -> Nanos | None:
        """When the next message is due to be sent again."""
        while self._heap:
            resend_at, message_id = self._heap[0]
            entry = self.pending.get(message_id)
            if entry is not None and entry.resend_at == resend_at:
                return max(resend_at, self._paused_until)
            heapq.heappop(self._heap)
        return None

    def _arm(self, entry: Pending, now: Nanos) -> None:
        if not self.online or entry.delivery is Delivery.FAILED:
            entry.resend_at = None
            return
        wait = self.parameters.resend_after << min(entry.attempts, self.parameters.resend_max)
        if entry.delivery is Delivery.POSSIBLY_ACKNOWLEDGED:
            wait *= self.parameters.possibly_factor
        entry.resend_at = now + wait
        heapq.heappush(self._heap, (entry.resend_at, entry.message_id))
