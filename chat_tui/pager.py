"""Pages of history from the disk into a conversation."""

from collections.abc import Callable
from typing import Final

from chat_tui.model import Change, Conversation
from sync.errors import LocalError
from sync.view import History

FIRST_PAGE: Final = 50
"""Lines before the network is up: more than most screens show."""

PAGE: Final = 200
"""Lines paged in at a time: several screens, a few milliseconds of disk."""


class Pager:
    """Reads `history`, one page of a conversation at a time.

    What the disk refuses goes to `report` as a sentence; that conversation asks no more for now.
    """

    def __init__(self, history: History, report: Callable[[str], None]) -> None:
        self._history = history
        self._report = report

    async def older(self, conversation: Conversation) -> list[Change]:
        """Page in what comes before the first row; the newest lines if there is none."""
        if conversation.loading or not conversation.has_older:
            return []
        before = conversation.first
        limit = FIRST_PAGE if before is None else PAGE
        conversation.begin_load()
        try:
            page = await self._history.page(conversation.channel, before=before, limit=limit)
        except LocalError as error:
            self._report(str(error))
            return conversation.fail_load()
        return conversation.add_older(page, before=before, complete=len(page) < limit)

    async def newer(self, conversation: Conversation) -> list[Change]:
        """Page in what comes after the last row."""
        after = conversation.last
        if conversation.loading or not conversation.has_newer or after is None:
            return []
        conversation.begin_load()
        try:
            page = await self._history.page_after(conversation.channel, after=after, limit=PAGE)
        except LocalError as error:
            self._report(str(error))
            return conversation.fail_load()
        return conversation.add_newer(page, after=after, complete=len(page) < PAGE)
