"""Channels of a profile: on its disk, by name, by invite code."""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from chat_tui.client.node_channels import NodeChannels
from storage.profile.members import Members
from sync.entries.entry import NICK_MAX
from sync.entries.membership import Membership
from sync.errors import LocalError
from sync.machine import ChannelId, Nanos, PeerId
from sync.net import clock
from sync.net import invite as invites
from sync.net.direct import Direct
from sync.sds.parameters import LAN
from sync.view.view import ChannelInfo, Snapshot

LOBBY: Final = "lobby"

CHANNELS_MAX: Final = 500
"""Channels that one may be in, but for those of two: a link has room for the proofs of so many, and
for some that are joined or renewed while it lasts (`sync.net.links.channel_proofs.PROOFS_MAX`)."""

SUFFIX_MAX: Final = 4
"""Characters that tell two channels of one name apart, as in `plans-2`."""


class Memberships:
    """The channels of one profile.

    Args:
        members: where they are kept.
        wall: tells the time.
        node_channels: has the node take them up, and let go of them.
        titled: returns the channel of ours that the screen shows under a title, if one is.
    """

    def __init__(
        self,
        members: Members,
        wall: Callable[[], Nanos],
        node_channels: NodeChannels,
        titled: Callable[[str], ChannelId | None],
    ) -> None:
        self.first: ChannelId | None = None
        """The one that is shown at the start, or the next one once that is left."""
        self._members = members
        self._wall = wall
        self._node_channels = node_channels
        self._titled = titled
        self._ours: dict[ChannelId, Membership] = {}
        self._left: dict[ChannelId, Membership] = {}
        self._leaving: dict[ChannelId, Membership] = {}
        """Governed ones that we have left, which nobody there has heard."""

    def __iter__(self) -> Iterator[Membership]:
        """All of them, the one joined first first."""
        return iter(tuple(self._ours.values()))

    def __contains__(self, channel: ChannelId) -> bool:
        """Return whether we are in a channel."""
        return channel in self._ours

    def __getitem__(self, channel: ChannelId) -> Membership:
        """Return a channel we are in."""
        return self._ours[channel]

    async def load(self) -> None:
        """Read them from the disk."""
        for membership in await self._members.channels():
            self._ours[membership.channel] = membership
        for membership in await self._members.left_channels():
            self._left[membership.channel] = membership
        for membership in await self._members.leaving_channels():
            self._leaving[membership.channel] = membership

    async def choose_first(self, wanted: str | None) -> None:
        """Be in the channel that the start names, or in the lobby if we are in none.

        Raises:
            LocalError: neither a name nor a valid code.
        """
        if wanted:
            self.first = self._titled(wanted) or await self.become_member(wanted)
        elif not self._ours:
            self.first = await self.become_member(LOBBY)
        else:
            self.first = next(iter(self._ours))

    def is_governed(self, channel: ChannelId) -> bool:
        """Return whether we are in a channel with a signed history of who is in."""
        return channel in self._ours and self._ours[channel].governed

    def leaving(self) -> tuple[Membership, ...]:
        """Return the channels we have left whose members have not heard of it."""
        return tuple(self._leaving.values())

    def is_leaving(self, channel: ChannelId) -> bool:
        """Return whether that is one of these."""
        return channel in self._leaving

    async def heard(self, channel: ChannelId) -> None:
        """Let go of a channel that we left, since somebody there has heard of it.

        Not of one that we have joined again meanwhile.
        """
        if self._leaving.pop(channel, None) is not None:
            await self._members.leave_channel(channel, self._wall())
            if channel not in self._ours:
                await self._node_channels.let_go(channel)

    def has_left(self, channel: ChannelId) -> bool:
        """Return whether we were in a channel and left it."""
        return channel in self._left

    async def leave(self, channel: ChannelId, *, heard: bool = True) -> None:
        """Be a member no more; the history stays on the disk.

        Unless the others have `heard` of it, or nobody need, the machines keep it until they have.

        Raises:
            LocalError: it is the only channel.
        """
        self.check_leaving()
        await self._members.leave_channel(channel, self._wall(), heard=heard)
        self._left[channel] = self._ours.pop(channel)
        if not heard:
            self._leaving[channel] = self._left[channel]
        if self.first == channel:
            self.first = next(iter(self._ours))
        await self._node_channels.leave(channel, heard=heard)

    def check_leaving(self) -> None:
        """Check that there is another channel to be in.

        Raises:
            LocalError: there is none.
        """
        if len(self._ours) == 1:
            raise LocalError(
                "This is your only channel: /join another one first, then leave this one."
            )

    def check_room(self) -> None:
        """Check that we may be in one channel more.

        Raises:
            LocalError: we are in too many.
        """
        if sum(one.direct is None for one in self._ours.values()) >= CHANNELS_MAX:
            raise LocalError(
                f"You are in {CHANNELS_MAX} channels, which is as many as there may be: "
                "/leave one first."
            )

    async def take_in(self, founded: Membership) -> None:
        """Be in a channel that we founded; the disk has it already."""
        self._ours[founded.channel] = founded
        await self._node_channels.take_up(founded)

    async def add_direct(self, direct: Direct, peer: PeerId, nick: str) -> None:
        """Be in the channel of two with `peer`, called `nick` here."""
        name = self.free_name(nick, is_direct=True)
        if direct.channel in self._left:
            name = self._left[direct.channel].name
        await self._add(
            Membership(
                channel=direct.channel,
                name=name,
                secret=direct.secret,
                open=False,
                profile=LAN.name,
                joined_ns=self._wall(),
                direct=peer,
            )
        )
        await self._take_up(direct.channel)

    async def join(self, name_or_code: str) -> ChannelId:
        """See `chat_tui.client.chat.Memberships`."""
        return await self.enter(checked_way_in(name_or_code))

    async def enter(self, name_or_code: str) -> ChannelId:
        """Be in the channel of a code, or of a name with or without `#`; as `--channel` takes it.

        Raises:
            LocalError: neither a name nor a valid code.
        """
        titled = self._titled(name_or_code)
        if titled is not None:
            return titled  # what JSON calls it can be said back
        before = {*self._ours}
        channel = await self.become_member(name_or_code)
        if channel not in before:
            await self._take_up(channel)
        return channel

    async def create(self, name: str) -> ChannelId:
        """See `chat_tui.client.chat.Memberships`."""
        channel = await self._found(name)
        await self._take_up(channel)
        return channel

    async def become_member(self, name_or_code: str) -> ChannelId:
        """Be a member, on the disk alone, of the channel of a code or of a name.

        Raises:
            LocalError: neither a name nor a valid code.
        """
        if is_code(name_or_code):
            return await self._remember(invites.decode(name_or_code), is_open=False)
        name = invites.channel_name(name_or_code)
        for membership in self._ours.values():
            if membership.name == name and membership.direct is None:
                return membership.channel
        for membership in list(self._left.values()):
            if membership.name == name and membership.direct is None:
                return await self._add(membership)
        return await self._remember(invites.open_channel(name), is_open=True)

    async def _found(self, name: str) -> ChannelId:
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
        if membership.governed:
            raise LocalError("Codes of a governed channel are made in it: enter /invite there.")
        if membership.direct is not None:
            raise LocalError("This is a channel for two people; nobody else can be invited.")
        if membership.open:
            raise LocalError(
                f"#{membership.name} is open to everybody on this network; its name is enough."
            )
        name = membership.name
        return invites.encode(invites.Invite(name, channel, membership.secret, membership.profile))

    async def _remember(self, invited: invites.Invite, *, is_open: bool) -> ChannelId:
        """Put a membership on the disk, under a name that no other of ours has."""
        if invited.channel in self._ours:
            if invited.entry is not None:
                await self._node_channels.enter(self._ours[invited.channel], invited)
            return invited.channel
        if any(one.secret == invited.secret for one in self._ours.values()):
            raise LocalError(
                "Another of your channels has the same secret; ask for a new invite code."
            )
        channel = await self._add(
            Membership(
                channel=invited.channel,
                name=self.free_name(invited.name),
                secret=invited.secret,
                open=is_open,
                profile=invited.profile,
                joined_ns=self._wall(),
                genesis=None if invited.entry is None else invited.entry.genesis,
            )
        )
        if invited.entry is not None:
            await self._node_channels.enter(self._ours[channel], invited)
        return channel

    async def _add(self, membership: Membership) -> ChannelId:
        """Be a member, on the disk first."""
        if membership.direct is None:
            self.check_room()
        await self._members.add_channel(membership, clock.draw_log())
        self._left.pop(membership.channel, None)
        self._leaving.pop(membership.channel, None)
        self._ours[membership.channel] = membership
        return membership.channel

    async def _take_up(self, channel: ChannelId) -> None:
        await self._node_channels.take_up(self._ours[channel])

    def free_name(self, wanted: str, *, is_direct: bool = False) -> str:
        """Return `wanted`, with a number behind it if a channel of ours has that name."""
        names = {one.name for one in self._ours.values() if (one.direct is not None) == is_direct}
        name, number = wanted, 2
        while name in names:
            name = f"{wanted[: NICK_MAX - SUFFIX_MAX]}-{number}"
            number += 1
        return name

    def dress(self, snapshot: Snapshot) -> Snapshot:
        """Return `snapshot` with our channels alone, those too that the node has not taken up."""
        present = {info.channel for info in snapshot.channels}
        waiting = tuple(
            [
                ChannelInfo(
                    one.channel, one.name, one.open, one.profile, messages=0, direct=one.direct
                )
                for one in self
                if one.channel not in present
            ]
        )
        ours = [info for info in snapshot.channels if info.channel in self]
        return replace(snapshot, channels=(*ours, *waiting))


def is_code(text: str) -> bool:
    """Return whether `text` is meant as an invite code."""
    return invites.is_code(text)


def name_in(way_in: str) -> str:
    """Return the name of the channel that #name or an invite code leads to, as others have it.

    Raises:
        LocalError: it is neither, or damaged.
    """
    return invites.decode(way_in).name if is_code(way_in) else invites.channel_name(way_in)


def checked_way_in(text: str) -> str:
    """Return `text` if it is a channel as #name, or a whole invite code.

    Any other word may be a mistyped code, and must not open a channel that everybody can read.

    Raises:
        LocalError: it is neither, or damaged.
    """
    text = text.strip()
    if is_code(text):
        invites.decode(text)
    elif text.startswith("#"):
        invites.channel_name(text)
    else:
        raise LocalError(
            f"Cannot join {text!r}: write an open channel as #name, "
            f"or paste a whole invite code, which begins with {invites.PREFIX}."
        )
    return text
