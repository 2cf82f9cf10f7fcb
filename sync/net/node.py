"""The live driver: puts engine, mesh, sessions and discovery together, over a real clock.

The engine turns; everything else only feeds it. A commit is awaited before anything that depends
on it is released, and the UI is told by calls that only take note.
"""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, Final, TypeVar

from sync.calimero.governance.ops import Op, OpId
from sync.entries.identity import Identity
from sync.entries.membership import Membership
from sync.errors import ChatError, LocalError
from sync.group import values
from sync.group.group import Group
from sync.group.ingest import outline_of_entry
from sync.group.records import Contradiction
from sync.machine import MILLISECOND, ChannelId, MessageId, PeerId
from sync.manager.announcing import Announcing
from sync.manager.registry import PROTOCOLS
from sync.net import clock as system
from sync.net.attachment import Online
from sync.net.checks.cross_checks import CrossChecks
from sync.net.checks.page_checks import PageChecks
from sync.net.clocks import Clocks
from sync.net.discovery.mdns import INSTANCE_SIZE, Discovery
from sync.net.disk_loads import DiskLoads
from sync.net.engine.engine import Engine
from sync.net.engine.key_priority import KeyPriority
from sync.net.floods import Floods
from sync.net.governance.governance_links import GovernanceLinks
from sync.net.governance.governed_node import GovernedNode
from sync.net.governance.governing import GroupDriver
from sync.net.governance.key_store import KeyStore
from sync.net.inlet import Inlet
from sync.net.invite import is_guessable
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.node_view import NodeView
from sync.net.options import Options
from sync.net.outlet import Outlet
from sync.net.periodic import Ticking
from sync.net.refusals import Refusals
from sync.net.staged_previews import StagedPreviews
from sync.net.trace import SEED_SIZE, Trace
from sync.net.traced_runner import traced_runner
from sync.net.writing import Writing
from sync.runner.journal import Journal, Retriever
from sync.runner.logbook import Logbook
from sync.sessions.protocol import Protocols
from sync.view.frame_tap import Tap
from sync.view.governance_infos import nameless
from sync.view.happenings import Happenings
from sync.view.inspector import Inspector
from sync.view.projection import info_of
from sync.view.view import (
    NOT_ASKED,
    ChannelInfo,
    ClockShown,
    ContradictionShown,
    Event,
    FrameKind,
    Level,
    Notice,
    Snapshot,
)

T = TypeVar("T")

PARTING: Final = 1.0
"""Seconds that taking back our announcement may take."""


