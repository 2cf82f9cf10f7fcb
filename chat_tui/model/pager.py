"""Pages of history from the disk into a conversation."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from chat_tui.client.parked_lines import READ_MAX
from chat_tui.model.conversation import BEGINNING, PENDING_SHOWN, Conversation
from chat_tui.model.row import Change
from chat_tui.model.succession import Succession
from sync.errors import LocalError
from sync.machine import MessageId
from sync.view.view import History, Line, Position

FIRST_PAGE: Final = 50
"""Lines before the network is up: more than most screens show."""

PAGE: Final = 200
"""Lines paged in at a time: several screens, a few milliseconds of disk."""

GAPS_READ: Final = 100
"""Of those in memory; each costs a look-up by id. The others are seen when they are paged in."""

END: Final[Position] = (2**64 - 1, MessageId("ff" * 33))
"""After every message there can be: an id has 32 bytes."""


class Pager:
    """Reads `history`, one page of a conversation at a time.

    A refusal of the disk goes to `report` as a sentence; that conversation asks no more for now.

    Rule: nothing is read between a change of the rows and its being told, so that who shows them
    never sees rows that were not told of. What the rows of a page answer is read by `quote`.
    """

    def __init__(self, history: History, report: Callable[[str], None]) -> None:
        self._history, self._pages = history, Succession(history)
        self._report = report
        self._one_at_a_time = asyncio.Lock()

    async def older(self, conversation: Conversation) -> list[Change]:
        """Page in what comes before the first row; the newest lines if there is none."""
        if conversation.loading:
            return []
        async with self._turn(conversation):
            return await self._older(conversation)

    async def newer(self, conversation: Conversation) -> list[Change]:
        """Page in what comes after the last row."""
        if conversation.loading:
            return []
        async with self._turn(conversation):
            return await self._newer(conversation)

    async def around(self, conversation: Conversation, position: Position) -> list[Change]:
        """Have the rows around `position` in memory; those of now go, if it is not among them."""
        async with self._turn(conversation):
            if conversation.covers(position):
                return []
            return await self._around(conversation, position)

    async def quote(self, conversation: Conversation) -> list[Change]:
        """Read the messages that rows in memory answer and of which nothing is known yet."""
        async with self._one_at_a_time:
            return await self._quote(conversation)

    async def _quote(self, conversation: Conversation) -> list[Change]:
        wanted = conversation.unquoted
        if not wanted:
            return []
        try:
            found = dict(await self._history.answered(conversation.channel, wanted))
        except LocalError as error:
            self._report(str(error))
            found = {}
        return conversation.take_quotes(found, wanted)

    async def fill(self, conversation: Conversation) -> list[Change]:
        """Look again at the newest gaps in memory: something missing came."""
        lines: list[Line] = []
        try:
            for message_id in conversation.gaps()[-GAPS_READ:]:
                lines += await self._history.named(conversation.channel, message_id, limit=1)
        except LocalError as error:
            self._report(str(error))
        return [change for line in lines for change in conversation.change(line)]

    async def look_again(self, conversation: Conversation) -> list[Change]:
        """Read the rows in memory again, and show each in its place as it looks now.

        If there is none, the newest page is read.
        """
        first, last = conversation.first, conversation.last
        if last is None:
            return await self.older(conversation)
        conversation.doubt_quotes()
        changes = await self.quote(conversation)
        after = BEGINNING if first is None else (first[0], MessageId(""))
        while after < last:
            try:
                page = await self._pages.page_after(conversation.channel, after=after, limit=PAGE)
            except LocalError as error:
                self._report(str(error))
                break
            changes += [change for line in page for change in conversation.change(line)]
            if len(page) < PAGE:
                break
            after = page[-1].position
        return changes

    @asynccontextmanager
    async def _turn(self, conversation: Conversation) -> AsyncIterator[None]:
        """Wait for the other reads; a load that is cancelled is as if it had not begun."""
        async with self._one_at_a_time:
            try:
                yield
            except asyncio.CancelledError:
                conversation.drop_load()
                raise

    async def _around(self, conversation: Conversation, position: Position) -> list[Change]:
        channel = conversation.channel
        conversation.begin_move()
        try:
            before = await self._pages.page(channel, before=position, limit=PAGE)
            last = before[-1].position if before else BEGINNING
            after = await self._pages.page_after(channel, after=last, limit=PAGE)
        except LocalError as error:
            self._report(str(error))
            return conversation.fail_move()
        return conversation.move(
            [*before, *after], has_older=len(before) == PAGE, has_newer=len(after) == PAGE
        )

    async def _older(self, conversation: Conversation) -> list[Change]:
        if conversation.loading or not conversation.has_older:
            return []
        before = conversation.first
        limit = FIRST_PAGE if before is None else PAGE
        conversation.begin_load()
        parked: Sequence[Line] = ()
        pending: Sequence[Line] = ()
        try:
            if before is None:
                pending = await self._history.pending(conversation.channel, limit=PENDING_SHOWN)
                parked = await self._history.parked(conversation.channel, limit=READ_MAX)
            page = await self._pages.page(conversation.channel, before=before, limit=limit)
        except LocalError as error:
            self._report(str(error))
            return conversation.fail_load()
        changes = conversation.add_older(page, before=before, complete=len(page) < limit)
        return changes + conversation.park(parked) + conversation.wait(pending)

    async def _newer(self, conversation: Conversation) -> list[Change]:
        after = conversation.last
        if conversation.loading or not conversation.has_newer or after is None:
            return []
        conversation.begin_load()
        try:
            page = await self._pages.page_after(conversation.channel, after=after, limit=PAGE)
        except LocalError as error:
            self._report(str(error))
            return conversation.fail_load()
        return conversation.add_newer(page, after=after, complete=len(page) < PAGE)
