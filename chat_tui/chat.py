"""What every face of the chat (screen, line mode, control socket) may ask of the running chat.

`chat_tui.client.Client` is the live one. Reading goes through `sync.view`; these are the acts.
"""

from collections.abc import Callable
from typing import Protocol

from sync.machine import ChannelId, MessageId
from sync.view import Event, History, Inspection, Snapshot


class Chat(Protocol):
    """A running chat: one profile, its channels, its peers."""

    @property
    def history(self) -> History:
        """Messages on disk."""

    @property
    def inspection(self) -> Inspection:
        """What an engineer may ask: frames, a test of the filter, recordings."""

    def snapshot(self) -> Snapshot:
        """Return what is true now; cheap enough for once a second."""

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call `listener` with every event from now on, on the event loop; returns the way out.

        The engine never waits for a listener: it must only take note and return.
        """

    async def write(self, channel: ChannelId, text: str) -> MessageId:
        """Write `text`; returns once it is committed on this disk, before anybody else has it.

        Raises:
            LocalError: empty, too long, or the disk refused it; the sentence says what to do.
        """

    def typing(self, channel: ChannelId) -> None:
        """Take note that the person is typing there: the others see it, unless that is off.

        Cheap enough for every key.
        """

    @property
    def typing_notices(self) -> bool:
        """Whether the others see that the person is typing."""

    async def set_typing_notices(self, *, on: bool) -> None:
        """Let the others see, or not see, that the person is typing; remembered.

        Raises:
            LocalError: the disk refused it.
        """

    async def resend(self, channel: ChannelId, message_id: MessageId) -> None:
        """Send an own message again that is not acknowledged.

        Raises:
            LocalError: it is not ours, or it is acknowledged already.
        """

    async def join(self, name_or_code: str) -> ChannelId:
        """Join the open channel `#name`, or the private one of an invite code.

        Raises:
            LocalError: neither a name nor a valid code.
        """

    async def create(self, name: str) -> ChannelId:
        """Found a private channel called `name`; `invite` gives its code.

        Raises:
            LocalError: not a usable name.
        """

    def invite(self, channel: ChannelId) -> str:
        """Return the invite code of a private channel.

        Raises:
            LocalError: the channel is open, so its name is enough.
        """

    async def connect(self, host: str, port: int) -> None:
        """Dial a peer by address, for networks that block multicast.

        Raises:
            LocalError: nobody answers there.
        """

    async def sync(self, channel: ChannelId) -> int:
        """Reconcile with every peer of the channel now; returns how many there are."""

    async def rename(self, nick: str) -> None:
        """Be called `nick` from now on.

        Raises:
            LocalError: empty or too long.
        """
