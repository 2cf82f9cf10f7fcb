"""Searches by both ways there are: among the newest lines, and by the index of words."""

from functools import partial

from storage.sqlite.search.finding import find
from sync.machine import ChannelId
from sync.view.finding import Wanted
from sync.view.view import History, Line
from tests.support.storage.stores import ME, Store


async def searched(store: Store, channel: ChannelId, query: str, *, limit: int) -> list[Line]:
    """Return what has the words of `query`, oldest first; the index alone finds the same texts."""
    wanted = Wanted((channel,), query)
    lines = [*await store.history.find(wanted, limit=limit)]
    indexed = await store.database.read(partial(find, ME, wanted, limit, walked=0))
    assert _ids(indexed.lines) == _ids([line for line in lines if line.act is None])
    return lines[::-1]


async def found_by(history: History, channel: ChannelId, query: str, *, limit: int) -> list[Line]:
    """Return what has the words of `query`, oldest first."""
    return [*await history.find(Wanted((channel,), query), limit=limit)][::-1]


def _ids(lines: list[Line]) -> list[str]:
    return [line.message_id for line in lines]
