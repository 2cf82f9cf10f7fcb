"""The engine's disk interface. `storage` implements it with SQLite; the simulator in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from sync.entries.entry import Entry
from sync.group.records import Altered, ChannelState, Contradiction, Outline, Record, Replayed
from sync.group.snapshots.values import Renewed, unchanged
from sync.group.values import OpId
from sync.machine import ChannelId, MessageId
from sync.sds.message import Delivery, HistoryEntry
from sync.sessions.values import LoadedEntry
from sync.structures.log_spans import LogSpan
from sync.structures.ordered_set import SyncId

PAGE_BYTES: Final = 1024 * 1024
"""Bytes of the messages of a page of entries, unless the first one alone has more."""


class Loaded(Struct, frozen=True):
    """A stored message, loaded again."""

    message_id: MessageId
    entry: Entry
    payload: bytes
    waku_hash: bytes
    after_gap: bool
    delivery: Delivery | None

    @property
    def named(self) -> HistoryEntry:
        """The message as an entry of a causal history."""
        return HistoryEntry(self.message_id, self.waku_hash, self.entry.header.author)


class Replay(Protocol):
    """Makes records of the pages of a snapshot, of which the last comes first: the oldest entries.

    It runs on the disk's own thread, so it is pure, and keeps nothing of a page but ids.
    """

    def __call__(
        self, pages: Iterable[bytes], renewed: Renewed = unchanged, /
    ) -> Iterator[Replayed]:
        """Yield the records."""


class Swap(Protocol):
    """A staged snapshot that is made history."""

    async def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        """Write what is left of it, in one transaction, until somebody waits for the disk.

        What is stored of the channel stays as it is: of records of the same messages nothing is
        written. Reading goes on meanwhile, and finds what was before; commits wait. Between two
        calls anything may be committed, and no page of the transcript shows what is written so far.

        Args:
            is_awaited: says so; it is asked on the disk's own thread.

        Returns:
            True if all is history, or if a page is no longer what was staged: then the rest of the
            snapshot is dropped.

        Raises:
            StorageError: nothing was written by this call, and the pages are still there. Whoever
                tries again does so by another swap.
        """


class EntriesPage(NamedTuple):
    """Stored messages in an order; `more`: there may be others behind the last one."""

    entries: tuple[Loaded, ...]
    more: bool


class Watcher(Protocol):
    """Hears what a journal finds; only takes note, and returns."""

    def damaged(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        """These stored messages are no longer what was stored.

        Nothing that is read gives them out. They are told once, until a `Discard` was tried.
        """

    def contradicted(self, found: Contradiction) -> None:
        """An entry that was just committed contradicts another one of its author."""


class Journal(Protocol):
    """Durable storage. After `commit` returns, a power cut takes nothing of it away."""

    async def commit(self, records: Sequence[Record]) -> Sequence[Altered]:
        """Write all of `records` in one transaction, in order.

        Returns the delivered messages that look different now (`sync.entries.changes`); among them
        those that were delivered by these very records, and had been changed before they came.

        Raises:
            StorageError: nothing was written; the sentence says what to do.
        """

    def watch(self, watcher: "Watcher") -> None:
        """Tell `watcher` what is found besides what was asked for."""

    async def load(self, channel: ChannelId, ids: Sequence[MessageId]) -> dict[MessageId, Loaded]:
        """Return the stored messages among `ids`."""

    async def load_by_sync_ids(self, channel: ChannelId, ids: Sequence[SyncId]) -> list[Loaded]:
        """Return the stored messages with these ids, rising; a parked one has no sync id."""

    async def load_held_back(
        self, channel: ChannelId, after: tuple[int, MessageId] | None, limit: int
    ) -> tuple[Outline, ...]:
        """Return messages that wait for history on its way, by (lamport, id), after a place."""

    async def entries_page(
        self,
        channel: ChannelId,
        spans: Sequence[LogSpan],
        after: tuple[int, MessageId] | None,
        limit: int,
    ) -> EntriesPage:
        """Return the first `limit` entries of these spans behind a place, or of the first page.

        At most `PAGE_BYTES` of them. A log is in one span at most; entries that are parked count as
        ones that are not here.
        """

    async def newest_page(
        self, channel: ChannelId, before: tuple[int, MessageId] | None, most: int
    ) -> EntriesPage:
        """Return delivered entries by (lamport, id), the newest first, below a place.

        As many as have `most` bytes, signed as they are (`Entry.content`), and one at least;
        `more`: there may be others below them.
        """

    async def staged_page(self, channel: ChannelId, number: int) -> bytes | None:
        """Return a staged page of a snapshot; None if there is none that is what was staged."""

    def swap(self, channel: ChannelId, replay: Replay) -> Swap:
        """Begin to make a channel's staged snapshot its history."""

    async def load_ops(self, channel: ChannelId, ops: Sequence[OpId]) -> tuple[bytes, ...]:
        """Return the bytes of these ops of governance, in order, but those that have rotted."""

    async def under(
        self, channel: ChannelId, heads: Sequence[MessageId], wanted: Sequence[MessageId]
    ) -> tuple[MessageId, ...]:
        """Return those of `wanted` that are among `heads` or their ancestors, as far as known."""

    async def restore(self, channel: ChannelId) -> ChannelState:
        """Return what the channel's machines need; a new channel has an empty state."""


def loaded_entries(found: Iterable[Loaded]) -> tuple[LoadedEntry, ...]:
    """Return stored messages as a session sends them: its order is that of (lamport, id)."""
    page = [
        LoadedEntry(one.entry, SyncId(one.entry.header.created_ns, one.waku_hash)) for one in found
    ]
    page.sort(key=lambda one: (one.entry.header.lamport, one.entry.message_id))
    return tuple(page)


class Retriever(Protocol):
    """A source of missing messages besides the channel itself and the peers' histories.

    A Store node, an archive (SDS, "Periodic Incoming Buffer Sweep"). The manager's reconciliation
    with a peer needs none.
    """

    def retrieve(self, channel: ChannelId, wanted: Sequence[HistoryEntry]) -> None:
        """Begin to fetch these, by their retrieval hints, and return at once.

        Found messages go in as `values.Retrieved`, and are checked like everything else. The others
        are asked for again, ever later.
        """
