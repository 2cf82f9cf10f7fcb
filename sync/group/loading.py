"""History on its way: what a session has found missing, and what came before it and waits.

The newest page of a history comes first. Its entries name older ones that are on their way, so
nobody is asked for those, and nothing is shown as missing. The entries wait on the disk, and take
their places, the oldest first, once all has come, or when the session is over without it.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from sync.group.ingest import content_of
from sync.group.values import LoadHeldBack, Outline
from sync.machine import SECOND, MessageId, Nanos, earlier
from sync.ranges import SyncId
from sync.sds.incoming import Content
from sync.sds.message import HistoryEntry

PATIENCE: Final[Nanos] = 20 * SECOND
"""How long another session may take to begin after one that was cut; then what came is shown."""

RESTART_PATIENCE: Final[Nanos] = 120 * SECOND
"""The same after a start: somebody has to be found first."""

STALLED_AFTER: Final[Nanos] = RESTART_PATIENCE
"""How long what waits does so while sessions go on that bring nothing: a peer that claims to have
what does not exist must not hold up the channel."""

HELD_MAX: Final[Nanos] = 600 * SECOND
"""The same, however much comes: a hundred thousand messages take two minutes."""

LEFT_MAX: Final = 100_000
"""Ids hoped for after a session was cut; the history of a channel of the size we are made for."""

IN_VAIN_MAX: Final = 2
"""How often an id is hoped for in vain. Whoever claims it again and again, and never sends it, must
not keep us from asking others."""

PREVIEWS_MAX: Final = 512
"""Waiting entries shown as such: two pages; more would only be scrolled past."""

SWEEP: Final = 64
"""Entries taken from the disk at once, some 10 ms of work."""


class Loading:
    """What is on its way to a channel, and what waits for it."""

    def __init__(self) -> None:
        self.coming: Counter[bytes] = Counter()
        """Waku hashes, and how many sessions want each."""
        self.left: Counter[bytes] = Counter()
        """Of these, what sessions that are over did not bring: another one may, for a while."""
        self.in_vain: Counter[bytes] = Counter()
        """What was hoped for and did not come, and how often; as many as are hoped for at most."""
        self.ids: set[MessageId] = set()
        """What is on the disk and waits."""
        self.direct: set[MessageId] = set()
        """Of that, what its author sent us, who wants to hear that we have it."""
        self.due: Nanos | None = None
        """When what waits takes its place, whatever is missing; not while sessions go on."""
        self.sweeping = False
        self.previews = 0
        self._began_at: Nanos = 0
        """When what waits began to."""
        self._came_at: Nanos = 0
        """When something last came for it."""
        self._wanted = 0
        """What sessions that go on want, each counted for itself."""

    def __len__(self) -> int:
        return len(self.ids)

    def restore(self, ids: Iterable[MessageId], now: Nanos) -> None:
        """Take up where the disk left off."""
        self.ids = set(ids)
        self._began_at = self._came_at = now
        self.due = now + RESTART_PATIENCE if self.ids else None

    def want(self, ids: Iterable[SyncId]) -> None:
        """A session has found these missing."""
        in_vain = self.in_vain
        hashes = [one.hash for one in ids if in_vain.get(one.hash, 0) < IN_VAIN_MAX]
        self.coming.update(hashes)
        self._wanted += len(hashes)

    def unwant(self, ids: Iterable[SyncId], now: Nanos) -> None:
        """A session is over that did not bring these: for a while another one may.

        Beyond `LEFT_MAX` they are given up at once: who claims that much and sends nothing lies.
        """
        if not self.ids and not self.left:
            self._began_at = self._came_at = now
        hashes = [one.hash for one in ids if one.hash in self.coming]
        room = max(0, LEFT_MAX - len(self.left))
        self._wanted -= len(hashes)
        self.left.update(hashes[:room])
        self.coming -= Counter(hashes[room:])

    def came(self, waku_hash: bytes, now: Nanos) -> None:
        """A message is here."""
        wanted = self.coming.pop(waku_hash, 0)
        self.in_vain.pop(waku_hash, None)
        if wanted:
            self._came_at = now
            self._wanted -= wanted - self.left.pop(waku_hash, 0)

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

    def add(self, message_id: MessageId, now: Nanos, *, direct: bool = False) -> bool:
        """A message waits on the disk; returns whether to show it as one that does."""
        if not self.ids:
            self._began_at = self._came_at = now
        self.ids.add(message_id)
        if direct:
            self.direct.add(message_id)
        if self.sweeping and self.due is None:
            self.due = now  # the disk may have been read before this was there: once more, then
        self.previews += 1
        return self.previews <= PREVIEWS_MAX

    def session_over(self, now: Nanos, *, complete: bool) -> None:
        """Plan when what waits takes its place: at once, if all has come."""
        if complete and not self.left:
            self.due = now if self.ids else None
        elif self.ids or self.left:
            self.due = now + PATIENCE

    def deadline(self) -> Nanos | None:
        """When what waits takes its place, or is no longer hoped for."""
        if self.sweeping or not (self.ids or self.left):
            return None
        due = None if self._wanted > 0 else self.due
        return earlier(due, min(self._began_at + HELD_MAX, self._came_at + STALLED_AFTER))

    def sweep(self, now: Nanos) -> list[LoadHeldBack]:
        """Begin to let in what waits, once it is time."""
        due = self.deadline()
        if due is None or due > now:
            return []
        self._give_up()
        if not self.ids:
            self.due = None
            return []
        self.sweeping, self.due = True, None
        return [LoadHeldBack(None, SWEEP)]

    def _give_up(self) -> None:
        """Hope no longer for what sessions did not bring, whoever claims it by now."""
        for waku_hash, given_up in self.left.items():
            self._wanted -= self.coming.pop(waku_hash, 0) - given_up
        self.in_vain.update(self.left.keys())
        for waku_hash in list(islice(self.in_vain, max(0, len(self.in_vain) - LEFT_MAX))):
            del self.in_vain[waku_hash]
        self.left.clear()

    def take(
        self, outlines: tuple[Outline, ...], now: Nanos
    ) -> tuple[list[Content], list[LoadHeldBack]]:
        """Return what takes its place now, the oldest first, and what to load next."""
        taken = [
            content_of(outline)._replace(direct=outline.message_id in self.direct)
            for outline in outlines
            if outline.message_id in self.ids
        ]
        ids = [content.message_id for content in taken]
        self.ids.difference_update(ids)
        self.direct.difference_update(ids)
        if len(outlines) == SWEEP and self.ids:
            last = outlines[-1]
            return taken, [LoadHeldBack((last.lamport, last.message_id), SWEEP)]
        self.sweeping, self.previews = False, 0
        if not (self.ids or self.left):
            self.due = None
        self._began_at = self._came_at = now
        return taken, []
