"""The live `Chat`: one profile's disk and one node on the network.

`Client.open` needs only the disk, so history can be painted at once; `run` is the network. Its
imports take as long as all the rest, so the node is made when it is needed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec.structs import replace

from chat_tui.client.author_sizes import AuthorSizes
from chat_tui.client.chat import Progress, unheard
from chat_tui.client.exception_groups import plain_errors
from chat_tui.client.governing import Governing
from chat_tui.client.memberships import Memberships
from chat_tui.client.node_channels import NodeChannels
from chat_tui.client.node_events import NodeEvents
from chat_tui.client.people import People
from chat_tui.client.read_marks import dressed, dressed_channel
from chat_tui.client.setup import Setup, default_nick
from chat_tui.client.stating import Stating
from chat_tui.client.writing import Writing
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import (
    CLOCK,
    COLOUR,
    NAME,
    READ_MARKS,
    STATUS,
    TYPING_NOTICES,
    Setting,
    checked_nick,
)
from chat_tui.wording.sentences import channel_title, name_of
from storage.profile.members import Members
from storage.profile.profile import Profile, Settings
from storage.sqlite.database import Database
from storage.sqlite.history import SqliteHistory
from sync.entries.identity import Identity
from sync.errors import LocalError
from sync.group.clock_policy import Policy
from sync.group.state_values import Content, StateKind
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.net import clock
from sync.net.options import NOT_YET
from sync.view.state_infos import StateInfo
from sync.view.view import (
    DiscardedShown,
    Event,
    History,
    Inspection,
    Level,
    Notice,
    Snapshot,
)

if TYPE_CHECKING:
    from chat_tui.client.doctor.findings import Finding
    from chat_tui.client.protocol_log_writer import LogKeeper
    from sync.net.engine.own_inputs import Outcome
    from sync.net.node import Node

KNOWN_PEERS_DIALLED: Final = 64
"""Addresses of earlier peers dialled at a start, for networks where mDNS says nothing."""

GOODBYE: Final = 2.0
"""Seconds that leaving may take to get the last lines out."""

ONLY_THEY_BEGIN: Final = (
    "That program accepts no connections, so only it can begin to reconcile; it does so by itself."
)


class Client:
    """See the module docstring."""

    def __init__(self, profile: Profile, database: Database, setup: Setup) -> None:
        keys = profile.keys
        self.identity = Identity.from_seed(keys.signing_seed, keys.noise_seed)
        me = self.identity.peer_id
        self.profile = profile
        self._setup = setup
        self._database = database
        self._history = SqliteHistory(database, me, self._known_as)
        self._members = Members(database)
        self._listeners: list[Callable[[Event], None]] = []
        self.settings = Preferences.of_profile(profile.directory, setup.wishes)
        """See `chat_tui.client.chat.Chat`."""
        if profile.problem:
            self.settings.problems.append(profile.problem)
        known = self.settings[NAME] or _usable(profile.settings.nick)
        self.nick = setup.nick or known or default_nick()
        self._clock = clock.Clock()
        self._made: Node | None = None
        self._keeper: LogKeeper | None = None
        self._channels = NodeChannels(self.make_node, lambda: self._made, database, self._tell)
        self.memberships = Memberships(
            self._members, self._clock.wall, self._channels, self._titled
        )
        self.people = People(
            self.identity,
            self._clock,
            database,
            self.memberships,
            node=self.make_node,
            tell=self._tell,
            called=self._nick_of,
        )
        self._writing = Writing(
            self.memberships, self.people, self._history, self.make_node, self.snapshot
        )
        self.governing = Governing(
            self.memberships,
            node=self.make_node,
            post=self._writing.send_text,
            open_direct=self.people.open_direct,
        )
        self.stating = Stating(
            self._set_state,
            self._with_marks,
            self.settings,
            self._tell_of_marks,
            noticed=profile.settings.told_of_read_marks,
        )
        self._events = NodeEvents(
            self.memberships, self.people, self._tell, self._nick_of, self._known_as, me
        )
        self._sizes = AuthorSizes(me, database, self.settings, self.people.book, self._tell)

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
                client._take_over()
                if setup.trace is not None:
                    client.make_node()
            except BaseException:
                await database.close()
                raise
        except BaseException:
            profile.close()
            raise
        if client.nick != profile.settings.nick:
            client._remember(replace(profile.settings, nick=client.nick))
        return client

    async def _load_channels(self) -> None:
        """Know our channels; the first time, join the lobby, or what the invite says."""
        await self.memberships.load()
        await self.people.load()
        await self.memberships.choose_first(self._setup.invite or self._setup.channel)

    def _take_over(self) -> None:
        """Put what profiles of before remembered as state where settings are kept now."""
        if not self.profile.settings.typing_notices:
            self.settings.change(TYPING_NOTICES, False)  # noqa: FBT003  the value itself
            self._remember(replace(self.profile.settings, typing_notices=True))

    # --- Running -------------------------------------------------------------------------------

    def make_node(self) -> "Node":
        """Return the network's side, made now if it was not needed before.

        Raises:
            LocalError: the trace cannot be written.
        """
        if self._made is None:
            from chat_tui.client.node import node_of
            from chat_tui.client.protocol_log_writer import (
                LogKeeper,  # a first paint needs none of it
            )

            options = replace(
                self._setup.network,
                port=self._setup.network.port or self.profile.settings.port,
                clock=self._clock_policy(),
            )
            node = node_of(
                self.identity,
                self._database,
                options,
                self._events.pass_on,
                self._setup.trace,
                self._clock,
            )
            node.nick = node.mesh.channels.nick = self.nick
            node.met_as = self._known_as
            node.governing.on_heard = self._on_heard
            self.people.hear(node)
            self._keeper = LogKeeper(self.profile.directory, self.settings, clock.draw, self._tell)
            self._keeper.keep(node.logbook)
            self._made = node
            self.settings.subscribe(self._follow_settings)
        return self._made

    def _clock_policy(self) -> Policy:
        """Return who answers when it is asked whose clock is right."""
        asks = Policy.ASK if self._setup.attended else Policy.NOBODY
        return {"follow": Policy.FOLLOW, "stay": Policy.STAY}.get(self.settings[CLOCK], asks)

    def _follow_settings(self, setting: Setting[Any]) -> None:
        if setting is CLOCK:
            self._node.clocks.tell_policy(self._clock_policy())
        elif setting in (READ_MARKS, STATUS, COLOUR):
            self.stating.look_again()

    @property
    def _node(self) -> "Node":
        return self.make_node()

    @property
    def gone(self) -> tuple[str, ...]:
        """A sentence about the history if somebody took it away; the next start knows no more."""
        from chat_tui.client.disk_watch import GONE  # a first paint needs none of it

        return (GONE,) if self.profile.is_old and self._database.is_new else ()

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
        # A first paint needs none of these.
        from chat_tui.client.disk_watch import DiskWatch
        from chat_tui.client.quiet_collections import QuietCollections

        disk_watch = DiskWatch(self._database, self._tell, self._begin_anew)
        for sentence in self.gone:
            self._tell(Notice(sentence, Level.ERROR))
        channels = (*self.memberships, *self.memberships.leaving())
        await self._channels.begin(channels, disk_watch.mend)
        with plain_errors():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.people.save_forever())
                tasks.create_task(self.people.note_seen_forever())
                tasks.create_task(self._sizes.look_forever())
                tasks.create_task(self._remember_port(ready))
                tasks.create_task(disk_watch.watch_forever())
                tasks.create_task(QuietCollections().look_forever())
                tasks.create_task(self.stating.keep_forever())
                tasks.create_task(self._events.load(self._database))
                if self._keeper is not None:
                    tasks.create_task(self._keeper.write_forever())
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
            self._remember(replace(self.profile.settings, port=port))

    def _remember(self, settings: Settings) -> None:
        """Keep for the next start what is only convenient; not where the disk refuses."""
        with suppress(LocalError):
            self.profile.save(settings)

    async def mend(self) -> frozenset[str]:
        """Make the indexes anew, and all else that follows from the messages.

        Returns:
            The tables that could not be read to the end.

        Raises:
            StorageError: that does not help, or the disk refused.
        """
        lost = await self._database.mend()
        if self._made is not None:
            self._begin_anew()
        return lost

    async def set_aside(self, places: Sequence[tuple[bytes, bytes]]) -> None:
        """See to messages that were found damaged: (channel, id) each, as they are stored.

        The machines of an open chat set them aside; without any it is done here.

        Raises:
            StorageError: the disk refused.
        """
        if self._made is not None:
            self._database.damage.note_damaged(places)
            return
        from chat_tui.client.doctor.closed_profile import set_aside

        await set_aside(self._database, self.identity.peer_id, places)

    def _begin_anew(self) -> None:
        """The history was mended: machines and screens take it up from the disk once more."""
        self._node.begin_anew()
        for membership in self.memberships:
            self._tell(DiscardedShown(membership.channel, ()))

    async def room(self) -> None:
        """Return when peers take what is sent; who writes very many lines awaits this before each.

        Nobody who reads slowly keeps us for longer than some seconds.
        """
        await self._node.room()

    async def flush(self) -> None:
        """Wait, 2 s at most, until what was written is out with somebody, if anybody is there."""
        if self._made is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE):
                await self._node.drained()

    async def close(self) -> None:
        """Close the disk; call it after `run` has ended."""
        if self._keeper is not None:
            await self._keeper.close()
        await self.people.save_parting()
        await self._database.close()
        self.profile.close()

    # --- Chat ----------------------------------------------------------------------------------

    @property
    def first_channel(self) -> ChannelId | None:
        """The channel that is shown at the start, or the next one once that is left."""
        return self.memberships.first

    @property
    def history(self) -> History:
        """See `chat_tui.client.chat.Chat`."""
        return self._history

    @property
    def inspection(self) -> Inspection:
        """See `chat_tui.client.chat.Chat`."""
        return self._node.inspection

    def snapshot(self) -> Snapshot:
        """See `chat_tui.client.chat.Chat`; before `run` it has the channels alone."""
        return dressed(self._with_marks(), self.settings, self.people.book.blocked())

    def state_of(self, channel: ChannelId) -> StateInfo | None:
        """Return the state of one channel, as a snapshot has it of all; None if we are not in it.

        Who is in hundreds of channels hears of each when a peer comes.
        """
        if self._made is None or channel not in self.memberships:
            return None
        info = self._made.channel_info(channel)
        if info is None:
            return None
        return dressed_channel(info, self.settings, self.people.book.blocked()).state

    @property
    def now(self) -> Nanos:
        """The machines' time, as in a snapshot, which costs a hundred times as much."""
        return self._clock.now()

    def _with_marks(self) -> Snapshot:
        """Return a snapshot with read marks also where we tell none."""
        snapshot = self._made.snapshot() if self._made is not None else self._offline()
        snapshot = replace(
            self.memberships.dress(snapshot),
            disk=self._database.refusal,
            contradictions=self._events.contradictions.found,
        )
        return self._sizes.dress(self.people.book.dress(snapshot))

    def _offline(self) -> Snapshot:
        return Snapshot(
            me=self.identity.peer_id,
            nick=self.nick,
            now=self._clock.now(),
            port=None,
            interface="",
            network=NOT_YET,
            channels=(),
            peers=(),
        )

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """See `chat_tui.client.chat.Chat`."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def send_text(
        self, channel: ChannelId, text: str, reply_to: MessageId | None = None
    ) -> MessageId:
        """See `chat_tui.client.chat.Chat`."""
        return await self._writing.send_text(channel, text, reply_to)

    async def send_texts(self, channel: ChannelId, texts: Sequence[str]) -> list["Outcome"]:
        """Write texts that answer nothing, in order, as `send_text` does one.

        Returns what became of each, once that is known of all: one commit may have many.
        """
        return await self._writing.send_texts(channel, texts)

    async def edit(self, channel: ChannelId, message_id: MessageId, text: str) -> None:
        """See `chat_tui.client.chat.Chat`."""
        await self._writing.edit(channel, message_id, text)

    async def react(self, channel: ChannelId, message_id: MessageId, emoji: str) -> bool:
        """See `chat_tui.client.chat.Chat`."""
        return await self._writing.react(channel, message_id, emoji)

    async def redact(self, channel: ChannelId, message_id: MessageId) -> None:
        """See `chat_tui.client.chat.Chat`."""
        await self._writing.redact(channel, message_id)

    async def resend(self, channel: ChannelId, message_id: MessageId) -> MessageId:
        """See `chat_tui.client.chat.Chat`."""
        return await self._writing.resend(channel, message_id)

    def typing(self, channel: ChannelId) -> None:
        """See `chat_tui.client.chat.Chat`."""
        if self._made is None:
            return
        self._made.keys.hurry()
        if self.settings[TYPING_NOTICES] and self.people.may_write(channel):
            self._made.tell_typing(channel)

    def key_came(self) -> None:
        """See `chat_tui.client.chat.Chat`."""
        if self._made is not None:
            self._made.keys.key_came()

    def key_shown(self) -> None:
        """See `chat_tui.client.chat.Chat`."""
        if self._made is not None:
            self._made.keys.key_shown()

    async def answer_clock(self, *, follow: bool) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self._node.answer_clock(follow=follow)

    async def repair(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self._node.ask_again(channel, message_ids)

    async def repair_before(self, channel: ChannelId, message_id: MessageId) -> None:
        """See `chat_tui.client.chat.Chat`."""
        await self._node.ask_before(channel, message_id)

    async def connect(self, host: str, port: int) -> None:
        """See `chat_tui.client.chat.Chat`."""
        await self._node.mesh.connect(host, port)

    def examine(self, *, deep: bool = False, tell: Progress = unheard) -> "AsyncIterator[Finding]":
        """See `chat_tui.client.chat.Chat`."""
        from chat_tui.client.doctor import deep_check, doctor  # a first paint needs none of it
        from chat_tui.wording import json_events

        if deep:
            return deep_check.findings(self._setup, deep_check.on_this_loop(tell), self)
        running = json_events.snapshot(self.snapshot(), json_events.Namer(self.snapshot))
        return doctor.Doctor(self._setup, running).findings()

    async def rename(self, nick: str) -> None:
        """See `chat_tui.client.chat.Chat`."""
        self.nick = self._node.nick = checked_nick(nick)
        self._node.mesh.channels.rename(nick)
        self.stating.look_again()
        self._remember(replace(self.profile.settings, nick=nick))
        self.settings.change(NAME, nick)

    async def be_away(self, why: str) -> None:
        """See `chat_tui.client.chat.Chat`."""
        from sync.net.links.frames import AWAY_MAX  # a first paint needs no frames

        if len(why) > AWAY_MAX:
            raise LocalError(f"The reason for being away can have at most {AWAY_MAX} characters.")
        self._node.mesh.channels.tell_presence(self.nick, why)
        self.stating.look_again()

    async def sync(self, channel: ChannelId, peer: PeerId | None = None, protocol: str = "") -> int:
        """See `chat_tui.client.chat.Chat`."""
        info = next(one for one in self.snapshot().channels if one.channel == channel)
        wanted = [one for one in info.peers if peer in (None, one)]
        peers = [one for one in wanted if self._node.dialable(one) is not None]
        if peer is not None and wanted and not peers:
            raise LocalError(ONLY_THEY_BEGIN)
        for one in peers:
            self._node.ask_sync(channel, one, protocol)
        return len(peers)

    # --- Needed by the parts -------------------------------------------------------------------

    async def _set_state(
        self, channel: ChannelId, kind: StateKind, content: Content | None, name: bytes
    ) -> None:
        await self._node.set_state(channel, kind, content, name)

    def _nick_of(self, peer: PeerId) -> str:
        return name_of(self.snapshot(), peer)

    def _known_as(self, peer: PeerId) -> str:
        """Return what somebody went by when they were met last; empty if they never were."""
        if peer == self.identity.peer_id:
            return self.nick
        person = self.people.book.people.get(peer)
        return "" if person is None else person.nick

    def _on_heard(self, channel: ChannelId) -> None:
        """Let go of a channel that we left, once somebody there has heard of it."""
        if self.memberships.is_leaving(channel):
            self._node.spawn("leaving", self.memberships.heard(channel))

    def _titled(self, title: str) -> ChannelId | None:
        """Return the channel of two of a `title`, or the one that goes by it and a sign."""
        for info in self.snapshot().channels:
            if (info.sign or info.direct is not None) and title == channel_title(info):
                return info.channel
        return None

    def _tell_of_marks(self, notice: Notice) -> None:
        self._remember(replace(self.profile.settings, told_of_read_marks=True))
        self._tell(notice)

    def _tell(self, event: Event) -> None:
        self.stating.note_event(event)
        for listener in list(self._listeners):
            listener(event)


def _usable(nick: str | None) -> str | None:
    """Return the name of an earlier run; None if nobody could have it, as in a damaged file."""
    try:
        return None if nick is None else checked_nick(nick)
    except LocalError:
        return None
