"""A simulated participant behind `chat_tui.chat.Chat`: the real screens over a pretend network."""

from collections.abc import Callable, Sequence
from typing import Final, Never

from sync.errors import LocalError
from sync.group.values import SendAgain, Written
from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos
from sync.runner import Release, Runner
from sync.show import text_of
from sync.sim.view import SimulatedView
from sync.sim.world import World
from sync.view import Event, History, Inspection, Snapshot

COMMITTED_WITHIN: Final[Nanos] = SECOND
"""Time of the world that a line may take to its disk, hundreds of times what a commit takes."""

STEP: Final[Nanos] = MILLISECOND


class SimulatedChat:
    """Participant `number` of `world`; `names` are everybody's, in the order of the numbers."""

    def __init__(self, world: World, number: int, names: Sequence[str]) -> None:
        self._world, self._number = world, number
        self._view = SimulatedView(world, number, names)
        self.typing_notices = True
        """See `chat_tui.chat.Chat`."""

    @property
    def history(self) -> History:
        """See `chat_tui.chat.Chat`."""
        return self._view.history

    @property
    def inspection(self) -> Inspection:
        """See `chat_tui.chat.Chat`."""
        return self._view.inspection

    def snapshot(self) -> Snapshot:
        """See `chat_tui.chat.Chat`."""
        return self._view.snapshot()

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """See `chat_tui.chat.Chat`."""
        return self._view.subscribe(listener)

    async def write(self, channel: ChannelId, text: str) -> MessageId:
        """Write `text`, and let the world's time pass until it is committed.

        Raises:
            LocalError: empty, too long, another channel, or the simulated disk refused it.
        """
        self._runner(channel)
        written: list[MessageId] = []

        def note(number: int, release: Release) -> None:
            if number == self._number and isinstance(release.effect, Written):
                written.append(release.effect.message_id)

        self._world.listeners.append(note)
        try:
            self._world.write(self._number, text)
            deadline = self._world.now + COMMITTED_WITHIN
            while not written and self._world.now < deadline:
                self._world.run(STEP)
        finally:
            self._world.listeners.remove(note)
        if not written:
            raise LocalError("The simulated disk refused it: free its space, then write it again.")
        return written[0]

    def typing(self, channel: ChannelId) -> None:
        """See `chat_tui.chat.Chat`."""
        if self.typing_notices and channel == self._world.channel:
            self._world.tell_typing(self._number)

    async def set_typing_notices(self, *, on: bool) -> None:
        """See `chat_tui.chat.Chat`."""
        self.typing_notices = on

    async def resend(self, channel: ChannelId, message_id: MessageId) -> None:
        """Send an own message again, at the participant's next turn.

        Raises:
            LocalError: it does not wait for anything.
        """
        runner = self._runner(channel)
        node = self._world.nodes[self._number]
        if message_id in runner.groups[channel].parked.of(node.identity.peer_id):
            await self.write(channel, text_of(node.disk.load(message_id).entry).text)
            return
        if message_id not in runner.groups[channel].sds.outgoing.pending:
            raise LocalError("That message is not waiting: it was received, or is not yours.")
        runner.feed(channel, SendAgain(message_id))

    async def sync(self, channel: ChannelId) -> int:
        """Reconcile with every peer, beginning at the participant's next turn."""
        runner = self._runner(channel)
        peers = sorted(runner.groups[channel].peers)
        for peer in peers:
            runner.ask_sync(channel, peer, self.snapshot().now)
        return len(peers)

    async def join(self, name_or_code: str) -> ChannelId:
        """See `chat_tui.chat.Chat`; refused here."""
        self._refuse(f"{name_or_code} cannot be joined")

    async def create(self, name: str) -> ChannelId:
        """See `chat_tui.chat.Chat`; refused here."""
        self._refuse(f"{name} cannot be founded")

    def invite(self, channel: ChannelId) -> str:
        """See `chat_tui.chat.Chat`; refused here."""
        del channel
        self._refuse("nobody can be invited")

    async def connect(self, host: str, port: int) -> None:
        """See `chat_tui.chat.Chat`; refused here."""
        self._refuse(f"{host}, port {port}, cannot be dialled")

    async def rename(self, nick: str) -> None:
        """See `chat_tui.chat.Chat`; refused here."""
        self._refuse(f"nobody can become {nick}")

    def _runner(self, channel: ChannelId) -> Runner:
        runner = self._world.nodes[self._number].runner
        if runner is None or channel != self._world.channel:
            raise LocalError("This participant of the simulation is not in that channel now.")
        return runner

    def _refuse(self, what: str) -> Never:
        raise LocalError(f"This is a simulation: {what}. `make chat` starts the real chat.")
