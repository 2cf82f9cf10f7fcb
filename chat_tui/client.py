"""The live chat: one profile's disk and one node on the network, behind `chat_tui.chat.Chat`.

`Client.open` needs only the disk, so history can be painted at once; `run` is the network.
"""

import asyncio
import getpass
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from storage.database import Database
from storage.history import SqliteHistory
from storage.journal import SqliteJournal
from storage.members import Members
from storage.profile import Profile
from sync.entry import NICK_MAX, Kind, Text, encode_text
from sync.errors import ChatError, LocalError
from sync.identity import Identity
from sync.journal import Membership
from sync.machine import ChannelId, MessageId
from sync.net import clock
from sync.net import invite as invites
from sync.net.node import Node, Options
from sync.net.trace import Trace
from sync.sds.message import LAN
from sync.view import (
    ChannelInfo,
    ChannelShown,
    Event,
    History,
    Inspection,
    PeerShown,
    PeerState,
    Snapshot,
)

LOBBY: Final = "lobby"
KNOWN_PEERS_DIALLED: Final = 64
"""Addresses of earlier peers dialled at a start, for networks where mDNS says nothing."""

GOODBYE: Final = 2.0
"""Seconds that leaving may take to get the last lines out."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the command line, or the first run's questions, decided."""

    data_dir: Path
    profile: str = "default"
    nick: str | None = None
    channel: str | None = None
    invite: str | None = None
    trace: Path | None = None
    network: Options = field(default_factory=Options)

    @property
    def exists(self) -> bool:
        """Whether the profile has been used before."""
        return (self.data_dir / self.profile / "identity").exists()


