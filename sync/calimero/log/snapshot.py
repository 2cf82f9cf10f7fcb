"""Snapshot: a channel without a message takes over all that a peer holds, page by page.

The source reads what it held at the handshake, though its disk goes on (`Opening.local`). The
receiver has each page checked off the loop, keeps it aside, and allows the next one; it goes on at
its cursor with any peer, after a cut or a crash. Once the last page is kept, all is judged and put
in the log at once (`sync.group.snapshots`): what came on the way counts nowhere before that.

Rules:
1. Whoever has anything stored takes none; the source believes what it is asked.
2. Pages are checked in order, and are below the cursor in falling order. The peer's root is never
   adopted: the session that follows compares.
3. The next page is allowed when an earlier one is committed, and `WINDOW` are on their way at most.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

from sync.calimero.log.page_sizes import PageSizes
from sync.calimero.log.page_times import PageTimes
from sync.calimero.log.phases import (
    RECEIVING,
    SENDING,
    Receiving,
    ReceivingStep,
    Sending,
    SendingStep,
)
from sync.calimero.log.snapshot_messages import (
    WINDOW,
    ChunkHead,
    Message,
    SnapshotDone,
    SnapshotMore,
    SnapshotRequest,
    chunk_of,
    decode,
    encode,
    head_of,
    in_pages,
)
from sync.calimero.log.snapshot_news import (
    PageKept,
    SnapshotBegan,
    SnapshotComplete,
    SnapshotView,
)
from sync.calimero.state.registers import ENTRIES_MAX
from sync.calimero.state.session import StateView
from sync.errors import RemoteError
from sync.machine import MINUTE, SECOND, Nanos
from sync.sessions.cards import Round
from sync.sessions.handshake import SyncHandshake
from sync.sessions.never_live import NeverLive
from sync.sessions.page_values import CheckedPage, LogPlace
from sync.sessions.protocol import Checks, Effect, Finished, LoadNewest, Opening, Send, Snapshots
from sync.sessions.values import LoadedEntry, Outcome
from sync.structures.ordered_set import OrderedSet

UNASKED_AFTER: Final[Nanos] = 20 * SECOND
"""Time without a word of the receiver after which the source gives up."""

ROUNDS_MAX: Final = 64
"""Payloads that are shown."""

STALLED: Final = "the peer stalled: another one goes on where it ended"
SLOW: Final = "the peer is slow: another one goes on where it ended"
LONG: Final = "the next session goes on where it ended"

RECEIVED_WITHIN: Final[Nanos] = 4 * MINUTE
"""Time after which a session of pages ends by itself, as one that moved on: at its limit, which is
`sync.sessions.session.SESSION_WITHIN`, it would count as failed, and the rest would come by other
kinds, from the oldest on, with what is staged among it."""

NOT_EMPTY: Final = "put off: something is here already"


class _End(NeverLive, ABC):
    """Parts that both ends have in common."""

    def __init__(self, opening: Opening) -> None:
        self.cards: list[Round] = []
        self._payloads = 0
        self._due_at: Nanos | None = None
        self._grown = opening.grown

    @property
    @abstractmethod
    def _over(self) -> bool:
        """True once it is over."""

    def go_on(self, now: Nanos) -> Sequence[Effect]:
        """Nothing is ever left to do."""
        del now
        return []

    def deadline(self) -> Nanos | None:
        """Return when the silence has been too long."""
        return None if self._over else self._due_at

    def _say(self, message: Message, words: str, *, carries: bool = False) -> Send:
        payload = encode(message)
        self._note(len(payload), words, sent=True)
        return Send(payload, carries=carries)

    def _note(self, size: int, words: str, *, sent: bool) -> None:
        if len(self.cards) < ROUNDS_MAX:
            self.cards.append(Round(sent, size, words=words))

    def _finished(self, result: str, outcome: Outcome) -> Finished:
        return Finished(result, self._payloads, outcome=outcome)


class SnapshotSource(_End):
    """The end that has messages; see `sync.sessions.protocol.Exchange`, and the module docstring.

    It sends as many pages as the receiver allows: those of the state, as it was at the handshake,
    then messages.
    """

    def __init__(self, opening: Opening, ours: SyncHandshake, theirs: SyncHandshake) -> None:
        super().__init__(opening)
        state: StateView = opening.state  # type: ignore[assignment]  # the group's own
        self._local: OrderedSet = opening.local
        self._floor = max(ours.log.floor, theirs.log.floor)
        self._total = ours.log.count
        self._sizes = PageSizes()
        self._state: Iterator[tuple[bytes, ...]] = in_pages(
            [entry.content for entry in state.registers], lambda: self._sizes.most
        )
        self._before: LogPlace | None = None
        self._allowed = 0
        """Pages that may still be sent."""
        self._number = 0
        self._loading = False
        self._phase = Sending.UNASKED
        self._sent = 0
        self._due_at = opening.at + self._grown(UNASKED_AFTER)

    @property
    def _over(self) -> bool:
        return self._phase is Sending.OVER

    def open(self, now: Nanos) -> Sequence[Effect]:
        """Nothing: a source is asked, and never begins."""
        del now
        return []

    def payload(self, payload: bytes, now: Nanos) -> Sequence[Effect]:
        """Take a request, or leave for more.

        Raises:
            RemoteError: out of turn, or more than a receiver may ask for.
        """
        message = decode(payload)
        self._payloads += 1
        self._due_at = now + self._grown(UNASKED_AFTER)
        match message:
            case SnapshotRequest(before, pages) if self._phase is Sending.UNASKED:
                words = "asks for all" if before is None else f"asks from {before[0]:,} down"
                self._note(len(payload), words, sent=False)
                self._step(SendingStep.ASKED)
                self._before = before
                return self._allow(pages, now)
            case SnapshotMore(pages) if self._phase in {Sending.SENDING, Sending.SENT}:
                self._sizes.kept(pages, now)
                return self._allow(pages, now)
            case SnapshotDone():
                self._note(len(payload), "has it", sent=False)
                all_sent = self._phase is Sending.SENT
                words = f"{self._sent:,} messages sent" if all_sent else "not needed"
                self._step(SendingStep.DONE)
                return [self._finished(words, Outcome.BENIGN)]
            case _:
                raise RemoteError("a message out of turn")

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> Sequence[Effect]:
        """Send a page of what was here at the handshake; one that came later is left out."""
        self._loading = False
        self._due_at = now + self._grown(UNASKED_AFTER)
        if self._over:
            return []
        if page:
            last = page[-1].entry
            self._before = (last.header.lamport, last.message_id)
        records = [one.entry for one in page if self._is_of_it(one)]
        if not records and more:
            return self._go_on(now)
        cursor = (records[-1].header.lamport, records[-1].message_id) if records else None
        self._sent += len(records)
        contents = [entry.content for entry in records]
        if not more:
            self._step(SendingStep.ALL_SENT)
        return [self._page(contents, now, cursor, last=not more), *self._go_on(now)]

    def tick(self, now: Nanos) -> Sequence[Effect]:
        """Give up after too long a silence."""
        if self._due_at is None or now < self._due_at or self._over:
            return []
        self._step(SendingStep.EXPIRED)
        return [self._finished("nothing came in time", Outcome.NOT_CONVERGED)]

    def _step(self, step: SendingStep) -> None:
        self._phase = SENDING[self._phase][step]

    def _is_of_it(self, one: LoadedEntry) -> bool:
        return one.sync_id.timestamp >= self._floor and one.sync_id in self._local

    def _allow(self, pages: int, now: Nanos) -> list[Effect]:
        self._allowed += pages
        if self._allowed > WINDOW:
            raise RemoteError(f"more than {WINDOW} pages are asked for at once")
        return self._go_on(now)

    def _go_on(self, now: Nanos) -> list[Effect]:
        """Send state as long as there is some, then have messages loaded."""
        effects: list[Effect] = []
        while self._allowed and not self._loading and self._phase is Sending.SENDING:
            contents = next(self._state, None)
            if contents is None:
                self._loading = True
                effects.append(LoadNewest(self._before, self._sizes.most))
            else:
                effects.append(self._page(contents, now, None, of_state=True))
        return effects

    def _page(
        self,
        contents: Sequence[bytes],
        now: Nanos,
        cursor: LogPlace | None,
        *,
        of_state: bool = False,
        last: bool = False,
    ) -> Send:
        chunk = chunk_of(self._number, contents, cursor, self._total, of_state=of_state, last=last)
        self._number += 1
        self._allowed -= 1
        self._sizes.sent(now)
        carries = bool(contents) and not of_state
        return self._say(chunk, _words(chunk.head, len(contents)), carries=carries)


class SnapshotReceiver(_End):
    """The end that is empty; see `sync.sessions.protocol.Exchange`, and the module docstring."""

    def __init__(
        self,
        opening: Opening,
        view: SnapshotView,
        ours: SyncHandshake,
        theirs: SyncHandshake,
    ) -> None:
        super().__init__(opening)
        self._view = view
        self._floor = max(ours.log.floor, theirs.log.floor)
        self._anew = view.floor is not None and theirs.log.floor > view.floor
        self._cursor = None if self._anew else view.cursor
        self._count = theirs.log.count
        self._checking: dict[int, bytes] = {}
        """Pages that are being checked, by number, in order."""
        self._number = 0
        self._phase = Receiving.BEGINNING
        self._got = self._registers = 0
        self._times = PageTimes(opening.grown)
        self._last: int | None = None
        """Number of the last page, once it is here."""
        self._ends_at = opening.at + RECEIVED_WITHIN
        self._expect(opening.at)

    @property
    def _over(self) -> bool:
        return self._phase is Receiving.OVER

    # --- Inputs --------------------------------------------------------------------------------

    def open(self, now: Nanos) -> Sequence[Effect]:
        """Ask for all, or for what is below what is kept already."""
        if not self._view.may_begin:
            self._step(ReceivingStep.NOT_EMPTY)
            done = self._say(SnapshotDone(), "not needed")
            return [done, self._finished(NOT_EMPTY, Outcome.BENIGN)]
        self._step(ReceivingStep.ASKED)
        self._times.shaken(now)
        self._expect(now)
        below = "" if self._cursor is None else f" from {self._cursor[0]:,} down"
        asked = self._say(SnapshotRequest(self._cursor, WINDOW), f"asks for all{below}")
        return [Snapshots(SnapshotBegan(self._count, self._floor, self._anew)), asked]

    def payload(self, payload: bytes, now: Nanos) -> Sequence[Effect]:
        """Have a page checked.

        Raises:
            RemoteError: out of turn, or more than was allowed.
        """
        head = head_of(payload)
        if self._phase in {Receiving.CHECKING, Receiving.OVER}:
            raise RemoteError("a page after the last one")
        if head.number != self._number:
            raise RemoteError(f"page {head.number} instead of {self._number}")
        if len(self._checking) == WINDOW:
            raise RemoteError("more pages than were allowed")
        if head.of_state and (self._phase is Receiving.MESSAGES or head.last):
            raise RemoteError("state behind messages")
        if not head.of_state and self._phase is Receiving.STATE:
            self._step(ReceivingStep.MESSAGES)
        self._note(len(payload), _words(head), sent=False)
        self._checking[head.number] = payload
        self._number += 1
        self._payloads += 1
        if head.last:
            self._last = head.number
            self._step(ReceivingStep.LAST)
        self._expect_no_more(now)  # until the check is over: that is ours
        return [Checks(head.number, payload)]

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> Sequence[Effect]:
        """Nothing is ever loaded."""
        del page, now, more
        return []

    def page_checked(
        self, number: int, page: CheckedPage | None, reason: str, now: Nanos
    ) -> Sequence[Effect]:
        """Keep a page that is sound and goes on below the others, and allow the next one.

        Raises:
            RemoteError: it is refused.
        """
        if self._over or number not in self._checking:
            return []
        if page is None:
            raise RemoteError(reason)
        got, registers = self._got + page.entries, self._registers + page.registers
        if got > self._count or registers > ENTRIES_MAX:
            raise RemoteError("more than there is by its word")
        self._got, self._registers = got, registers
        payload = self._checking.pop(number)
        self._times.kept(len(payload))
        head = head_of(payload)
        if page.first is not None:
            if self._cursor is not None and page.first >= self._cursor:
                raise RemoteError("a page that does not go on below the one before")
            self._cursor = page.last
        elif not page.registers and number != self._last:
            raise RemoteError("an empty page that is not the last one")
        if not self._checking:
            self._expect(now)
        kept = PageKept(payload, self._cursor, page.entries, head.total, page.own_logs)
        effects: list[Effect] = [Snapshots(kept)]
        if number != self._last:
            return [*effects, Send(encode(SnapshotMore(1)))]
        self._step(ReceivingStep.KEPT)
        words = f"{self._got:,} messages"
        return [
            *effects,
            Snapshots(SnapshotComplete()),
            self._say(SnapshotDone(), words),
            self._finished(words, Outcome.MOVED),
        ]

    def tick(self, now: Nanos) -> Sequence[Effect]:
        """Let another peer go on if this one stalls, or is too slow."""
        if self._due_at is None or now < self._due_at or self._over:
            return []
        self._step(ReceivingStep.EXPIRED)
        if now >= self._ends_at and self._got:
            return [self._finished(LONG, Outcome.MOVED)]
        result = STALLED if self._times.stalled(now) else SLOW
        return [self._finished(result, Outcome.NOT_CONVERGED)]

    def _expect(self, now: Nanos) -> None:
        """Wait for a page, from now on, as long as the source may take."""
        due = self._times.expect(now)
        self._due_at = min(due, max(now, self._ends_at)) if self._got else due

    def _expect_no_more(self, now: Nanos) -> None:
        """Wait for no page for now."""
        self._times.came(now)
        self._due_at = None

    def _step(self, step: ReceivingStep) -> None:
        self._phase = RECEIVING[self._phase][step]


def _words(head: ChunkHead, count: int | None = None) -> str:
    """Return what a page is, in a few words."""
    what = "state" if head.of_state else "messages"
    counted = what if count is None else f"{count:,} {what}"
    return f"page {head.number}: {counted}{', the last' if head.last else ''}"
