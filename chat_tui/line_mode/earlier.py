"""Lines of a history that came at once, of which the newest alone were told as they came."""

from collections.abc import AsyncIterator
from typing import Final

from chat_tui.client.live import Client
from chat_tui.model.conversation import BEGINNING
from sync.view.view import HistoryShown, Line

PAGE: Final = 500
"""Lines read at a time."""


async def lines_before(client: Client, here: HistoryShown) -> AsyncIterator[Line]:
    """Yield the lines of the channel that are older than those that were told, oldest first.

    Raises:
        LocalError: the disk cannot be read.
    """
    after = BEGINNING
    while here.told_from is not None:
        page = await client.history.page_after(here.channel, after=after, limit=PAGE)
        for line in page:
            if line.position >= here.told_from:
                return
            yield line
        if len(page) < PAGE:
            return
        after = page[-1].position
