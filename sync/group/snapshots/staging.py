"""A snapshot on its way in its channel: who brings it, what is staged, what waits meanwhile."""

from collections.abc import Collection
from typing import Final, NamedTuple

from sync.calimero.log.delta_buffer import DeltaBuffer
from sync.calimero.log.snapshot_news import PageKept, SnapshotBegan
from sync.group.snapshots.values import StagedSnapshot, StageSnapshot
from sync.machine import SECOND, ChannelId, MessageId, Nanos, PeerId, earlier
from sync.sessions.page_values import LogPlace
from sync.sessions.values import SessionId

DECIDED_WITHIN: Final[Nanos] = 5 * SECOND
"""Time in which what arrives in an empty channel waits for the first handshake, which decides
whether there is to be a snapshot."""

DECIDED_MAX: Final[Nanos] = 30 * SECOND
"""The same while sessions run that may decide: where many come at once over one slow wire, a
handshake alone takes longer, and whoever takes in a line before it has no snapshot any more."""

GOES_ON_WITHIN: Final[Nanos] = 120 * SECOND
"""The same once pages are staged, after a cut or a start: somebody has to be found first (as long
as other history on its way waits, `sync.group.history_loading`). What is staged is on the screen
meanwhile; swapped in too soon, it would be a history without a beginning."""

OWED_MAX: Final = 256
"""Messages owed by a snapshot from which on no other session over messages runs beside it."""


SOUGHT_AFTER: Final[Nanos] = SECOND // 4
"""Time after a session that a peer began with us, who are empty: it ends there as well, and ours
would be put off before."""

SWAPPED_AGAIN: Final[Nanos] = 10 * SECOND
"""Time after which a swap is tried again that the disk refused when a part of it was written."""

SOUGHT_AGAIN: Final[Nanos] = SECOND
SOUGHT_MAX: Final = 6
SOUGHT_LATER: Final[Nanos] = 5 * SECOND
"""Time between the first tries to begin the snapshot that such a session left to us, the number of
these, and the time between all later ones: a source may serve as many as it can."""


class Waits(NamedTuple):
    """A frame that waits: from whose link, and its bytes."""

    peer: PeerId
    payload: bytes


