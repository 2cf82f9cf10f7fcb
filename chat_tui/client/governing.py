"""Acts in governed channels: on the network's side, and on the list of our channels."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from chat_tui.client.memberships import Memberships, is_code
from sync.errors import LocalError
from sync.machine import ChannelId, PeerId
from sync.net import invite as invites
from sync.view.governance_infos import Access, Role

if TYPE_CHECKING:
    from sync.net.governance.governing import GroupDriver
    from sync.net.node import Node

NO_CODE: Final = f"That is no invite code; one begins with {invites.PREFIX} and comes from /invite."
GOVERNED_ALREADY: Final = "This channel is governed already; /members shows who is in."
OF_TWO: Final = "This is a channel for two people; nobody governs it."
UNTOLD: Final = "nothing could tell them so: give them a code from /invite."
OPEN: Final = "is open to everybody on this network; nobody can govern it."


class Governing:
    """See `chat_tui.client.chat.Governing`.

    Args:
        memberships: our channels.
        node: makes the network's side, if it was not needed before.
        post: writes a line.
        open_direct: opens the channel of two with somebody.
    """

    def __init__(
        self,
        memberships: Memberships,
        *,
        node: Callable[[], "Node"],
        post: Callable[[ChannelId, str], Awaitable[object]],
        open_direct: Callable[[PeerId], Awaitable[ChannelId]],
    ) -> None:
        self._memberships = memberships
        self._node = node
        self._post = post
        self._open_direct = open_direct

    @property
    def _driver(self) -> "GroupDriver":
        return self._node().governing

    async def found(self, name: str) -> ChannelId:
        """See `chat_tui.client.chat.Governing`."""
        return await self._found(name, None)

    async def _found(self, name: str, predecessor: ChannelId | None) -> ChannelId:
        self._memberships.check_room()
        called = self._memberships.free_name(invites.channel_name(name))
        founded = await self._driver.found(name, predecessor, called=called)
        await self._memberships.take_in(founded)
        await self._driver.taken_up(founded.channel)  # whoever looks next finds us in it
        return founded.channel

    async def govern(self, channel: ChannelId) -> ChannelId:
        """See `chat_tui.client.chat.Governing`."""
        before = self._memberships[channel]
        if before.governed:
            raise LocalError(GOVERNED_ALREADY)
        if before.direct is not None:
            raise LocalError(OF_TWO)
        if before.open:
            raise LocalError(f"#{before.name} {OPEN}")
        successor = await self._found(before.name, channel)
        code = await self.invite(successor)
        await self._post(channel, _succession(before.name, code))
        return successor

    async def join(self, code: str) -> ChannelId:
        """See `chat_tui.client.chat.Governing`."""
        if not is_code(code):
            raise LocalError(NO_CODE)
        return await self._memberships.join(code)

    async def invite(self, channel: ChannelId, role: Role = Role.MEMBER) -> str:
        """See `chat_tui.client.chat.Governing`."""
        return await self._driver.invite(channel, role)

    async def end_invites(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Governing`."""
        await self._driver.end_invites(channel)

    async def add(self, channel: ChannelId, peer: PeerId, role: Role = Role.MEMBER) -> None:
        """See `chat_tui.client.chat.Governing`."""
        if await self._driver.add(channel, peer, role):
            return
        code = await self.invite(channel)
        try:
            direct = await self._open_direct(peer)
            await self._post(direct, _welcome(self._memberships[channel].name, code))
        except LocalError as error:
            raise LocalError(f"They are in, but {UNTOLD} ({error})") from error

    async def remove(self, channel: ChannelId, peers: Sequence[PeerId], reason: str = "") -> None:
        """See `chat_tui.client.chat.Governing`."""
        await self._driver.remove(channel, peers, reason)

    async def set_role(self, channel: ChannelId, peer: PeerId, role: Role) -> None:
        """See `chat_tui.client.chat.Governing`."""
        await self._driver.set_role(channel, peer, role)

    async def set_policy(self, channel: ChannelId, **fields: Access) -> None:
        """See `chat_tui.client.chat.Governing`."""
        await self._driver.set_policy(channel, **fields)

    async def rotate(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Governing`."""
        await self._driver.rotate(channel)

    async def leave(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Governing`."""
        self._memberships.check_leaving()
        heard = await self._driver.leave(channel)
        await self._memberships.leave(channel, heard=heard)


def _welcome(name: str, code: str) -> str:
    """Return the line by which somebody who was let in learns of the channel."""
    return f"You are in #{name} now. Enter it with: {code}"


def _succession(name: str, code: str) -> str:
    """Return the line that is posted in a channel when a successor of it is founded."""
    return f"#{name} goes on as a governed channel. Enter it with: {code}"
