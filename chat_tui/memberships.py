"""Which channels a profile is in: on its disk, by name, by invite code."""

from collections.abc import Callable, Iterator
from typing import Final

from storage.members import Members
from sync.entry import NICK_MAX
from sync.errors import LocalError
from sync.journal import Membership
from sync.machine import ChannelId, Nanos
from sync.net import clock
from sync.net import invite as invites
from sync.sds.message import LAN

SUFFIX_MAX: Final = 4
"""Characters that tell two channels of one name apart, as in `plans-2`."""


class Memberships:
    """The channels of one profile; `wall` tells the time."""

    def __init__(self, members: Members, wall: Callable[[], Nanos]) -> None:
        self._members = members
        self._wall = wall
        self._ours: dict[ChannelId, Membership] = {}

    def __iter__(self) -> Iterator[Membership]:
        """All of them, the one joined first first."""
        return iter(tuple(self._ours.values()))

    def __contains__(self, channel: ChannelId) -> bool:
        """Whether we are in a channel."""
        return channel in self._ours

    def __getitem__(self, channel: ChannelId) -> Membership:
        """Return a channel we are in."""
        return self._ours[channel]

    async def load(self) -> None:
        """Read them from the disk."""
        for membership in await self._members.channels():
            self._ours[membership.channel] = membership

    async def enter(self, name_or_code: str) -> ChannelId:
        """Become a member, if we are not one yet, of the channel of a code or of a name.

        Raises:
            LocalError: neither a name nor a valid code.
        """
        if is_code(name_or_code):
            return await self._remember(invites.decode(name_or_code), is_open=False)
        name = invites.channel_name(name_or_code)
        for membership in self._ours.values():
            if membership.name == name:
                return membership.channel
        return await self._remember(invites.open_channel(name), is_open=True)

    async def found(self, name: str) -> ChannelId:
        """Found a private channel and be its first member.

        Raises:
            LocalError: not a usable name.
        """
        channel = ChannelId(clock.draw(invites.CHANNEL_SIZE).hex())
        secret = clock.draw(invites.SECRET_SIZE)
        founded = invites.Invite(invites.channel_name(name), channel, secret, LAN.name)
        return await self._remember(founded, is_open=False)

    def invite(self, channel: ChannelId) -> str:
        """Return the invite code of a private channel.

        Raises:
            LocalError: the channel is open, so its name is enough.
        """
        membership = self._ours[channel]
        if membership.open:
            raise LocalError(
                f"#{membership.name} is open to everybody on this network; its name is enough."
            )
        name = membership.name
        return invites.encode(invites.Invite(name, channel, membership.secret, membership.profile))

    async def _remember(self, invited: invites.Invite, *, is_open: bool) -> ChannelId:
        """Put a membership on the disk, under a name that no other of ours has."""
        if invited.channel in self._ours:
            return invited.channel
        if any(one.secret == invited.secret for one in self._ours.values()):
            raise LocalError("Another of your channels has the same secret; ask for a new invite.")
        membership = Membership(
            channel=invited.channel,
            name=self._free_name(invited.name),
            secret=invited.secret,
            open=is_open,
            profile=invited.profile,
            joined_ns=self._wall(),
        )
        await self._members.add_channel(membership, clock.draw_log())
        self._ours[membership.channel] = membership
        return membership.channel

    def _free_name(self, wanted: str) -> str:
        """Return `wanted`, with a number behind it if a channel of ours has that name."""
        names = {membership.name for membership in self._ours.values()}
        name, number = wanted, 2
        while name in names:
            name = f"{wanted[: NICK_MAX - SUFFIX_MAX]}-{number}"
            number += 1
        return name


def is_code(text: str) -> bool:
    """Whether `text` is meant as an invite code."""
    return text.strip().lower().startswith(invites.PREFIX)
