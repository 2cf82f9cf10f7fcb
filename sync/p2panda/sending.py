"""Sending of the entries that a peer lacks, a page at a time.

Rules:
1. A page has the lowest of what is due when it is asked for, in the order (lamport, id).
2. One page is on its way; the next is asked for once it was handed over to be sent.
3. Of a log, what was sent is what its span has passed: nothing is sent twice, and what is gone
   from the disk meanwhile is passed over.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from sync.machine import MessageId
from sync.sessions.protocol import Load
from sync.sessions.values import PAGE, LoadedEntry, Stored
from sync.structures.log_spans import LogSpan
from sync.structures.ordered_set import SyncId

LOOSE_MAX: Final = 1_000
"""Entries due by their ids."""


class Sending:
    """Spans of logs that are due to a peer, and how far they were sent.

    A peer that does not read lags: what is new makes spans longer. What does not continue one is
    due by its id.
    """

    def __init__(self) -> None:
        self._due: dict[tuple[bytes, int], LogSpan] = {}
        self._asked: tuple[LogSpan, ...] = ()
        self._asked_loose: tuple[SyncId, ...] = ()
        self._after: tuple[int, MessageId] | None = None
        """Place of the last entry that was sent; None while something before it may be due."""
        self._loose: dict[SyncId, None] = {}
        """Entries due that continue no span: above a hole, or the second of a fork."""
        self._grew = False
        """Whether spans became due since a page was asked for."""
        self.sent = 0

    def owe(self, span: LogSpan) -> None:
        """A span is due; a session finds one of each log."""
        self._due[span.key, span.log] = span
        self._grew = True

    def add(self, one: Stored) -> bool:
        """A stored entry is due; return false if too many are that continue nothing."""
        key = bytes.fromhex(one.author), one.log
        span = self._due.get(key)
        if span is None:
            self._due[key] = LogSpan(*key, one.seq - 1, one.seq)
        elif span.height + 1 == one.seq:
            self._due[key] = span._replace(height=one.seq)
        else:
            self._loose[one.sync_id] = None
            return len(self._loose) <= LOOSE_MAX
        self._grew = True
        return True

    @property
    def loading(self) -> bool:
        """True while a page is on its way from the disk."""
        return bool(self._asked) or bool(self._asked_loose)

    def ask(self) -> Load | None:
        """Return what to load next; None while a page is on its way, or nothing is due."""
        if self.loading or not (self._due or self._loose):
            return None
        if not self._due:
            self._asked_loose = tuple(islice(self._loose, PAGE))
            return Load((), None, self._asked_loose)
        if self._grew:
            self._after, self._grew = None, False
        self._asked = tuple(sorted(self._due.values()))
        return Load(self._asked, self._after)

    def loaded(self, page: Sequence[LoadedEntry], *, more: bool) -> None:
        """A page was handed over; without `more`, nothing of the asked spans is left."""
        self.sent += len(page)
        if self._asked_loose:
            for sync_id in self._asked_loose:
                del self._loose[sync_id]
            self._asked_loose = ()
            return
        for loaded in page:
            header = loaded.entry.header
            key = bytes.fromhex(header.author), header.log
            span = self._due.get(key)
            if span is None:
                continue  # the second entry of a fork at the end of its span
            if header.seq >= span.height:
                del self._due[key]
            else:
                self._due[key] = span._replace(after=header.seq)
        if page:
            self._after = page[-1].entry.header.lamport, page[-1].entry.message_id
        if not more:
            for asked in self._asked:
                self._pass(asked)
        self._asked = ()

    def _pass(self, asked: LogSpan) -> None:
        """Of a span that was asked for nothing is left; it may have grown since."""
        span = self._due.get((asked.key, asked.log))
        if span is None:
            return
        if span.height > asked.height:
            self._due[asked.key, asked.log] = span._replace(after=asked.height)
        else:
            del self._due[asked.key, asked.log]
