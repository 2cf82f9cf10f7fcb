"""Fetching of missing messages, each once: one session leads, other peers bring shares.

The first session over everything that finds a difference leads. While it does, others over
everything that find one are put off: they would find the same, and their peers would push all of
it, unasked. The leader's peer pushes the newest page first, then the oldest of the rest (older
programs push that page by page, the newest first). Meanwhile everybody else who is linked is asked
for what it would push last, by sessions over narrow windows; where both meet, the leader's transfer
is closed. So nothing on the wire is new, and what is counted is what has come.

Rules:
1. A leader that stops to find or to bring does not keep others from it any longer.
2. A peer that stops bringing its share loses it, and gets no other one.
3. The table lasts as long as the leader or a share. A session over everything, with each peer that
   was put off or had a share, then finds what is left.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from sync.machine import MINUTE, SECOND, Nanos, PeerId
from sync.sessions.found_ids import Fate, FoundIds
from sync.sessions.session import STALLED_AFTER, Session
from sync.sessions.values import PAGE
from sync.structures.ordered_set import ZERO_HASH, Bounds, SyncId
from sync.structures.row_table import Block
from sync.structures.set_digest import TIMESTAMP_BYTES

FINDS_WITHIN: Final[Nanos] = 30 * SECOND
FINDS_A_SECOND: Final = 1_000
"""A leader has so long to find out what is missing, and a second more for so many ids found: a
hundred thousand take 15 s at 2 Mbit/s."""

PAGE_WITHIN: Final[Nanos] = 30 * SECOND
"""A leader has so long for a page; at 2 Mbit/s for sixteen receivers it takes 20 s."""

SHARE_WITHIN: Final[Nanos] = MINUTE
"""A share has to come within this time; the largest takes 9 s at 2 Mbit/s."""

SHARE_MIN: Final = 128
SHARE_MAX: Final = 2048
"""Messages of a share: a tenth of a second for its two or three streams must be worth it, and not
much be on its way from somebody who stops."""

AHEAD: Final[Nanos] = 2 * SECOND
"""Messages that the leader brings within this time are asked of nobody else: on a fast network
it waits in buffers already, and the newcomer is the slower one."""

FAILURES_MAX: Final = 4
"""Times a share of one peer may come to nothing because it began a session itself meanwhile, or
has no place for another; who stops to bring is not asked again at all."""

PLAIN_FOR: Final[Nanos] = MINUTE
"""After two leaders that only kept others waiting, within such a time, nobody leads for as long:
identities cost nothing, and each of them delays by seconds only."""


class Share(Struct, frozen=True):
    """Share that one peer is asked for: ids `lower` to `upper` of the table."""

    lower: int
    upper: int


@dataclass(slots=True)
class Shares:
    """The table of one channel: who leads, what it found missing, and who brings what of it."""

    leader: Session | None = None
    given: dict[PeerId, Share] = field(default_factory=dict)
    later: set[PeerId] = field(default_factory=set)
    """With whom everything is to be compared once all has come."""

    _led_at: Nanos = 0
    _found_at: Nanos = 0
    _paged_at: Nanos = 0
    """When the leader last had brought a page."""
    _stalled_at: Nanos | None = None
    _plain_until: Nanos = 0
    _failures: Counter[PeerId] = field(default_factory=Counter)
    """Number of times a share of theirs came to nothing, or not whole."""
    _returned: list[Share] = field(default_factory=list)
    _found: FoundIds = field(default_factory=FoundIds)
    """Ids the leader found; they are its own."""
    _table: Block = field(default_factory=lambda: FoundIds().seal())
    """The same, rising. Places are of their order as its peer pushes them from the last one down:
    this one, or all but the newest page falling."""
    _falls: bool | None = None
    """True while its pages go on falling behind the newest one; None until that shows."""
    _low: int = 0
    """Below this everything has come or was given to somebody."""
    _high: int = 0
    """From here on everything has come."""
    _top: int | None = None
    """The last place below `_high` at the last look: while it is missing, `_high` stays."""

    @property
    def busy(self) -> bool:
        """True while there is a leader or a peer with a share."""
        return self.leader is not None or bool(self.given)

    def admits(self, session: Session, now: Nanos) -> bool:
        """Return whether a session over everything, which has found a difference, may go on."""
        if session is self.leader or now < self._plain_until:
            return True
        if self.busy:
            self.later.add(session.peer)
            return False
        self.leader = session
        self._led_at = session.moved_at = now
        return True

    # --- The table -----------------------------------------------------------------------------

    def found(self, session: Session, now: Nanos) -> None:
        """The leader has found out what is missing."""
        self._found = session.transfer.found
        self._table = self._found.seal()
        self._low, self._high, self._top = 0, len(self._table), None
        self._falls = True if self._high <= 2 * PAGE else None
        self._found_at = self._paged_at = now

    def lacks(self, sync_id: SyncId) -> bool:
        """Return whether the leader found this id missing and it has not come."""
        return self._found.is_missing(sync_id)

    def came(self, sync_id: SyncId) -> None:
        """A message is here, whoever brought it."""
        self._found.came(sync_id)

    def paged(self, now: Nanos) -> bool:
        """Return whether more of the leader's pages has come since the last call."""
        if self._top is not None and self._is_missing(self._top):
            return False  # mostly
        self._learn_order()
        before = self._high
        self._lower_high()
        self._top = self._last_of_page() if self._high else None
        if self._high < before:
            self._paged_at = now
        return self._high < before

    def _learn_order(self) -> None:
        """Count places in the order in which the leader's peer pushes, once that shows.

        The first message behind the newest page tells. Nobody has a share before.
        """
        if self._falls is not None or not self._high:
            return
        whole = len(self._table)
        if not self._is_missing(whole - 2 * PAGE):
            self._falls = True
        elif not self._is_missing(0):
            self._falls, self._high = False, whole
            self._top = None if self._top is None else self._row(self._top)

    def _last_of_page(self) -> int:
        """Return which one of the page that the leader's peer pushes now comes last."""
        if self._falls is not False or self._high > len(self._table) - PAGE:
            return self._high - 1
        return min(max(self._low, self._high - PAGE), self._high - 1)

    @property
    def met(self) -> bool:
        """True if the leader's page reaches into what other peers bring."""
        return self._low > self._page()

    def window(self, peer: PeerId, peers: int, now: Nanos) -> Bounds | None:
        """Give `peer`, one of `peers`, a share; return where it lies, None if nothing is left."""
        self.later.add(peer)
        share = None if self._failed(peer) else self._next(peers, now)
        if share is None:
            return None
        self.given[peer] = share
        ends = [self._timestamp(at) for at in (share.lower, share.upper - 1)]
        lower, upper = min(ends), max(ends)
        return Bounds(SyncId(lower, ZERO_HASH), SyncId(upper + 1, ZERO_HASH))

    def idle(self, linked: set[PeerId], running: set[PeerId], now: Nanos) -> tuple[PeerId, ...]:
        """Return who could be asked for a share now."""
        least = 1 if self.leader is None else SHARE_MIN
        if not self.busy or not (self._returned or self._left(now) >= least):
            return ()
        return tuple(sorted(peer for peer in linked - running if not self._failed(peer)))

    def _failed(self, peer: PeerId) -> bool:
        return self._failures[peer] >= FAILURES_MAX

    def _next(self, peers: int, now: Nanos) -> Share | None:
        if self._returned:
            return self._returned.pop()
        left = self._left(now)
        if left < SHARE_MIN and self.leader is not None:
            return None  # it comes as soon by itself
        if not left:
            return None
        size = min(max(-(-left // (2 * max(peers, 1))), SHARE_MIN), SHARE_MAX, left)
        lower, upper = self._low, self._low + size
        last = self._timestamp(upper - 1)
        while upper < len(self._table) and self._timestamp(upper) == last:
            upper += 1
        self._low = upper
        return Share(lower, upper)

    def _left(self, now: Nanos) -> int:
        """Return how much nobody is asked for, but for what the leader is about to bring."""
        self._learn_order()
        if self.leader is not None and self._falls is None:
            return 0
        self._lower_high()
        limit = self._high if self.leader is None else min(self._page(), self._ahead(now))
        while self._low < limit and not self._is_missing(self._low):
            self._low += 1
        return max(0, limit - self._low)

    def _ahead(self, now: Nanos) -> int:
        """Return how far down the leader comes soon: to the end, before anything is here."""
        brought = len(self._table) - self._found.count(Fate.MISSING)
        lasted = (now - self._found_at) * (1 + len(self.given))
        if not brought or not lasted:
            return 0
        return max(0, self._high - brought * AHEAD // lasted)

    def _page(self) -> int:
        """Return where the page begins that the leader brings now, counted as its peer does."""
        whole = len(self._table)
        return max(0, whole - PAGE * ((whole - self._high) // PAGE + 1))

    def _lower_high(self) -> None:
        while self._high > self._low and not self._is_missing(self._high - 1):
            self._high -= 1

    def _row(self, place: int) -> int:
        """Return where in the table a place is."""
        falling = 0 if self._falls is not False else len(self._table) - PAGE
        return falling - 1 - place if place < falling else place

    def _is_missing(self, place: int) -> bool:
        return self._table.number_at(self._row(place)) == Fate.MISSING

    def _timestamp(self, place: int) -> Nanos:
        return int.from_bytes(self._table.row_at(self._row(place))[:TIMESTAMP_BYTES], "big")

    # --- Ends ----------------------------------------------------------------------------------

    def ended(self, session: Session) -> None:
        """A session is over; what it was to bring and did not may be asked elsewhere."""
        if session is self.leader:
            self.leader = None
        share = self.given.pop(session.peer, None)
        if share is None:
            return
        lacks = any(map(self._is_missing, range(share.lower, share.upper)))
        if not lacks or (session.converged and not session.transfer.lacking):
            return  # or it has proved not to have it either
        self._failures[session.peer] += 1
        self._returned.append(share)

    def forget(self, peer: PeerId) -> None:
        """There is no link to `peer` any more."""
        self.later.discard(peer)
        self._failures.pop(peer, None)

    def finished(self) -> tuple[PeerId, ...]:
        """Forget the table; return with whom everything is to be compared now."""
        later, self.later = tuple(sorted(self.later)), set()
        self._failures.clear()
        self._returned = []
        self._found = FoundIds()
        self._table, self._top = self._found.seal(), None
        self._low = self._high = 0
        return later

    def deadline(self, sessions: dict[PeerId, Session]) -> Nanos | None:
        """Return when the leader or a peer with a share has next brought nothing for too long."""
        times = [self._share_until(sessions[peer]) for peer in self.given if peer in sessions]
        if self.leader is not None:
            times.append(self._leads_until(self.leader))
        return min(times, default=None)

    def stalled(self, sessions: dict[PeerId, Session], now: Nanos) -> list[Session]:
        """Return whose shares are asked elsewhere now; a leader that stalls ceases to be one."""
        leader = self.leader
        if leader is not None and self._leads_until(leader) <= now:
            self.leader = None
            if self._stalled_at is not None and now < self._stalled_at + PLAIN_FOR:
                self._plain_until = now + PLAIN_FOR
            self._stalled_at = now
        late = [
            sessions[peer]
            for peer in self.given
            if peer in sessions and self._share_until(sessions[peer]) <= now
        ]
        self._failures.update({session.peer: FAILURES_MAX for session in late})
        return late

    def _leads_until(self, leader: Session) -> Nanos:
        until = leader.moved_at + leader.patience.grown(STALLED_AFTER)
        if leader.exchanged is None:
            found = leader.need // FINDS_A_SECOND * SECOND
            return min(until, self._led_at + leader.patience.grown(FINDS_WITHIN) + found)
        return min(until, self._paged_at + leader.patience.grown(PAGE_WITHIN))

    def _share_until(self, session: Session) -> Nanos:
        return min(
            session.moved_at + session.patience.grown(STALLED_AFTER),
            session.began_at + session.patience.grown(SHARE_WITHIN),
        )
