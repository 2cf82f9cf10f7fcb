"""History on its way: what a session has found missing, and what came before it and waits.

The newest page of a history comes first. Its entries name older ones that are on their way, so
nobody is asked for those, and nothing is shown as missing. The entries wait on the disk, and take
their places, the oldest first, once all that they name has come, or is no longer hoped for.

Rules:
1. An entry waits for what it or those before it name, and for nothing else that somebody claims.
2. Ids that a session ceases to bring are hoped for only as long as another session wants them;
   after a cut for `PATIENCE` as well.
3. An id is hoped for in vain `IN_VAIN_MAX` times.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice, takewhile
from typing import Final

from msgspec.structs import replace

from sync.group.ingest import content_of
from sync.group.values import LoadHeldBack, Outline
from sync.machine import SECOND, MessageId, Nanos, PeerId, earlier
from sync.sds.incoming import Content
from sync.sds.message import HistoryEntry
from sync.structures.ids import Ids
from sync.structures.ordered_set import HASH_BYTES, SyncId
from sync.structures.row_table import RowTable

PATIENCE: Final[Nanos] = 20 * SECOND
"""Time in which another session may begin after one that was cut; then what came is shown."""

RESTART_PATIENCE: Final[Nanos] = 120 * SECOND
"""The same after a start: somebody has to be found first."""

STALLED_AFTER: Final[Nanos] = 30 * SECOND
"""Time for which entries wait while nothing that is expected comes, whoever still claims to bring
it: the next page of a history may take so long."""

HELD_MAX: Final[Nanos] = 600 * SECOND
"""The same, however much comes: a hundred thousand messages take two minutes."""

LEFT_MAX: Final = 100_000
"""Ids hoped for after a session was cut; the history of a channel of the size we are made for."""

IN_VAIN_MAX: Final = 2
"""Times an id is hoped for in vain. Whoever claims it again and again, and never sends it, must
not keep us from asking others."""

PREVIEWS_MAX: Final = 512
"""Waiting entries shown as such: two pages; more would only be scrolled past."""

SWEEP: Final = 64
"""Entries taken from the disk at once, some 10 ms of work."""


class OnItsWay:
    """Messages that sessions are about to bring; see `sync.sds.coming.Coming`."""

    def __init__(self) -> None:
        self.ids = RowTable(HASH_BYTES)
        """Waku hashes: how many sessions want each, and one more for what is in `Loading.left`."""
        self.authors: Counter[PeerId] = Counter()
        """Authors whose logs sessions bring, and how many do."""
        self.peers: set[PeerId] = set()
        """Peers from whom a session is about to bring whatever we lack."""
        self.messages: Counter[MessageId] = Counter()
        """Ids that sessions have asked for one by one, and how many did."""

    def __bool__(self) -> bool:
        """Return whether a history is on its way; what is asked for by its id is none."""
        return bool(self.ids or self.authors or self.peers)

    def brings(self, entry: HistoryEntry) -> bool:
        """Return whether the message that `entry` names is on its way."""
        hint = entry.retrieval_hint
        return (hint is not None and hint in self.ids) or self.brings_of(entry.sender_id)

    def is_asked_for(self, entry: HistoryEntry) -> bool:
        """Return whether it is on its way at all; nobody else is asked for it then."""
        return entry.message_id in self.messages or self.brings(entry)

    def brings_of(self, author: PeerId | None) -> bool:
        """Return whether messages of an author are on their way, whichever."""
        return bool(self.peers) or author in self.authors


class Loading:
    """History on its way to a channel: messages expected, and the entries that wait for them."""

    def __init__(self) -> None:
        self.on_its_way = OnItsWay()
        self.coming = self.on_its_way.ids
        # Ids come roughly in their order, and a plain dict looks for its first value among all that
        # went before it.
        self.left: OrderedDict[bytes, Nanos] = OrderedDict()
        """Of these, what sessions that were cut did not bring, and until when another one may."""
        self.awaited: set[bytes] = set()
        """Of these, what entries that wait name."""
        self.awaits_logs = False
        """Whether entries that wait name messages of logs that a session brings."""
        self.in_vain: Counter[bytes] = Counter()
        """Ids hoped for that did not come, and how often; as many as are hoped for at most."""
        self.ids: set[MessageId] = set()
        """Messages on the disk that wait."""
        self.direct: set[MessageId] = set()
        """Of that, what its author sent us, who wants to hear that we have it."""
        self.due: Nanos | None = None
        """When what waited at the start takes its place: nobody knows any more what it names."""
        self.sweeping = False
        self.previews = 0
        self._began_at: Nanos = 0
        """When what waits began to."""
        self._came_at: Nanos = 0
        """When something expected last came: what the newest page names comes at the end."""

    def __len__(self) -> int:
        return len(self.ids)

    def restore(self, ids: Iterable[MessageId], now: Nanos) -> None:
        """Take up where the disk left off."""
        self.ids = set(ids)
        self._began_at = self._came_at = now
        self.due = now + RESTART_PATIENCE if self.ids else None

    def want(self, ids: Iterable[SyncId]) -> None:
        """A session has found these missing."""
        if self.in_vain:
            self.want_hashes([one.hash for one in ids])
        else:
            self.coming.count(Ids.of(ids).hashes)

    def want_hashes(self, hashes: Iterable[bytes]) -> None:
        """A session has asked for messages by these Waku hashes."""
        in_vain = self.in_vain
        hoped = [one for one in hashes if in_vain.get(one, 0) < IN_VAIN_MAX]
        self.coming.count(b"".join(hoped))

    def unwant(self, ids: Iterable[SyncId], now: Nanos, *, stalled: bool = False) -> None:
        """A session does not bring these; see `unwant_hashes`."""
        self.unwant_hashes([one.hash for one in ids], now, stalled=stalled)

    def unwant_hashes(self, hashes: Iterable[bytes], now: Nanos, *, stalled: bool = False) -> None:
        """A session does not bring these: for a while another one may, unless its peer `stalled`.

        Beyond `LEFT_MAX` they are given up at once: who claims that much and sends nothing lies.
        """
        for waku_hash in [one for one in hashes if one in self.coming]:
            if waku_hash in self.left:
                self._drop(waku_hash)
            elif stalled or len(self.left) >= LEFT_MAX:
                self._give_up(waku_hash)
            else:
                self.left[waku_hash] = now + PATIENCE
        self._forget_in_vain()

    def want_logs(self, authors: Iterable[PeerId]) -> None:
        """A session has begun to bring entries of these authors."""
        self.on_its_way.authors.update(authors)

    def unwant_logs(self, authors: Iterable[PeerId]) -> None:
        """A session brings no more of these; nobody waits for logs that no session brings."""
        known = self.on_its_way.authors
        known.subtract(authors)
        for author in [one for one in authors if known[one] <= 0]:
            del known[author]
        self._await_logs()

    def want_messages(self, ids: Iterable[MessageId]) -> None:
        """A session has asked for these by their ids."""
        self.on_its_way.messages.update(ids)

    def unwant_messages(self, ids: Iterable[MessageId]) -> None:
        """It brings no more of these: whoever wants them asks again."""
        known = self.on_its_way.messages
        known.subtract(ids)
        for message_id in [one for one in ids if known[one] <= 0]:
            del known[message_id]

    def is_brought(self, entry: HistoryEntry) -> bool:
        """Return whether a session that goes on brings the message that `entry` names.

        What one that was cut did not bring is hoped for, but brought by nobody.
        """
        waku_hash = entry.retrieval_hint
        way = self.on_its_way
        return (
            entry.message_id in way.messages
            or entry.sender_id in way.authors
            or (waku_hash is not None and way.ids.number(waku_hash) > (waku_hash in self.left))
        )

    def expect(self, peer: PeerId, *, comes: bool) -> None:
        """Wait for the history that a peer is about to bring, or no longer."""
        if comes:
            self.on_its_way.peers.add(peer)
        else:
            self.on_its_way.peers.discard(peer)
            self._await_logs()

    def _await_logs(self) -> None:
        if not self.on_its_way.authors and not self.on_its_way.peers:
            self.awaits_logs = False

    def brought(self, now: Nanos) -> None:
        """An entry of such a log came."""
        if self.awaits_logs:
            self._came_at = now

    def came(self, waku_hash: bytes, now: Nanos) -> None:
        """A message is here."""
        self.in_vain.pop(waku_hash, None)
        if self.coming.change(waku_hash, 0):
            self.left.pop(waku_hash, None)
            self._came_at = now
        self.awaited.discard(waku_hash)

    def waits(
        self, history: Iterable[HistoryEntry], delivered: Callable[[MessageId], bool]
    ) -> bool:
        """Return whether `history` names an undelivered message that is on its way or waits."""
        if not self.on_its_way and not self.ids:
            return False
        return any(
            not delivered(entry.message_id)
            and (self.on_its_way.brings(entry) or entry.message_id in self.ids)
            for entry in history
        )

    def add(
        self,
        message_id: MessageId,
        history: Iterable[HistoryEntry],
        now: Nanos,
        *,
        direct: bool = False,
    ) -> bool:
        """A message waits on the disk; returns whether to show it as one that does."""
        if not self.ids:
            self._began_at = self._came_at = now
        self.ids.add(message_id)
        history = tuple(history)
        hints = (entry.retrieval_hint for entry in history)
        self.awaited.update(hint for hint in hints if hint is not None and hint in self.coming)
        brings_of = self.on_its_way.brings_of
        self.awaits_logs |= any(brings_of(entry.sender_id) for entry in history)
        if direct:
            self.direct.add(message_id)
        self.previews += 1
        return self.previews <= PREVIEWS_MAX

    def session_over(self, now: Nanos, *, complete: bool) -> None:
        """A session brought all it was to, or not: what waited at the start need not for long."""
        if self.due is not None:
            self.due = min(self.due, now if complete and not self.left else now + PATIENCE)

    def deadline(self) -> Nanos | None:
        """Return when waiting entries take their places, or an expected id is given up."""
        if self.sweeping:
            return None
        due = next(iter(self.left.values()), None)
        return earlier(due, self._takes_place_at()) if self.ids else due

    def _takes_place_at(self) -> Nanos:
        if not self.awaited and not self.awaits_logs:
            return self._came_at if self.due is None else self.due
        held_until = min(self._began_at + HELD_MAX, self._came_at + STALLED_AFTER)
        return held_until if self.due is None else max(self.due, held_until)

    def sweep(self, now: Nanos) -> list[LoadHeldBack]:
        """Begin to let in what waits, once it is time."""
        due = self.deadline()
        if due is None or due > now:
            return []
        expired = list(takewhile(lambda one: self.left[one] <= now, self.left))
        for waku_hash in expired:
            del self.left[waku_hash]
            self._give_up(waku_hash)
        self._forget_in_vain()
        if not self.ids or self._takes_place_at() > now:
            return []
        self.sweeping, self.due = True, None
        self.awaited.clear()
        self.awaits_logs = False
        return [LoadHeldBack(None, SWEEP)]

    def _drop(self, waku_hash: bytes) -> None:
        """One session less wants it."""
        wanted = self.coming.number(waku_hash) - 1
        self.coming.change(waku_hash, wanted)
        if not wanted:
            self.awaited.discard(waku_hash)

    def _give_up(self, waku_hash: bytes) -> None:
        self._drop(waku_hash)
        self.in_vain[waku_hash] += 1

    def _forget_in_vain(self) -> None:
        for waku_hash in list(islice(self.in_vain, max(0, len(self.in_vain) - LEFT_MAX))):
            del self.in_vain[waku_hash]

    def take_loaded(
        self, outlines: tuple[Outline, ...], now: Nanos
    ) -> tuple[list[Content], list[LoadHeldBack]]:
        """Return what takes its place now, the oldest first, and what to load next."""
        taken = [
            replace(content_of(outline), direct=outline.message_id in self.direct)
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
        self._began_at = now
        self._came_at = now if taken else now + PATIENCE  # what the disk does not show is no hurry
        return taken, []