class Node:
    """A running participant. `listener` gets every event; it must only take note and return."""

    met_as: Callable[[PeerId], str] = staticmethod(nameless)
    """Returns what somebody who is not here went by before; empty if that is unknown."""

    _tasks: asyncio.TaskGroup | None = None
    """While it is on the network."""

    view: NodeView
    """Reads what the UI may know."""

    def __init__(  # noqa: PLR0913 - what a participant is made of; tests bring their own clock
        self,
        identity: Identity,
        journal: Journal,
        options: Options,
        listener: Callable[[Event], None],
        trace: Trace,
        clock: system.Clock | None = None,
        *,
        keys: KeyStore,
        protocols: Protocols = PROTOCOLS,
    ) -> None:
        self.identity = identity
        self.clock = clock or system.Clock()
        self.nick = ""
        self._journal = journal
        self._listener = listener
        self.retriever: Retriever | None = None
        """Where else missing messages may be fetched; reconciliation with peers needs none."""
        self._trace = trace
        self.refusals = Refusals(self.clock, trace)
        self.secrets = ChannelSecrets()
        """Secrets of our channels, as the links use them."""
        self._runner = traced_runner(identity, self.clock, trace, options, protocols)
        self.logbook = self._runner.logbook = Logbook(on=False, anchor=self.clock.anchor)
        """Notes for the protocol log, while somebody writes it down."""
        self._tap = Tap()
        happenings = Happenings(lambda: self._runner.groups, self.clock.now())
        self.inspection = Inspector(lambda: self._runner.groups, self._tap, happenings, trace)
        self.governance = GovernanceLinks(self, journal, identity.peer_id)
        """Governed channels, between the links and the machines."""
        inlet = Inlet(identity, self, self.clock, self._runner, self._tap, listener)
        self._inlet, self.mesh, self.knocks = inlet, inlet.mesh, inlet.knocks
        self.streams, self.catch_ups = inlet.streams, inlet.catch_ups
        self._outlet = Outlet(
            identity.peer_id,
            self,
            self.clock,
            self.mesh,
            self.streams,
            self.catch_ups,
            self.logbook,
            self._tap,
            happenings,
            lambda event: self.view.show(event),  # noqa: PLW0108  # it is made of what follows
        )
        self.engine = Engine(self._runner, journal, self.clock, self._outlet)
        self.loads = DiskLoads(journal, self.engine, self.spawn)
        self.writing = Writing(self._runner, journal, self.engine, listener, self.spawn)
        self._page_checks = PageChecks(
            identity.peer_id, self.queue_input, self.engine.keys.stand_aside
        )
        self.previews = StagedPreviews(
            self._runner.groups,
            journal,
            self.engine.keys,
            self._outlet.preview,
            self._outlet.history_is_here,
            self.spawn,
        )
        self._damaged: dict[ChannelId, set[MessageId]] = {}
        """Damage found in channels that are not taken up yet."""
        journal.watch(self)
        self._discovery = Discovery(system.draw(INSTANCE_SIZE).hex(), self._on_found, self.spawn)
        self._online = Online(options, self.mesh, self._discovery, self.clock, listener)
        self.clocks = Clocks(self.clock, self.mesh, self.engine, options.clock)
        """Tells the channels of clocks."""
        self.ticking = Ticking(
            self.clock,
            self.mesh,
            self._online,
            inlet.roster,
            self.clocks,
            listener,
            self._look_at_recordings,
            self._look_for_floods,
        )
        self._floods = Floods(self.mesh.peers.nick_of)
        self.view = NodeView(
            identity.peer_id,
            self,
            self.clock,
            self._runner,
            self.engine,
            self.mesh,
            inlet.roster,
            self.refusals,
            self._online,
            self.previews,
            trace,
            listener,
        )
        self.governing = self._made_driver(keys)

    def _made_driver(self, keys: KeyStore) -> GroupDriver:
        """Return the driver of governance, which hears of ops and of secrets."""
        seen = GovernedNode(self, self._runner, self._journal, self.engine.settled)
        driver = GroupDriver(self.identity, keys, seen, self.clock.wall, lambda: self.nick)
        self.governance.on_governed = driver.governed
        self.governance.on_secret = driver.on_secret
        self.governance.on_told = driver.on_told
        return driver

    # --- Acts ----------------------------------------------------------------------------------

    async def add_channel(self, membership: Membership) -> None:
        """Take up a channel, with its history from the disk.

        Raises:
            StorageError: the disk cannot be read.
        """
        state = await self._journal.restore(membership.channel)
        self.clocks.tell_own()
        if membership.genesis is None:
            self.secrets.set_plain(membership.channel, membership.secret)
        else:
            await self.governing.take_up(membership)
        self._runner.add_channel(membership, state)
        if state.snapshot is not None:
            self.previews.resume(membership.channel, state.snapshot)
        if membership.direct is not None:
            self.mesh.channels.direct[membership.channel] = membership.direct
        elif membership.open or is_guessable(membership.name, membership.secret):
            self.mesh.peers.open.add(membership.channel)
        self.mesh.channels.join(membership.channel)
        if damaged := self._damaged.pop(membership.channel, None):
            self.damaged(membership.channel, tuple(sorted(damaged)))
        self.engine.wake()

    async def remove_channel(self, channel: ChannelId) -> None:
        """Leave a channel: nobody is told more of it; its history stays on the disk."""
        if channel not in self.secrets:
            return
        self.secrets.drop(channel)
        self.governing.drop(channel)
        self.mesh.channels.leave(channel)
        self.catch_ups.end(channel)
        self.mesh.channels.direct.pop(channel, None)
        self.mesh.peers.open.discard(channel)
        if self._tasks is not None:
            await self.engine.settled()
        self._runner.remove_channel(channel, self.clock.now())
        self.clocks.left(channel)
        self.engine.wake()

    def noise_key(self, peer: PeerId) -> bytes | None:
        """Return the Noise static key of `peer`, if it is connected."""
        link = self.mesh.peers.link_to(peer)
        return None if link is None else link.stream.remote_noise_static

    async def act(self, channel: ChannelId, op: Op) -> OpId:
        """Govern: sign an op of ours and tell it; returns its id once it is committed.

        Secrets are drawn and wrapped before.

        Raises:
            LocalError: we may not, the disk refused it, or it is no channel of ours.
        """
        return await self.engine.act(channel, op)

    async def set_state(
        self,
        channel: ChannelId,
        kind: values.StateKind,
        content: values.Content | None,
        name: bytes = b"",
    ) -> None:
        """Set a register of ours, or take back what it says; returns once it is committed.

        Args:
            channel: where.
            kind: which register.
            content: what it says; None takes it back.
            name: the id of the line, 32 bytes, for a pin.

        Raises:
            LocalError: we may not, the disk refused it, or it is no channel of ours.
        """
        await self.engine.set_state(channel, kind, content, name)

    def ask_again(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        """Ask for missing messages now; for all, if none is named."""
        self.queue_input(channel, values.AskAgain(message_ids))

    async def ask_before(self, channel: ChannelId, message_id: MessageId) -> None:
        """Ask now for what a message names and we lack, however long ago we gave it up."""
        loaded = await self._journal.load(channel, [message_id])
        gaps = [outline_of_entry(one.entry, one.waku_hash) for one in loaded.values()]
        if gaps:
            self.queue_input(channel, values.AskAgain((), tuple(gaps)))

    def answer_clock(self, *, follow: bool) -> None:
        """Answer the question about our clock, wherever it is asked.

        Raises:
            LocalError: nothing is asked about it now.
        """
        question = self.view.clock_info().question
        if question is None:
            raise LocalError(NOT_ASKED)
        for channel in question.channels:
            self.queue_input(channel, values.ClockAnswered(follow))

    def begin_anew(self) -> None:
        """Make all machines anew from the disk: what they were made of was not all there."""
        self.engine.begin_anew()

    @property
    def keys(self) -> KeyPriority:
        """Is told of the keys of a person, which come before the engine."""
        return self.engine.keys

    def tell_typing(self, channel: ChannelId) -> None:
        """Tell the others that the person is typing, unless they were told just now."""
        self._runner.tell_typing(channel, self.nick, self.clock.now())
        self.engine.wake()

    def ask_sync(self, channel: ChannelId, peer: PeerId, protocol: str = "") -> None:
        """Reconcile with a peer now, by any protocol or the one named; see `Runner.ask_sync`."""
        self._runner.ask_sync(channel, peer, self.clock.now(), protocol)
        self.engine.wake()

    def know(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Learn where peers answered in earlier runs."""
        for host, port in addresses:
            self.mesh.addresses.add(host, port, self.clock.now())

    def forget(self, peer: PeerId) -> None:
        """Know nothing more of a peer who is gone: they come again as somebody new."""
        self._inlet.roster.forget(peer)
        self.mesh.peers.met.discard(peer)
        self.mesh.peers.verified.discard(peer)

    def dialable(self, peer: PeerId) -> tuple[str, int] | None:
        """Return where `peer` accepts connections, if it is connected."""
        link = self.mesh.peers.link_to(peer)
        return link.address if link is not None and link.address[1] else None

    async def drained(self) -> None:
        """Wait until everything that was fed is committed and out with the connected peers."""
        await self.engine.settled()
        await self.mesh.drain()

    async def room(self) -> None:
        """Return when links take what is sent: who writes very much awaits this in between."""
        await self.mesh.room()

    # --- Life ----------------------------------------------------------------------------------

    async def run(self, ready: asyncio.Event) -> None:
        """Be on the network until cancelled; sets `ready` once others can reach us.

        Raises:
            LocalError: the named interface does not exist, or no port is free.
        """
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                tasks.create_task(self.engine.turn_forever(), name="turning")
                self.previews.begin()
                await self._online.start()
                ready.set()
                tasks.create_task(self.ticking.tick_forever(), name="ticking")
                tasks.create_task(self._discovery.resolve_forever(), name="resolving")
                checks = CrossChecks(lambda: self._runner.groups, self._journal, self.queue_input)
                tasks.create_task(checks.check_forever(), name="checking governance")
                announcing = random.Random(system.draw(SEED_SIZE))  # noqa: S311  # only delays
                tasks.create_task(self._online.announce_forever(announcing), name="announcing")
                await asyncio.Event().wait()  # until cancelled
            finally:
                self._tasks = None  # nothing new begins
                await self._leave()

    async def _leave(self) -> None:
        """Say goodbye to everybody."""
        await self.mesh.stop()
        self._page_checks.close()
        self.streams.close_all()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                await self._discovery.stop()
        self.mesh.abort()
        self._trace.close()
        self._tap.stop()

    def _look_for_floods(self) -> None:
        for notice in self._floods.look(self._runner.inputs.backlog, self.clock.now()):
            self.notify(notice)

    def _look_at_recordings(self) -> None:
        for look in (self._trace.flush, self._tap.check):
            try:
                look()
            except LocalError as error:
                self.notify(Notice(str(error), Level.ERROR))

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """Run `work` under our care: an error in it is shown, and the rest goes on.

        Returns None, and runs nothing, while we are not on the network.
        """

        async def cared_for() -> None:
            try:
                await work
            except (ChatError, OSError) as error:
                self.refused(name, str(error))
            except Exception as error:  # noqa: BLE001  # one connection must not end the chat
                self.notify(
                    Notice(f"An error in {name}: {error!r}. The chat goes on.", Level.ERROR)
                )

        if self._tasks is None:
            work.close()
            return None
        return self._tasks.create_task(cared_for(), name=name)

    def _on_found(self, instance: str, host: str, port: int, again: bool) -> None:  # noqa: FBT001
        """An address to dial; of two who find each other, the smaller name dials first."""
        now = self.clock.now()
        candidate = self.mesh.addresses.announce(host, port, now, instance, again=again)
        if self._discovery.instance > instance and candidate.answered_at is None:
            candidate.next_at = max(candidate.next_at, self.clock.now() + 300 * MILLISECOND)
        self.mesh.dial_due()

    # --- What its parts lead back to -------------------------------------------------------------

    def governed(self, channel: ChannelId, ops: tuple[OpId, ...]) -> None:
        """See `sync.net.outlet.Host`."""
        self.governance.governed(channel, ops)
        self.streams.end_outsiders(channel)
        self.view.governed(channel, ops)

    @property
    def groups(self) -> Mapping[ChannelId, Group]:
        """See `sync.net.governance.governance_links.Host`."""
        return self._runner.groups

    async def patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        """Return what `read` reads, however long the disk refuses."""
        return await self.engine.patiently(read)

    def clock_judged(self) -> None:
        """See `sync.net.outlet.Host`."""
        self._listener(ClockShown(self.view.clock_info()))

    def contradicted(self, found: Contradiction) -> None:
        """See `sync.runner.journal.Watcher`."""
        self._listener(ContradictionShown(info_of(found)))

    def damaged(self, channel: ChannelId, message_ids: tuple[MessageId, ...]) -> None:
        """See `sync.runner.journal.Watcher`: the machines go on without them."""
        if channel in self._runner.groups:
            self.queue_input(channel, values.Damaged(message_ids))
        else:
            self._damaged.setdefault(channel, set()).update(message_ids)

    def notify(self, notice: Notice) -> None:
        """Tell the person."""
        self._listener(notice)

    def refused(self, who: str, reason: str) -> None:
        """Count what was refused, and note it in the trace."""
        self.refusals.refused(who, reason)

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""
        self.engine.queue_input(channel, event)

    def noted(
        self, channel: ChannelId, peer: PeerId, kind: FrameKind, data: bytes, *, sent: bool
    ) -> None:
        """See `sync.net.governance.governance_links.Host`."""
        self._inlet.noted(channel, peer, kind, data, sent=sent)

    def check_page(self, channel: ChannelId, wanted: values.CheckPage) -> None:
        """See `sync.net.outlet.Host`."""
        if (group := self._runner.groups.get(channel)) is not None:
            self._page_checks.check(group.gate, wanted)

    # --- What the UI may know ------------------------------------------------------------------

    @property
    def announcing(self) -> Announcing:
        """Announcements to peers and by them; to be looked at only."""
        return self._runner.announcing

    def channel_info(self, channel: ChannelId) -> ChannelInfo | None:
        """See `sync.net.node_view.NodeView`."""
        return self.view.channel_info(channel)

    def snapshot(self) -> Snapshot:
        """See `sync.net.node_view.NodeView`."""
        return self.view.snapshot()
