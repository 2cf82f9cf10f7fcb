"""Live chats in which messages are edited, deleted and reacted to."""

import asyncio
from collections.abc import Callable

from chat_tui.client.live import Client
from sync.view.view import Event, MessageShown
from tests.support.patience import PATIENCE_S


class Heard:
    """Collects the events of a client, and can wait for one."""

    def __init__(self, client: Client) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Event()
        client.subscribe(self._note)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    async def until(self, told: Callable[[Event], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not any(told(event) for event in self.events):
                self._changed.clear()
                await self._changed.wait()


def shows(text: str) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, MessageShown) and event.line.text == text
