"""Read marks, hidden gap lines, the colours of authors and drafts, kept over restarts.

A mark is the position up to which a channel was read. Marks are written some seconds after they
moved, and at the end; after a crash a few messages that were read may be unread again. So it is
with drafts: after a crash the last seconds of one are missing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from chat_tui.model.author_places import AuthorPlaces
from chat_tui.model.conversation import BEGINNING
from chat_tui.model.event_feed import Feed
from chat_tui.model.row import Change
from sync.errors import LocalError
from sync.machine import SECOND, ChannelId, MessageId, Nanos
from sync.view.view import History, Line, Position

if TYPE_CHECKING:
    from storage.profile.author_colours import AuthorColours
    from storage.profile.drafts import Drafts
    from storage.profile.hidden_gaps import HiddenGaps
    from storage.profile.read_marks import ReadMarks

SAVE_EVERY: Final[Nanos] = 5 * SECOND
"""From one writing to the next at least: it waits for the disk."""

UNREAD_MAX: Final = 1_000
"""Unread messages of a channel that are counted at a start: some 20 ms of disk."""

NEWEST: Final = 50
"""Lines among which the newest message is looked for: acts do not count for what was read."""

PAGE: Final = 200


class Kept(NamedTuple):
    """Files of what is kept over restarts; what has none is not kept."""

    marks: "ReadMarks | None" = None
    hidden: "HiddenGaps | None" = None
    """Lines about gaps that were hidden: else they are shown again at the next start."""
    colours: "AuthorColours | None" = None
    """Places of authors: else they get theirs anew."""
    drafts: "Drafts | None" = None
    """Texts that were begun: else they are lost with the run."""


NOTHING_KEPT: Final = Kept()
NONE_BEGUN: Final[Mapping[ChannelId, str]] = {}


class Seen:
    """Follows how far the channels of `feed` are read, and keeps it as `kept` says."""

    def __init__(self, kept: Kept, feed: Feed, history: History) -> None:
        self._marks, self._hidden, self._colours, self._drafts = kept
        self._feed, self._history = feed, history
        self.places = AuthorPlaces(None if kept.colours is None else kept.colours.load())
        """Places of authors among the colours of names."""
        self._saved_places = dict(self.places.places)
        self.drafts = {} if kept.drafts is None else kept.drafts.load()
        """Texts that the last run left begun."""
        self._saved_drafts = self.drafts
        self._saved: dict[ChannelId, Position] = {}
        self._saved_hidden: dict[ChannelId, list[MessageId]] = {}
        self._next: Nanos = 0
        self._resumed = False
        self._writing = asyncio.Lock()

    async def resume(
        self, channels: Sequence[ChannelId], shown: ChannelId | None, now: Nanos = 0
    ) -> list[Change]:
        """Count what was unread at the end of the last run; call it before anything can arrive.

        What others wrote before `now` and bring later is as new. Returns what changed in the
        conversation that is `shown`.
        """
        changes: list[Change] = []
        if self._marks is None:
            return changes
        changes += await self._hide_again(channels, shown)
        self._saved = await asyncio.to_thread(self._marks.load)
        for channel in channels:
            with suppress(LocalError):  # the disk says so itself where it is read
                mark = self._saved.get(channel)
                away_until = 0 if mark is None else now
                if mark is None:
                    newest = await self._history.page(channel, before=None, limit=NEWEST)
                    messages = [one for one in newest if one.act is None] or newest
                    mark, after = messages[-1].position if messages else BEGINNING, []
                else:
                    after = await self._unread(channel, mark)
                new = self._feed.resume(channel, mark, after, away_until)
                changes += new if channel == shown else []
        self._resumed = True
        return changes

    async def _hide_again(
        self, channels: Sequence[ChannelId], shown: ChannelId | None
    ) -> list[Change]:
        changes: list[Change] = []
        if self._hidden is not None:
            self._saved_hidden = await asyncio.to_thread(self._hidden.load)
            for channel in channels:
                ids = self._saved_hidden.get(channel, [])
                new = self._feed.conversation(channel).hide_gaps(ids) if ids else []
                changes += new if channel == shown else []
        return changes

    async def _unread(self, channel: ChannelId, mark: Position) -> list[Line]:
        """Return the first messages after a mark."""
        lines: list[Line] = []
        while len(lines) < UNREAD_MAX:
            page = await self._history.page_after(channel, after=mark, limit=PAGE)
            lines += page
            if len(page) < PAGE:
                break
            mark = page[-1].position
        return lines

    def is_due(self, now: Nanos) -> bool:
        """Return whether the marks should be written again, if they moved."""
        if now < self._next or not self._resumed:
            return False
        self._next = now + SAVE_EVERY
        return True

    async def save(
        self, channels: Sequence[ChannelId], begun: Mapping[ChannelId, str] = NONE_BEGUN
    ) -> None:
        """Write what changed; what the last run wrote has to be read before.

        `begun` has the drafts of now.
        """
        if self._marks is None or not self._resumed:
            return
        marks = {one: mark for one in channels if (mark := self._feed.read_to(one)) is not None}
        async with self._writing:
            if marks != self._saved:
                with suppress(OSError):  # a full disk is told where a message is lost by it
                    await asyncio.to_thread(self._marks.save, marks)
                    self._saved = marks
            places = dict(self.places.places)
            if self._colours is not None and places != self._saved_places:
                with suppress(OSError):
                    await asyncio.to_thread(self._colours.save, places)
                    self._saved_places = places
            drafts = {one: begun[one] for one in channels if one in begun}
            if self._drafts is not None and drafts != self._saved_drafts:
                with suppress(OSError):
                    await asyncio.to_thread(self._drafts.save, drafts)
                    self._saved_drafts = drafts
            if self._hidden is not None:
                hidden = {one: ids for one in channels if (ids := self._feed.hidden(one))}
                if hidden != self._saved_hidden:
                    with suppress(OSError):
                        await asyncio.to_thread(self._hidden.save, hidden)
                        self._saved_hidden = hidden