class Snapshots:
    """See the module docstring. All of it but what is staged ends with the machines."""

    def __init__(self, channel: ChannelId) -> None:
        self.buffer: DeltaBuffer[Waits] = DeltaBuffer()
        self.staged: StagedSnapshot | None = None
        self.session: SessionId | None = None
        """The session that brings it."""
        self.peer: PeerId | None = None
        self.count = 0
        """Messages of it, by the peer's word."""
        self.swapping = False
        """True if all that is staged is about to be swapped in."""
        self.refused = False
        """True if the disk has refused the last swap."""
        self.decided = False
        """True if the first handshake has decided."""
        self.renewed_log = False
        """True if a page had entries of our log that we do not know, so that we began another."""
        self.speakers: set[PeerId] = set()
        """Linked peers that speak it."""
        self.as_empty: set[PeerId] = set()
        """Linked peers that have been found to be as empty as we are."""
        self.left_by: set[PeerId] = set()
        """Linked peers that left it to us to begin, before they told whether they speak it."""
        self._decides_at: Nanos | None = None
        """Time from which on nobody is waited for: since then all were as empty as we are."""
        self._seek_at: Nanos | None = None
        self._sought = 0
        self._left: PeerId | None = None
        """The last peer that left it to us to begin: it is the first to be asked."""
        self._floor: Nanos = 0
        self._wait_until: Nanos | None = None
        self._waits_since: Nanos | None = None
        """Since when the first handshake is waited for."""
        self._channel = channel

    # --- What others may know ------------------------------------------------------------------

    @property
    def holds_back(self) -> bool:
        """True while what arrives waits."""
        return self.swapping or self.session is not None or self._wait_until is not None

    @property
    def cursor(self) -> LogPlace | None:
        """See `sync.calimero.log.snapshot_news.SnapshotView`."""
        return None if self.staged is None else self.staged.cursor

    @property
    def floor(self) -> Nanos | None:
        """See `sync.calimero.log.snapshot_news.SnapshotView`."""
        return None if self.staged is None else self.staged.floor

    @property
    def owed(self) -> int:
        """Messages that the peer still owes, by its word."""
        if self.session is None:
            return 0
        return max(0, self.count - (0 if self.staged is None else self.staged.count))

    @property
    def saving(self) -> int:
        """Messages that are about to be swapped in; 0 while no swap is on."""
        return self.staged.count if self.swapping and self.staged is not None else 0

    @property
    def blocks(self) -> bool:
        """True while no other session over messages is begun or accepted."""
        return self.swapping or self.owed > OWED_MAX

    def deadline(self) -> Nanos | None:
        """Return until when what arrives waits though no session runs; 0 while it is let in."""
        if self.session is not None or self.swapping:
            return None
        if self._wait_until is None and len(self.buffer):
            return 0
        return earlier(self._wait_until, self._seek_at)

    def is_over(self, now: Nanos) -> bool:
        """Return whether the time has passed for which what arrives waits."""
        return not (self.swapping or self.session) and (
            self._wait_until is not None and now >= self._wait_until
        )

    def waits_on(self, now: Nanos) -> bool:
        """Wait as long again for a session that may still decide, unless that has been too long."""
        if self.decided or self._waits_since is None or now >= self._waits_since + DECIDED_MAX:
            return False
        self._wait_until = now + DECIDED_WITHIN
        return True

    @property
    def _patience(self) -> Nanos:
        return DECIDED_WITHIN if self.staged is None else GOES_ON_WITHIN

    # --- What happens --------------------------------------------------------------------------

    def restore(self, staged: StagedSnapshot | None, now: Nanos) -> None:
        """Take up what is staged; where a swap of it had begun, nothing goes before its end."""
        self.staged = staged
        if staged is not None and staged.swapping:
            self._wait_until = now + (SWAPPED_AGAIN if self.refused else 0)

    def wait(self, now: Nanos) -> None:
        """Let what arrives wait for a while, unless a handshake has decided."""
        if self._decides_at is not None and now >= self._decides_at:
            self.decided = True
        if not self.decided and self._wait_until is None:
            self._wait_until = now + self._patience
            self._waits_since = now if self._waits_since is None else self._waits_since

    def decide(self) -> None:
        """Nothing waits any more, unless a snapshot is on its way."""
        self.decided = True
        self._wait_until = None

    def found_empty(self, peer: PeerId, now: Nanos) -> None:
        """A peer has nothing either: where many come at once, others may have a history."""
        self.as_empty.add(peer)
        if self._decides_at is None:
            self._decides_at = now + DECIDED_WITHIN
        if self.speakers <= self.as_empty:
            self._wait_until = None

    def gone(self, peer: PeerId) -> None:
        """A peer has no link any more; without anybody who could bring one, nothing waits for it.

        What is staged waits on: somebody may come and go on with it.
        """
        self.speakers.discard(peer)
        self.as_empty.discard(peer)
        self.left_by.discard(peer)
        if self.speakers <= self.as_empty and self.staged is None and self.session is None:
            self._wait_until = None

    def seek(self, peer: PeerId, now: Nanos) -> None:
        """A peer has left it to us to begin: do so once its session is over there, too.

        What waits does so for as long again, once: that peer has a history.
        """
        if self._wait_until is not None and self._left is None:
            self._wait_until = max(self._wait_until, now + self._patience)
        self._seek_at, self._sought, self._left = now + SOUGHT_AFTER, 0, peer

    def asks(self, linked: Collection[PeerId], now: Nanos, *, empty: bool) -> PeerId | None:
        """Return the peer to begin with now: while we are empty in turn, and once if not any more.

        Nobody else begins, as who left it to us believes that we do.
        """
        if self._seek_at is None or now < self._seek_at or self.session is not None:
            return None
        self._sought += 1
        peers = sorted(self.speakers.intersection(linked) - self.as_empty)
        again = SOUGHT_AGAIN if self._sought < SOUGHT_MAX else SOUGHT_LATER
        self._seek_at = now + again if empty and peers else None
        if self._sought == 1 and self._left in peers:
            return self._left
        return peers[self._sought % len(peers)] if peers else None

    def begin(self, session: SessionId, peer: PeerId, began: SnapshotBegan) -> None:
        """A peer goes on with it, or begins it."""
        self.session, self.peer, self.count = session, peer, began.count
        self.decided, self._wait_until, self._seek_at = True, None, None
        if began.anew:
            self.staged = None
        self._floor = began.floor if self.staged is None else self.staged.floor

    def stage(self, kept: PageKept, scope: bytes) -> StageSnapshot:
        """Keep a page; returns the record of it."""
        before = self.staged or StagedSnapshot(scope, self._floor, None, 0, 0)
        count = before.count + kept.entries
        self.count = kept.count
        self.staged = StagedSnapshot(scope, self._floor, kept.cursor, count, before.pages + 1)
        return StageSnapshot(
            self._channel, before.pages, kept.chunk, kept.cursor, count, scope, self._floor
        )

    def ended(self, now: Nanos) -> None:
        """The session is over before the last page: another peer has a while to go on."""
        self.session = self.peer = None
        self._wait_until = now + self._patience

    def hold(self, message_id: MessageId, waits: Waits) -> list[MessageId]:
        """Let a frame wait; returns those pushed out."""
        return self.buffer.add(message_id, waits, len(waits.payload))
