"""History on its way: what a session has found missing, and what came before it and waits.

The newest page of a history comes first. Its entries name older ones that are on their way, so
nobody is asked for those, and nothing is shown as missing. The entries wait on the disk, and take
their places, the oldest first, once all has come, or when the session is over without it.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from sync.group.values import LoadHeldBack, Outline
from sync.machine import SECOND, MessageId, Nanos
from sync.ranges import SyncId
from sync.sds.message import HistoryEntry

PATIENCE: Final[Nanos] = 20 * SECOND
"""How long another session may take to begin after one that was cut; then what came is shown."""

RESTART_PATIENCE: Final[Nanos] = 120 * SECOND
"""The same after a start: somebody has to be found first."""

PREVIEWS_MAX: Final = 512
"""Waiting entries shown as such: two pages; more would only be scrolled past."""

SWEEP: Final = 64
"""Entries taken from the disk at once, some 10 ms of work."""


class Loading:
    """What is on its way to a channel, and what waits for it."""

    def __init__(self) -> None:
        self.coming: Counter[bytes] = Counter()
        """Waku hashes, and how many sessions want each."""
        self.ids: set[MessageId] = set()
        """What is on the disk and waits."""
        self.due: Nanos | None = None
        """When what waits takes its place, whatever is missing."""
        self.sweeping = False
        self.previews = 0

    def __len__(self) -> int:
        return len(self.ids)

    def restore(self, ids: Iterable[MessageId], now: Nanos) -> None:
        """Take up where the disk left off."""
        self.ids = set(ids)
        self.due = now + RESTART_PATIENCE if self.ids else None

    def want(self, ids: Iterable[SyncId]) -> None:
        """A session has found these missing."""
        self.coming.update([one.hash for one in ids])

    def unwant(self, ids: Iterable[SyncId]) -> None:
        """A session is over that did not bring these."""
        self.coming -= Counter([one.hash for one in ids])

    def came(self, waku_hash: bytes) -> None:
        """A message is here."""
        self.coming.pop(waku_hash, None)

    def waits(
        self, history: Iterable[HistoryEntry], delivered: Callable[[MessageId], bool]
    ) -> bool:
        """Whether a message names something that is on its way, or waits itself."""
        if not self.coming and not self.ids:
            return False
        return any(
            (entry.retrieval_hint in self.coming or entry.message_id in self.ids)
            and not delivered(entry.message_id)
            for entry in history
        )

    def add(self, message_id: MessageId) -> bool:
        """A message waits on the disk; returns whether to show it as one that does."""
        self.ids.add(message_id)
        self.previews += 1
        return self.previews <= PREVIEWS_MAX

    def session_over(self, now: Nanos, *, complete: bool) -> None:
        """Plan when what waits takes its place: at once, if all has come."""
        if self.ids:
            self.due = now if complete else now + PATIENCE

    def deadline(self) -> Nanos | None:
        """When what waits takes its place; not while a session goes on."""
        return None if self.coming or self.sweeping or not self.ids else self.due

    def sweep(self, now: Nanos) -> list[LoadHeldBack]:
        """Begin to let in what waits, once it is time."""
        due = self.deadline()
        if due is None or due > now:
            return []
        self.sweeping = True
        return [LoadHeldBack(None, SWEEP)]

    def take(self, outlines: tuple[Outline, ...]) -> tuple[list[Outline], list[LoadHeldBack]]:
        """Return what takes its place now, the oldest first, and what to load next."""
        taken = [outline for outline in outlines if outline.message_id in self.ids]
        self.ids.difference_update([outline.message_id for outline in taken])
        if len(outlines) == SWEEP and self.ids:
            last = outlines[-1]
            return taken, [LoadHeldBack((last.lamport, last.message_id), SWEEP)]
        self.sweeping, self.due, self.previews = False, None, 0
        return taken, []
