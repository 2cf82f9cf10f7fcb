"""Entries that delta sync owes the other end: parents first, a page at a time."""

from collections.abc import Iterable, Sequence

from sync.calimero.log.delta_messages import ENTRIES_MAX, MESSAGE_SIZE, WALK_MAX, DeltaEntries
from sync.machine import MessageId
from sync.sessions.protocol import Load
from sync.sessions.values import PAGE, LoadedEntry
from sync.structures.ordered_set import OrderedSet


class DeltaSending:
    """See the module docstring; only what is in `frozen`, which the check proves, leaves."""

    def __init__(self, frozen: OrderedSet) -> None:
        self._frozen = frozen
        self._due: list[tuple[int, bytes]] = []
        """Places of what is due, the last one first."""
        self._seen: set[bytes] = set()
        """Ids that were due so far: nothing is sent twice."""
        self._by_id: dict[MessageId, None] = {}
        """Of the page that is on its way from the disk, ascending."""
        self.sent = 0

    @property
    def loading(self) -> bool:
        """True while a page is on its way from the disk."""
        return bool(self._by_id)

    def owe(self, places: Iterable[tuple[int, bytes]]) -> int:
        """Owe messages, by Lamport timestamp and id; return how many are new.

        Of more than a session may bring, those that come first.
        """
        news = sorted({one for one in places if one[1] not in self._seen})
        del news[max(0, WALK_MAX - len(self._seen)) :]
        self._seen.update([message_id for _, message_id in news])
        self._due = sorted([*self._due, *news], reverse=True)
        return len(news)

    def ask(self) -> Load | None:
        """Return what to load next; None while a page is on its way, or nothing is due."""
        if self._by_id or not self._due:
            return None
        page, self._due = self._due[: -PAGE - 1 : -1], self._due[:-PAGE]
        self._by_id = dict.fromkeys([MessageId(message_id.hex()) for _, message_id in page])
        return Load((), messages=tuple(self._by_id))

    def loaded(self, page: Sequence[LoadedEntry]) -> list[DeltaEntries]:
        """Return the messages that carry a page; what is gone from the disk is left out."""
        found = {one.entry.message_id: one for one in page if one.sync_id in self._frozen}
        contents = [found[one].entry.content for one in self._by_id if one in found]
        self._by_id = {}
        self.sent += len(contents)
        return list(_packed(contents))


def _packed(contents: Iterable[bytes]) -> Iterable[DeltaEntries]:
    """Yield entries in messages that are not too large."""
    part: list[bytes] = []
    size = 0
    for content in contents:
        if part and (size + len(content) > MESSAGE_SIZE or len(part) == ENTRIES_MAX):
            yield DeltaEntries(tuple(part))
            part, size = [], 0
        part.append(content)
        size += len(content)
    if part:
        yield DeltaEntries(tuple(part))
