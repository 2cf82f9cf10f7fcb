"""Sending of the entries that a peer lacks, a page at a time.

Rules:
1. A page has the lowest of what is due when it is asked for, in the order (lamport, id).
2. One page is on its way; the next is asked for once it was handed over to be sent.
3. Of a log, what was sent is what its span has passed: nothing is sent twice, and what is gone
   from the disk meanwhile is passed over.
"""

from collections.abc import Sequence

from sync.machine import MessageId
from sync.sessions.protocol import Load
from sync.sessions.values import LoadedEntry
from sync.structures.log_spans import LogSpan


class Sending:
    """Spans of logs that are due to a peer, and how far they were sent."""

    def __init__(self) -> None:
        self._due: dict[tuple[bytes, int], LogSpan] = {}
        self._asked: tuple[LogSpan, ...] = ()
        self._after: tuple[int, MessageId] | None = None
        """Place of the last entry that was sent; None while something before it may be due."""
        self._grew = False
        """Whether spans became due since a page was asked for."""
        self.sent = 0

    def owe(self, span: LogSpan) -> None:
        """A span is due; a session finds one of each log."""
        self._due[span.key, span.log] = span
        self._grew = True

    @property
    def loading(self) -> bool:
        """True while a page is on its way from the disk."""
        return bool(self._asked)

    def ask(self) -> Load | None:
        """Return what to load next; None while a page is on its way, or nothing is due."""
        if self._asked or not self._due:
            return None
        if self._grew:
            self._after, self._grew = None, False
        self._asked = tuple(sorted(self._due.values()))
        return Load(self._asked, self._after)

    def loaded(self, page: Sequence[LoadedEntry], *, more: bool) -> None:
        """A page was handed over; without `more`, nothing of the asked spans is left."""
        for loaded in page:
            header = loaded.entry.header
            key = bytes.fromhex(header.author), header.log
            span = self._due[key]
            if header.seq >= span.height:
                del self._due[key]
            else:
                self._due[key] = span._replace(after=header.seq)
        if page:
            self._after = page[-1].entry.header.lamport, page[-1].entry.message_id
        self.sent += len(page)
        if not more:
            for span in self._asked:
                self._due.pop((span.key, span.log), None)
        self._asked = ()
