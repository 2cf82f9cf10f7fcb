"""The buffer of unacknowledged outgoing messages (SDS, "Review ACK Status")."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from sync.machine import MILLISECOND, SECOND, MessageId, Nanos, PeerId, earlier
from sync.sds.message import Delivery, HistoryEntry
from sync.sds.parameters import Parameters
from sync.sds.probes import Probes

RESEND_BURST = 64
"""Messages sent again at one tick; a backlog of thousands must not stall the live chat."""

RESEND_PAUSE: Nanos = 250 * MILLISECOND
"""Between two such bursts: 256 messages a second, some 600 kB, which any link carries."""

DOUBLINGS = 24
"""Doublings of the wait of what is possibly acknowledged: 5 s doubled so often are over a year."""

TOLD_AT_ONCE = 16
"""Messages that one filter makes possible and that are told with it. Where there are more, its
sender names most of them within a moment: told twice, each would keep the next lines waiting."""

TELL_AFTER: Nanos = 2 * SECOND
"""Time after which these are told, unless they are acknowledged by then: in a stream names follow
lines by 0.3 to 3 s."""

TELL_BURST = 64
TELL_PAUSE: Nanos = 50 * MILLISECOND
"""So many at a time, and the time between two: some milliseconds of work."""

POSSIBLY_BY_MAX = 64
"""Peers remembered whose filters may hold one message: they are only shown."""


RESEND_TRIPS = 4
"""Trips that are waited for an acknowledgement beside the usual time: one, two within which it is
drawn (`sync.sds.timing`), and one more, for a queue only grows by what is sent twice."""

FAILED: Final = Delivery.FAILED
POSSIBLY: Final = Delivery.POSSIBLY_ACKNOWLEDGED
"""To look a member of an enum up takes 0.1 us, and each message sent is compared thrice."""


@dataclass(slots=True)
class Pending:
    """One own message nobody has surely received."""

    message_id: MessageId
    delivery: Delivery = Delivery.UNACKNOWLEDGED
    attempts: int = 0
    resend_at: Nanos | None = None
    """None while nobody is connected, and once it has failed."""
    possibly_by: frozenset[PeerId] = frozenset()


class Outgoing:
    """Own messages by id until they are acknowledged, and a heap of when to send them again."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._waits = [parameters.resend_after << n for n in range(parameters.resend_max + 1)]
        longest = parameters.possibly_max
        factor = parameters.possibly_factor
        self._possibly_waits = [
            min(longest, factor * parameters.resend_after << n) for n in range(DOUBLINGS)
        ]
        self.pending: dict[MessageId, Pending] = {}
        self.online = False
        self.trip: Nanos = 0
        """Time there and back on every link, where that is long."""
        self._probes = Probes(parameters.bloom)
        self._heap: list[tuple[Nanos, MessageId]] = []
        self._untold: dict[MessageId, Nanos] = {}
        """Messages that are possibly acknowledged and not told so yet, and when they will be."""
        self._tell_from: Nanos = 0
        self._failed = 0
        self._heard: tuple[PeerId, bytes] | None = None
        """The peer whose filter was read last, and that filter."""
        self._paused_until: Nanos = 0

    @property
    def awaiting(self) -> bool:
        """True if any message waits for an acknowledgement and was not given up."""
        return len(self.pending) > self._failed

    def add(
        self,
        message_id: MessageId,
        now: Nanos,
        delivery: Delivery = Delivery.UNACKNOWLEDGED,
        attempts: int = 0,
    ) -> None:
        """Put an own message into the buffer."""
        entry = Pending(message_id, delivery, attempts)
        self.pending[message_id] = entry
        self._failed += delivery is FAILED
        self._probes.add(message_id)
        self._heard = None
        self._arm(entry, now)

    def acknowledge(self, history: Iterable[HistoryEntry]) -> list[MessageId]:
        """Remove what another author's causal history names, and return it: names are proof."""
        if not self.pending:
            return []
        named = []
        for entry in history:
            settled = self.pending.pop(entry.message_id, None)
            if settled is not None:
                self._failed -= settled.delivery is FAILED
                self._probes.remove(entry.message_id)
                self._untold.pop(entry.message_id, None)
                named.append(entry.message_id)
        return named

    def hint(
        self, bloom_filter: bytes, by: PeerId, now: Nanos
    ) -> tuple[list[MessageId], list[Pending]]:
        """Note what a peer's filter may hold; return that, and those whose change is told now.

        Where many change they are told later (`tell`).
        A filter only ever gives "possibly" (PROTOCOL 5). A failed message that turns
        up in a filter is possibly acknowledged again, and sent again.

        Raises:
            DecodeError: the filter tells nothing; see `ReceivedFilter.read`.
        """
        if not self.pending or self._heard == (by, bloom_filter):
            return [], []  # each sync message of a burst repeats it
        hits = self._probes.hits(bloom_filter, by)
        self._heard = (by, bloom_filter)
        changed = []
        for entry in map(self.pending.__getitem__, hits):
            if len(entry.possibly_by) < POSSIBLY_BY_MAX:
                entry.possibly_by |= {by}
            if entry.delivery is not POSSIBLY:
                self._failed -= entry.delivery is FAILED
                entry.delivery = POSSIBLY
                self._arm(entry, now)
                changed.append(entry)
        if len(changed) > TOLD_AT_ONCE:
            at = now + TELL_AFTER
            self._untold |= {entry.message_id: at for entry in changed}
            return hits, []
        return hits, changed

    def tell(self, now: Nanos) -> list[Pending]:
        """Return the next of those that a filter made possible and that nobody named since."""
        if not self._untold or now < self._tell_from:
            return []
        due = [id_ for id_, at in islice(self._untold.items(), TELL_BURST) if at <= now]
        for message_id in due:
            del self._untold[message_id]
        self._tell_from = now + TELL_PAUSE if due else self._tell_from
        return [self.pending[message_id] for message_id in due]

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
                entry.delivery = FAILED
                entry.resend_at = None
                self._failed += 1
                failed.append(entry)
            else:  # possibly acknowledged: ever later
                entry.attempts += 1
                self._arm(entry, now)
                due.append(entry)
        if len(due) == RESEND_BURST:
            self._paused_until = now + RESEND_PAUSE
        return due, failed

    def send_again(self, message_id: MessageId, now: Nanos) -> Pending | None:
        """Begin anew with a message the person asked to send again; None if it is not here."""
        entry = self.pending.get(message_id)
        if entry is not None:
            self._failed -= entry.delivery is FAILED
            entry.attempts = 0
            entry.delivery = Delivery.UNACKNOWLEDGED
            entry.possibly_by = frozenset()
            self._probes.forget(message_id)
            self._untold.pop(message_id, None)
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
        """Return when the next message is due to be sent again, or to be told of."""
        untold = next(iter(self._untold.values()), None)
        due = self._next_resend()
        return due if untold is None else earlier(due, max(untold, self._tell_from))

    def _next_resend(self) -> Nanos | None:
        while self._heap:
            resend_at, message_id = self._heap[0]
            entry = self.pending.get(message_id)
            if entry is not None and entry.resend_at == resend_at:
                return max(resend_at, self._paused_until)
            heapq.heappop(self._heap)
        return None

    def _arm(self, entry: Pending, now: Nanos) -> None:
        delivery, attempts = entry.delivery, entry.attempts
        if not self.online or delivery is FAILED:
            entry.resend_at = None
            return
        waits = self._possibly_waits if delivery is POSSIBLY else self._waits
        wait = waits[attempts] if attempts < len(waits) else waits[-1]
        entry.resend_at = at = now + wait + RESEND_TRIPS * self.trip
        heapq.heappush(self._heap, (at, entry.message_id))
