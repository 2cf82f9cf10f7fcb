"""Our channels at the node of the live chat: taken up, entered and let go of; listeners hear of it.

Which channels are ours is on the disk (`chat_tui.client.memberships`); the node only has them.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from storage.sqlite.database import Database
from sync.entries.membership import Membership
from sync.errors import StorageError
from sync.machine import ChannelId
from sync.net.invite import Invite
from sync.view.view import ChannelLeft, ChannelShown, Event

if TYPE_CHECKING:
    from sync.net.node import Node


class NodeChannels:
    """See the module docstring.

    Args:
        node: makes the network's side, if it was not needed before.
        made: returns it, if it was.
        database: has the channels, and keeps the codes by which they are entered.
        tell: passes an event on to the listeners.
    """

    def __init__(
        self,
        node: "Callable[[], Node]",
        made: "Callable[[], Node | None]",
        database: Database,
        tell: Callable[[Event], None],
    ) -> None:
        self._node, self._made = node, made
        self._database = database
        self._tell = tell

    async def begin(
        self, memberships: Iterable[Membership], mend: Callable[[str], Awaitable[None]]
    ) -> None:
        """Take up all channels at the start; `mend` is called if the disk proves to be damaged.

        Raises:
            StorageError: the disk cannot be read.
        """
        for membership in memberships:
            try:
                await self._node().add_channel(membership)
            except StorageError as error:
                if not self._database.is_damaged:
                    raise
                await mend(str(error.__cause__))
                await self._node().add_channel(membership)

    async def take_up(self, membership: Membership) -> None:
        """Take up a channel that is ours from now on."""
        await self.let_go(membership.channel)  # which we had left, and nobody had heard
        await self._node().add_channel(membership)
        self._tell(ChannelShown(membership.channel, membership.name))

    async def leave(self, channel: ChannelId, *, heard: bool) -> None:
        """Show a channel no more; the node has it until somebody there has heard that we left."""
        if heard:
            await self.let_go(channel)
        self._tell(ChannelLeft(channel))

    async def let_go(self, channel: ChannelId) -> None:
        """Have the node know a channel no more."""
        await self._node().remove_channel(channel)

    async def enter(self, membership: Membership, invited: Invite) -> None:
        """Keep the code of a governed channel, and use it if that is taken up; later, if not."""
        from storage.profile.channel_keys import ChannelKeys  # noqa: PLC0415  # a first paint needs no keys
        from sync.net.governance.key_store import ticket_of  # noqa: PLC0415

        ticket = ticket_of(invited)
        await ChannelKeys(self._database).keep_ticket(membership.channel, ticket)
        node = self._made()
        if node is not None:
            node.governing.enter_by(membership, ticket)
