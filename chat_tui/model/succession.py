"""Pages of a channel and, above its own, of the channel that it goes on from."""

from sync.machine import ChannelId
from sync.view.view import History, Line, Position


class Succession:
    """Reads `history`: what was written in the older channel stands above the founding of the new.

    What is written there later does not: it would appear in the midst of the new conversation, to
    some and not to others.
    """

    def __init__(self, history: History) -> None:
        self._history = history

    async def page(self, channel: ChannelId, *, before: Position | None, limit: int) -> list[Line]:
        """Return up to `limit` lines just before `before` (None: the newest), oldest first."""
        lines = [*await self._history.page(channel, before=before, limit=limit)]
        if len(lines) == limit or (older := await self._history.predecessor(channel)) is None:
            return lines
        until = older.founded if before is None else min(before, older.founded)
        above = await self._history.page(older.channel, before=until, limit=limit - len(lines))
        return [*above, *lines]

    async def page_after(self, channel: ChannelId, *, after: Position, limit: int) -> list[Line]:
        """Return up to `limit` lines just after `after`, oldest first."""
        above: list[Line] = []
        older = await self._history.predecessor(channel)
        if older is not None and after < older.founded:
            found = await self._history.page_after(older.channel, after=after, limit=limit)
            above = [line for line in found if line.position < older.founded]
        rest = limit - len(above)
        own = await self._history.page_after(channel, after=after, limit=rest) if rest else ()
        return [*above, *own]
