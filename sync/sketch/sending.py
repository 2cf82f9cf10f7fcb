"""Entries that one end owes the other: the oldest first, a page at a time."""

from collections.abc import Iterable, Sequence

from sync.sessions.protocol import Load
from sync.sessions.values import PAGE, LoadedEntry
from sync.sketch.messages import ENTRIES_MAX, MESSAGE_SIZE, Entries
from sync.structures.sorted_run import Columns, SyncId, columns_of, values_of


class SketchSending:
    """See the module docstring."""

    def __init__(self) -> None:
        self.sent = 0
        self._due = columns_of(())
        self._asked: tuple[SyncId, ...] = ()
        """The page that is on its way from the disk."""

    @property
    def loading(self) -> bool:
        """True while a page is on its way from the disk."""
        return bool(self._asked)

    def owe(self, ids: Columns) -> None:
        """Owe messages, rising: parents are mostly older than what names them."""
        self._due = ids

    def ask(self) -> Load | None:
        """Return what to load next; None while a page is on its way, or nothing is due."""
        if self._asked or not len(self._due.timestamps):
            return None
        page, self._due = (
            Columns(*(column[part] for column in self._due))
            for part in (slice(PAGE), slice(PAGE, None))
        )
        self._asked = tuple(values_of(page))
        return Load((), ids=self._asked)

    def loaded(self, page: Sequence[LoadedEntry]) -> list[Entries]:
        """Return the messages that carry a page; what is gone from the disk is left out."""
        self._asked = ()
        self.sent += len(page)
        return list(_packed([one.entry.content for one in page]))


def _packed(contents: Iterable[bytes]) -> Iterable[Entries]:
    """Yield entries in messages that are not too large."""
    part: list[bytes] = []
    size = 0
    for content in contents:
        if part and (size + len(content) > MESSAGE_SIZE or len(part) == ENTRIES_MAX):
            yield Entries(tuple(part))
            part, size = [], 0
        part.append(content)
        size += len(content)
    if part:
        yield Entries(tuple(part))