class Client:
    """See the module docstring."""

    def __init__(self, profile: Profile, database: Database, setup: Setup) -> None:
        keys = profile.keys
        self.identity = Identity.from_seed(keys.signing_seed, keys.noise_seed)
        me = self.identity.peer_id
        self.profile = profile
        self.first_channel: ChannelId | None = None
        self._setup = setup
        self._database = database
        self._journal = SqliteJournal(database, me)
        self._history = SqliteHistory(database, me)
        self._members = Members(database)
        self._memberships: dict[ChannelId, Membership] = {}
        self._listeners: list[Callable[[Event], None]] = []
        self._peers_seen: asyncio.Queue[PeerShown] = asyncio.Queue(1024)
        self.nick = setup.nick or profile.settings.nick or default_nick()
        network = replace(setup.network, port=setup.network.port or profile.settings.port)
        self._node = Node(self.identity, self._journal, network, self._on_event, Trace(setup.trace))
        self._node.nick = self._node.mesh.nick = self.nick

    @classmethod
    async def open(cls, setup: Setup) -> Self:
        """Open the profile and its history; nothing touches the network yet.

        Raises:
            LocalError: the profile is in use, unreadable or damaged; says what to do.
        """
        if setup.nick is not None:
            checked_nick(setup.nick)
        profile = Profile.open(setup.data_dir, setup.profile, clock.draw)
        try:
            database = await Database.open(profile.database)
            try:
                client = cls(profile, database, setup)
                await client._load_channels()
            except BaseException:
                await database.close()
                raise
        except BaseException:
            profile.close()
            raise
        if client.nick != profile.settings.nick:
            profile.save(replace(profile.settings, nick=client.nick))
        return client

    async def _load_channels(self) -> None:
        """Know our channels; the first time, join the lobby, or what the invite says."""
        for membership in await self._members.channels():
            self._memberships[membership.channel] = membership
        wanted = self._setup.invite or self._setup.channel
        if wanted:
            self.first_channel = await self._enter(wanted)
        elif not self._memberships:
            self.first_channel = await self._enter(LOBBY)
        else:
            self.first_channel = next(iter(self._memberships))

    # --- Running -------------------------------------------------------------------------------

    async def run(self, ready: asyncio.Event) -> None:
        """Be on the network until cancelled; `ready` is set once others can reach us.

        Raises:
            LocalError: the named interface or every port is unusable; says what to do.
        """
        known = [
            (peer.host, peer.port)
            for peer in await self._members.known_peers()
            if peer.host is not None and peer.port is not None
        ]
        self._node.know(tuple(known[-KNOWN_PEERS_DIALLED:]))
        for membership in self._memberships.values():
            await self._node.add_channel(membership)
        with plain_errors():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._remember_peers())
                tasks.create_task(self._remember_port(ready))
                await self._node.run(ready)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be on the network inside the `with` block.

        Raises:
            LocalError: as `run`.
        """
        ready = asyncio.Event()
        with plain_errors():
            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(self.run(ready))
                waiting = tasks.create_task(ready.wait())
                try:
                    await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
                    if running.done():
                        running.result()
                    yield
                finally:
                    running.cancel()
                    waiting.cancel()

    async def _remember_port(self, ready: asyncio.Event) -> None:
        await ready.wait()
        port = self._node.mesh.port
        if port is not None and port != self.profile.settings.port:
            self.profile.save(replace(self.profile.settings, port=port))

    async def _remember_peers(self) -> None:
        """Keep where peers answered, for the next start."""
        while True:
            shown = await self._peers_seen.get()
            address = self._node.dialable(shown.peer)
            with suppress(ChatError):  # the disk is full: the commits say so loudly enough
                await self._members.remember_peer(
                    shown.peer, nick=shown.nick, address=address, now=self._node.clock.wall()
                )

    async def flush(self) -> None:
        """Wait, 2 s at most, until what was written is out with somebody, if anybody is there."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await self._node.drained()

    async def problems(self) -> list[str]:
        """Return what a check of the database finds wrong."""
        return await self._database.problems()

    async def close(self) -> None:
        """Close the disk; call it after `run` has ended."""
        await self._database.close()
        self.profile.close()

    # --- Chat ----------------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """See `chat_tui.chat.Chat`."""
        return self._history

    @property
    def inspection(self) -> Inspection:
        """See `chat_tui.chat.Chat`."""
        return self._node.inspection

    def snapshot(self) -> Snapshot:
        """See `chat_tui.chat.Chat`; before `run` it has the channels alone."""
        snapshot = self._node.snapshot()
        present = {info.channel for info in snapshot.channels}
        waiting = tuple(
            [
                ChannelInfo(one.channel, one.name, one.open, one.profile, messages=0)
                for one in self._memberships.values()
                if one.channel not in present
            ]
        )
        return replace(snapshot, channels=snapshot.channels + waiting)

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """See `chat_tui.chat.Chat`."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def write(self, channel: ChannelId, text: str) -> MessageId:
        """See `chat_tui.chat.Chat`."""
        return await self._node.write(channel, Kind.TEXT, encode_text(Text(self.nick, text)))

    def typing(self, channel: ChannelId) -> None:
        """See `chat_tui.chat.Chat`."""
        if self.typing_notices:
            self._node.tell_typing(channel)

    @property
    def typing_notices(self) -> bool:
        """See `chat_tui.chat.Chat`."""
        return self.profile.settings.typing_notices

    async def set_typing_notices(self, *, on: bool) -> None:
        """See `chat_tui.chat.Chat`."""
        self.profile.save(replace(self.profile.settings, typing_notices=on))

    async def resend(self, channel: ChannelId, message_id: MessageId) -> None:
        """See `chat_tui.chat.Chat`."""
        if self._node.is_set_aside(channel, message_id):
            await self._node.write_anew(channel, message_id)
        else:
            self._node.send_again(channel, message_id)

    async def join(self, name_or_code: str) -> ChannelId:
        """See `chat_tui.chat.Chat`."""
        text = name_or_code.strip()
        if not text.startswith("#") and not text.lower().startswith(invites.PREFIX):
            raise LocalError(
                f"{text!r} is neither: an open channel is written #name, and an invite code begins "
                f"with {invites.PREFIX} and is copied whole."
            )
        return await self.enter(text)

    async def enter(self, name_or_code: str) -> ChannelId:
        """Be in the channel of a code, or of a name with or without `#`; as `--channel` takes it.

        Raises:
            LocalError: neither a name nor a valid code.
        """
        before = set(self._memberships)
        channel = await self._enter(name_or_code)
        if channel not in before:
            await self._take_up(self._memberships[channel])
        return channel

    async def create(self, name: str) -> ChannelId:
        """See `chat_tui.chat.Chat`."""
        channel = ChannelId(clock.draw(invites.CHANNEL_SIZE).hex())
        secret = clock.draw(invites.SECRET_SIZE)
        founded = invites.Invite(invites.channel_name(name), channel, secret, LAN.name)
        await self._remember(founded, is_open=False)
        await self._take_up(self._memberships[channel])
        return channel

    def invite(self, channel: ChannelId) -> str:
        """See `chat_tui.chat.Chat`."""
        membership = self._memberships[channel]
        if membership.open:
            raise LocalError(
                f"#{membership.name} is open to everybody on this network; its name is enough."
            )
        name = membership.name
        return invites.encode(invites.Invite(name, channel, membership.secret, membership.profile))

    async def connect(self, host: str, port: int) -> None:
        """See `chat_tui.chat.Chat`."""
        await self._node.mesh.connect(host, port)

    async def rename(self, nick: str) -> None:
        """See `chat_tui.chat.Chat`."""
        self.nick = self._node.nick = checked_nick(nick)
        self._node.mesh.rename(nick)
        self.profile.save(replace(self.profile.settings, nick=nick))

    async def sync(self, channel: ChannelId) -> int:
        """See `chat_tui.chat.Chat`."""
        info = next(one for one in self.snapshot().channels if one.channel == channel)
        for peer in info.peers:
            self._node.ask_sync(channel, peer)
        return len(info.peers)

    # --- Channels ------------------------------------------------------------------------------

    async def _enter(self, name_or_code: str) -> ChannelId:
        """Become a member, if we are not one yet."""
        if name_or_code.strip().lower().startswith(invites.PREFIX):
            invited = invites.decode(name_or_code)
            return await self._remember(invited, is_open=False)
        name = invites.channel_name(name_or_code)
        for membership in self._memberships.values():
            if membership.name == name:
                return membership.channel
        return await self._remember(invites.open_channel(name), is_open=True)

    async def _remember(self, invited: invites.Invite, *, is_open: bool) -> ChannelId:
        """Put a membership on the disk, under a name that no other of ours has."""
        if invited.channel in self._memberships:
            return invited.channel
        if any(one.secret == invited.secret for one in self._memberships.values()):
            raise LocalError("Another of your channels has the same secret; ask for a new invite.")
        names = {membership.name for membership in self._memberships.values()}
        name = invited.name
        number = 2
        while name in names:
            name = f"{invited.name[: NICK_MAX - 4]}-{number}"
            number += 1
        membership = Membership(
            channel=invited.channel,
            name=name,
            secret=invited.secret,
            open=is_open,
            profile=invited.profile,
            joined_ns=self._node.clock.wall(),
        )
        await self._members.add_channel(membership, clock.draw_log())
        self._memberships[membership.channel] = membership
        return membership.channel

    async def _take_up(self, membership: Membership) -> None:
        await self._node.add_channel(membership)
        self._on_event(ChannelShown(membership.channel, membership.name))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, PeerShown) and event.state is PeerState.UP:
            with suppress(asyncio.QueueFull):
                self._peers_seen.put_nowait(event)
        for listener in list(self._listeners):
            listener(event)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise the one error of ours out of a group of them."""
    try:
        yield
    except BaseExceptionGroup as group:
        ours, others = group.split(ChatError)
        if ours is None or others is not None:
            raise
        error: BaseException = ours
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def checked_nick(nick: str) -> str:
    """Return `nick` if it can be one.

    Raises:
        LocalError: empty, too long, or not printable.
    """
    if not 0 < len(nick.strip()) <= NICK_MAX or not nick.isprintable():
        raise LocalError(f"A name has 1 to {NICK_MAX} printable characters.")
    return nick


def default_nick() -> str:
    """Return the name of this computer's user."""
    try:
        return getpass.getuser()[:NICK_MAX] or "somebody"
    except (OSError, KeyError):
        return "somebody"
