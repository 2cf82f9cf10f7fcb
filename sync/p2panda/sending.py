"""Sending of the entries that a peer lacks, a page at a time.

Rules:
1. A page has the lowest of what is due when it is asked for, in the order (lamport, id).
2. One page is on its way; the next is asked for once it was handed over to be sent.
3. Of a log, what was sent is what its span has passed: nothing is sent twice, and what is gone
   from the disk meanwhile is passed over.
"""

from collections.abc import Iterable

from sync.sessions.values import LoadedEntry
from sync.structures.log_spans import LogSpan


class Sending:
    """Spans of logs that are due to a peer, and how far they were sent."""

    def __init__(self) -> None:
        self._due: dict[tuple[bytes, int], LogSpan] = {}
        self._asked: tuple[LogSpan, ...] = ()
        self.count = 0
        """Entries that were due in all."""
        self.sent = 0

    def owe(self, span: LogSpan) -> None:
        """A span is due; of one log, the session finds one."""
        self._due[span.key, span.log] = span
        self.count += span.height - span.after

    @property
    def loading(self) -> bool:
        """True while a page is on its way from the disk."""
        return bool(self._asked)

    @property
    def over(self) -> bool:
        """True while nothing is due."""
        return not self._due

    def ask(self) -> tuple[LogSpan, ...]:
        """Return the spans to load a page of; none while one is on its way, or nothing is due."""
        if self._asked or not self._due:
            return ()
        self._asked = tuple(sorted(self._due.values()))
        return self._asked

    def loaded(self, page: Iterable[LoadedEntry], *, more: bool) -> None:
        """A page was handed over; without `more`, nothing of the asked spans is left."""
        for loaded in page:
            header = loaded.entry.header
            key = bytes.fromhex(header.author), header.log
            span = self._due[key]
            self.sent += 1
            if header.seq >= span.height:
                del self._due[key]
            else:
                self._due[key] = span._replace(after=header.seq)
        if not more:
            for span in self._asked:
                self._due.pop((span.key, span.log), None)
        self._asked = ()
