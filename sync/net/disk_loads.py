"""Loads from the disk what machines and their sessions ask for."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from sync.group import values
from sync.machine import ChannelId, MessageId, PeerId
from sync.runner.journal import Journal, Loaded, loaded_entries
from sync.structures.ordered_set import SyncId

T = TypeVar("T")


class Patience(Protocol):
    """The engine, as far as it waits for a disk that refuses."""

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Return what `read` reads, however long the disk refuses."""

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""


class DiskLoads(Struct, frozen=True):
    """Loads, and gives what came to the machines; `spawn` runs work under the node's care."""

    journal: Journal
    engine: Patience
    spawn: Callable[[str, Coroutine[Any, Any, None]], object]

    def load_held(self, channel: ChannelId, wanted: values.LoadHeld) -> None:
        """Look on the disk what a mark proves, and feed it."""

        async def load() -> None:
            found = await self.journal.under(channel, wanted.heads, wanted.wanted)
            if found:
                self.engine.queue_input(channel, values.HeldLoaded(wanted.peer, found))

        self.spawn("mark", load())

    def load_held_back(
        self, channel: ChannelId, after: tuple[int, MessageId] | None, limit: int
    ) -> None:
        """Load what waits for history on its way, and feed it."""

        async def load() -> None:
            read = partial(self.journal.load_held_back, channel, after, limit)
            outlines = await self.engine.patiently(read)
            self.engine.queue_input(channel, values.HeldBackLoaded(outlines))

        self.spawn("history", load())

    def load_authors(
        self, channel: ChannelId, requester: PeerId, message_ids: tuple[MessageId, ...]
    ) -> None:
        """Load who wrote messages that `requester` asks for, and feed it."""

        async def load() -> None:
            read = partial(self.journal.load, channel, message_ids)
            loaded = await self.engine.patiently(read)
            named = tuple([loaded[one].named for one in message_ids if one in loaded])
            self.engine.queue_input(channel, values.AuthorsLoaded(requester, named))

        self.spawn("authors", load())

    async def load_entries(
        self, channel: ChannelId, wanted: values.LoadEntries | values.LoadNewestEntries
    ) -> values.EntriesLoaded:
        """See `sync.net.links.session_streams.Loads`."""
        if isinstance(wanted, values.LoadNewestEntries):
            newest = await self.journal.newest_page(channel, wanted.before, wanted.most)
            falling = tuple(reversed(loaded_entries(newest.entries)))
            return values.EntriesLoaded(wanted.session, falling, newest.more)
        if wanted.messages:
            named = await self.journal.load(channel, wanted.messages)
            return values.EntriesLoaded(wanted.session, loaded_entries(named.values()))
        if wanted.ids:
            found = await self.journal.load_by_sync_ids(channel, wanted.ids)
            return values.EntriesLoaded(wanted.session, loaded_entries(found))
        page, more = await self.journal.entries_page(
            channel, wanted.spans, wanted.after, values.PAGE
        )
        return values.EntriesLoaded(wanted.session, loaded_entries(page), more)

    async def load_by_sync_ids(self, channel: ChannelId, ids: Sequence[SyncId]) -> list[Loaded]:
        """See `sync.net.links.session_streams.Loads`."""
        return await self.journal.load_by_sync_ids(channel, ids)
