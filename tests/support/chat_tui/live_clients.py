"""Live clients without screens, and what they tell."""

import asyncio

from chat_tui.client.live import Client
from sync.machine import ChannelId
from sync.sds.message import Delivery
from sync.view.view import DeliveryShown, Event, MessageShown, PeerShown, PeerState, SyncShown
from tests.support.patience import PATIENCE_S


class Heard:
    """Everything a client told, and a way to wait for more."""

    def __init__(self, client: Client) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Condition()
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        client.subscribe(self._note)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        task = self._loop.create_task(self._wake())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def texts(self, count: int) -> list[str]:
        def shown() -> list[str]:
            return [event.line.text for event in self.events if isinstance(event, MessageShown)]

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: len(shown()) >= count)
        return shown()

    async def delivery(self, message_id: str, state: Delivery) -> None:
        def reached() -> bool:
            return any(
                isinstance(event, DeliveryShown)
                and event.message_id == message_id
                and event.delivery is state
                for event in self.events
            )

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(reached)

    async def peer(self, state: PeerState) -> PeerShown:
        def found() -> list[PeerShown]:
            return [
                event
                for event in self.events
                if isinstance(event, PeerShown) and event.state is state
            ]

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: bool(found()))
        return found()[-1]

    async def session(self, whys: set[str], *, put_off: bool = True) -> SyncShown:
        """Wait for a session of one of these reasons to end; not for one that is tried again."""

        def ended() -> list[SyncShown]:
            return [
                event
                for event in self.events
                if isinstance(event, SyncShown)
                and event.why in whys
                and (put_off or not event.result.startswith("put off"))
            ]

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: bool(ended()))
        return ended()[-1]


def lobby(client: Client) -> ChannelId:
    assert client.first_channel is not None
    return client.first_channel
