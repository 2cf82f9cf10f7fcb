"""The place where line mode begins to tell: `--since now`, a time, or the id of a message."""

import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from chat_tui.client.live import Client
from chat_tui.model.conversation import BEGINNING
from chat_tui.wording.json_events import OLD_AFTER
from sync.errors import LocalError
from sync.machine import SECOND, ChannelId, Nanos
from sync.view.view import Line, Position

NOW: Final = "now"
PAGE: Final = 500
"""Lines read at a time."""

ID: Final = re.compile(r"[0-9a-f]{8,64}")

HOW: Final = (
    "--since takes now, the id of a message (8 characters of it or more), or a time such as "
    "2026-01-31 or 2026-01-31T09:30, which is local unless it says otherwise."
)


class Since(Struct, frozen=True):
    """A place: behind the message whose id begins with `prefix`, else from `from_ns` on."""

    prefix: str = ""
    from_ns: Nanos = 0

    def leaves_out(self, line: Line) -> bool:
        """Return whether a line that comes was written long before: clocks are apart a little."""
        return line.created_ns < self.from_ns - OLD_AFTER

    async def check(self, client: Client) -> None:
        """Make sure that the place can be found.

        Raises:
            LocalError: no message that is here has the id, or several have.
        """
        if self.prefix:
            await self._line(client, [one.channel for one in client.snapshot().channels])

    async def lines(self, client: Client, channel: ChannelId) -> AsyncIterator[Line]:
        """Yield what the disk has from there on, in the order of each channel.

        Args:
            client: whose disk it is.
            channel: where an id is looked for first.

        Raises:
            LocalError: no message that is here has the id, or several have.
        """
        here = sorted([one.channel for one in client.snapshot().channels], key=channel.__ne__)
        if self.prefix:
            line = await self._line(client, here)
            async for one in _behind(client, line.channel, line.position):
                yield one
            return
        for where in here:
            start = await _before(client, where, self.from_ns)
            async for one in _behind(client, where, start):
                if one.created_ns >= self.from_ns:
                    yield one

    async def _line(self, client: Client, channels: Sequence[ChannelId]) -> Line:
        for channel in channels:
            found = await client.history.named(channel, self.prefix, limit=2)
            if len(found) > 1:
                raise LocalError(f"Several messages begin with {self.prefix}: give more of it.")
            if found:
                return found[0]
        raise LocalError(f"No message here begins with {self.prefix}.")


def parse(text: str, now: Nanos) -> Since:
    """Return the place that an option names.

    Raises:
        LocalError: it names none; says what can be given.
    """
    wanted = text.strip().lower()
    if wanted == NOW:
        return Since(from_ns=now)
    if ID.fullmatch(wanted) and not _is_day(wanted):
        return Since(prefix=wanted)
    try:
        seconds = datetime.fromisoformat(text.strip()).astimezone(UTC).timestamp()
    except (ValueError, OverflowError):  # or it is none of UTC's calendar
        raise LocalError(HOW) from None
    return Since(from_ns=max(0, round(seconds * SECOND)))


def _is_day(text: str) -> bool:
    """Return whether it is a day written without dashes: 20260131."""
    try:
        datetime.strptime(text, "%Y%m%d").astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return True


async def _behind(client: Client, channel: ChannelId, after: Position) -> AsyncIterator[Line]:
    while page := await client.history.page_after(channel, after=after, limit=PAGE):
        for line in page:
            yield line
        after = page[-1].position


async def _before(client: Client, channel: ChannelId, from_ns: Nanos) -> Position:
    """Return a place with nothing behind a whole page of older lines: those of a time on."""
    before: Position | None = None
    while page := await client.history.page(channel, before=before, limit=PAGE):
        before = page[0].position
        if all(line.created_ns < from_ns for line in page):
            return before
    return BEGINNING
