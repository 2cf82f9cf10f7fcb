"""The live driver: turns the runner over real sockets, a real disk and the real clock.

One task turns; everything else only feeds it. A commit is awaited before anything that depends on
it is released, and the UI is told by calls that only take note.
"""

import asyncio
import contextlib
import random
import statistics
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sync.errors import ChatError, LocalError, RemoteError, StorageError
from sync.group import values
from sync.group.group import Author
from sync.identity import Identity, verify
from sync.journal import Journal, Loaded, Membership
from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.net import clock as system
from sync.net.addresses import Addresses
from sync.net.discovery import Discovery
from sync.net.frames import Open
from sync.net.interfaces import Interface, choose
from sync.net.link import Link
from sync.net.mesh import Mesh
from sync.net.sessions import SessionStreams
from sync.net.stream import SecureStream
from sync.net.trace import Trace
from sync.runner import Batch, Runner
from sync.sds.wire import decode, encode
from sync.show import channel_info, event_of
from sync.view import (
    Event,
    Level,
    Notice,
    PeerInfo,
    PeerShown,
    PeerState,
    Snapshot,
    SyncShown,
)

SLICE: Final[Nanos] = 10 * MILLISECOND
"""How long the engine may keep the event loop from the UI."""

TICK: Final = 0.25
"""Seconds between looks at pings, redials and the clock."""

JUMP: Final[Nanos] = 10 * SECOND
"""A gap between two ticks, or a step of the wall clock, that means sleep or a set clock."""

ANNOUNCE_EVERY: Final = (20.0, 30.0)
"""Seconds between announcements, drawn anew each time."""

COMMIT_RETRY: Final = (1.0, 10.0)
"""Seconds to wait after a failed commit: the first time, and at most."""

CLOCK_STEP: Final[Nanos] = 50 * MILLISECOND
"""Changes of the reference clock smaller than this are left alone."""

REFUSED_MAX: Final = 256
"""Names kept in the count of what was refused."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to be on the network. `interface` None means every ordinary one."""

    interface: str | None = None
    port: int | None = None
    discovery: bool = True
    connect: tuple[tuple[str, int], ...] = ()


class Node:
    """A running participant. `listener` gets every event; it must only take note and return."""

    def __init__(
        self,
        identity: Identity,
        journal: Journal,
        options: Options,
        listener: Callable[[Event], None],
        trace: Trace,
    ) -> None:
        self.identity = identity
        self.clock = system.Clock()
        self.nick = ""
        self.network = "Not on the network yet."
        self.refusals: Counter[str] = Counter()
        self.longest_slice: Nanos = 0
        self._options = options
        self._journal = journal
        self._listener = listener
        self._trace = trace
        self._secrets: dict[ChannelId, bytes] = {}
        self._rng = random.Random(system.draw(32))  # noqa: S311  # decides delays, not secrets
        author = Author(identity.peer_id, identity.sign, verify, system.draw_log)
        self._runner = Runner(author, self._rng, trace)
        addresses = Addresses(random.Random(system.draw(32)))  # noqa: S311  # only delays
        self.mesh = Mesh(identity, self.clock, self._secrets, addresses, self, self._spawn)
        self.streams = SessionStreams(identity, self.clock, self, self._spawn)
        self._discovery = Discovery(system.draw(8).hex(), self._on_found, self._spawn)
        self._interfaces: list[Interface] = []
        self._tasks: asyncio.TaskGroup | None = None
        self._wake = asyncio.Event()
        self._calm = asyncio.Event()
        self._writes: dict[int, asyncio.Future[MessageId]] = {}
        self._tokens = 0
        self._peers: dict[PeerId, PeerInfo] = {}
        self._offset: Nanos = 0

    # --- Acts ----------------------------------------------------------------------------------

    async def add_channel(self, membership: Membership) -> None:
        """Take up a channel, with its history from the disk.

        Raises:
            StorageError: the disk cannot be read.
        """
        state = await self._journal.restore(membership.channel)
        self._runner.add_channel(membership, state)
        self._secrets[membership.channel] = membership.secret
        self.mesh.join(membership.channel, membership.secret)
        self._wake.set()

    async def write(self, channel: ChannelId, kind: int, body: bytes) -> MessageId:
        """Write a message; returns once it is committed.

        Raises:
            LocalError: the disk refused it, or too much waits already.
        """
        self._tokens += 1
        token = self._tokens
        future: asyncio.Future[MessageId] = asyncio.get_running_loop().create_future()
        self._runner.feed(channel, values.Write(token, kind, body))
        self._writes[token] = future
        self._wake.set()
        return await future

    def send_again(self, channel: ChannelId, message_id: MessageId) -> None:
        """Send an own, unacknowledged message again.

        Raises:
            LocalError: it does not wait for anything.
        """
        group = self._runner.groups[channel]
        if message_id not in group.sds.outgoing.pending:
            raise LocalError("That message is not waiting: it was received, or is not yours.")
        self.feed(channel, values.SendAgain(message_id))

    def ask_sync(self, channel: ChannelId, peer: PeerId) -> None:
        """Reconcile with a peer now."""
        self._runner.ask_sync(channel, peer, self.clock.now())
        self._wake.set()

    def know(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Learn where peers answered in earlier runs."""
        for host, port in addresses:
            self.mesh.addresses.add(host, port, self.clock.now())

    def dialable(self, peer: PeerId) -> tuple[str, int] | None:
        """Return where `peer` accepts connections, if it is connected."""
        link = self.mesh.link_to(peer)
        return link.address if link is not None else None

    async def drained(self) -> None:
        """Wait until everything that was fed is committed and out with the connected peers."""
        while self._runner.busy or self._writes:
            self._calm.clear()
            self._wake.set()
            await self._calm.wait()
        await self.mesh.drain()

    # --- Life ----------------------------------------------------------------------------------

    async def run(self, ready: asyncio.Event) -> None:
        """Be on the network until cancelled; sets `ready` once others can reach us."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(self._turn_forever(), name="turning")
                await self._go_online()
                ready.set()
                tasks.create_task(self._tick_forever(), name="ticking")
                tasks.create_task(self._discovery.resolve_forever(), name="resolving")
                tasks.create_task(self._announce_forever(), name="announcing")
        finally:
            self._tasks = None
            await self.mesh.stop()
            self.streams.close_all()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._discovery.stop()
            self._trace.close()

    async def _go_online(self) -> None:
        """Listen and announce on the interfaces of now; without any, look again later.

        Raises:
            LocalError: the named interface does not exist, or no port is free.
        """
        self._interfaces = choose(self._options.interface)
        hosts = [interface.address for interface in self._interfaces]
        if not hosts:
            self.network = (
                "No network: connect to a Wi-Fi or cable network, or name an address with "
                "--interface. What you write waits."
            )
            return
        port = await self.mesh.listen(hosts, self.mesh.port or self._options.port)
        self.streams.port = port
        local = hosts[0] if self._options.interface is not None else None
        self.mesh.local_address = self.streams.local_address = local
        for host, number in self._options.connect:
            self.mesh.addresses.add(host, number, self.clock.now(), named=True)
        self.network = f"Looking for people on {', '.join(hosts)}."
        if self._options.discovery:
            try:
                await self._discovery.start(hosts, port)
            except LocalError as error:
                self._tell(Notice(str(error), Level.ERROR))
        self.mesh.dial_due()

    async def _tick_forever(self) -> None:
        """Pings, redials, the clock, and changes of the network."""
        last, drift = self.clock.now(), self.clock.wall() - self.clock.now()
        ticks = 0
        while True:
            await asyncio.sleep(TICK)
            now, now_drift = self.clock.now(), self.clock.wall() - self.clock.now()
            ticks += 1
            if now - last > JUMP or abs(now_drift - drift) > JUMP:
                await self._after_jump(now - last, now_drift - drift)
            elif ticks % 8 == 0:
                await self._check_interfaces()
            last, drift = now, now_drift
            self._discovery.refill(TICK)
            self.mesh.tick()
            self._set_reference_clock()
            if ticks % 4 == 0:
                self._trace.flush()

    async def _after_jump(self, gap: Nanos, step: Nanos) -> None:
        """The computer slept, or its clock was set: begin anew with everybody."""
        seconds = max(gap, abs(step)) // SECOND
        self._tell(
            Notice(f"The clock jumped by {seconds} s (sleep, or it was set); reconnecting to all.")
        )
        self.mesh.hang_up("the clock jumped")
        await self._rejoin_network()

    async def _check_interfaces(self) -> None:
        """Follow a changed address: listen, announce and dial anew."""
        try:
            present = choose(self._options.interface)
        except LocalError:
            present = []
        if present == self._interfaces:
            return
        self._tell(Notice("The network changed; reconnecting to everybody."))
        self.mesh.hang_up("the address changed")
        await self._rejoin_network()

    async def _rejoin_network(self) -> None:
        try:
            await self._go_online()
        except LocalError as error:
            self._interfaces = []
            self.network = str(error)

    async def _announce_forever(self) -> None:
        while True:
            await asyncio.sleep(self._rng.uniform(*ANNOUNCE_EVERY))
            await self._discovery.announce_again()

    def _set_reference_clock(self) -> None:
        """Median of our own and all peers' wall clocks; ties go to our own (DESIGN 5)."""
        offsets = [
            link.clock_offset
            for links in self.mesh.links.values()
            for link in links[:1]
            if link.clock_offset is not None
        ]
        ordered = [statistics.median_low([0, *offsets]), statistics.median_high([0, *offsets])]
        offset = min(ordered, key=abs) + self.clock.wall() - self.clock.now()
        if abs(offset - self._offset) >= CLOCK_STEP:
            self._offset = offset
            self._runner.feed_all(values.ReferenceClock(offset))
            self._wake.set()

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """Run `work` under our care: an error in it is shown, and the rest goes on."""
        if self._tasks is None:
            work.close()
            return None

        async def cared_for() -> None:
            try:
                await work
            except (ChatError, OSError) as error:
                self.refused(name, str(error))
            except Exception as error:  # noqa: BLE001  # one connection must not end the chat
                self._tell(Notice(f"An error in {name}: {error!r}. The chat goes on.", Level.ERROR))

        return self._tasks.create_task(cared_for(), name=name)

    def _on_found(self, instance: str, host: str, port: int) -> None:
        """An address to dial; of two who find each other, the smaller name dials first."""
        candidate = self.mesh.addresses.add(host, port, self.clock.now())
        if self._discovery.instance > instance and candidate.answered_at is None:
            candidate.next_at = max(candidate.next_at, self.clock.now() + 300 * MILLISECOND)
        self.mesh.dial_due()

    # --- Turning -------------------------------------------------------------------------------

    async def _turn_forever(self) -> None:
        """Handle, commit, release; sleep until the next input or deadline."""
        wait = COMMIT_RETRY[0]
        while True:
            await self._rest()
            batch = self._turn()
            self._report(batch)
            try:
                if batch.records:
                    await self._journal.commit(batch.records)
                await self._release(batch)
                wait = COMMIT_RETRY[0]
            except StorageError as error:
                await self._undo(batch, error, wait)
                wait = min(wait * 2, COMMIT_RETRY[1])
            if not self._runner.crowded:
                self._calm.set()
            await asyncio.sleep(0)

    def _turn(self) -> Batch:
        """Handle what waits, for a slice at most."""
        began = self.clock.now()
        batch = self._runner.turn(began, lambda: self.clock.now() - began > SLICE)
        self.longest_slice = max(self.longest_slice, self.clock.now() - began)
        return batch

    async def _rest(self) -> None:
        """Wait for an input or a deadline."""
        self._wake.clear()
        if self._runner.busy:
            return
        due = self._runner.deadline()
        timeout = None if due is None else max(0, due - self.clock.now()) / SECOND
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._wake.wait()

    def _report(self, batch: Batch) -> None:
        """Inputs that changed nothing: count what peers did, tell the person what they did."""
        for failure in batch.failures:
            event = failure.event
            if isinstance(event, values.Write):
                self._fail_write(event.token, failure.error)
            elif isinstance(failure.error, RemoteError):
                self.refused(getattr(event, "peer", "somebody"), str(failure.error))
            else:
                self._tell(Notice(str(failure.error), Level.ERROR))

    async def _undo(self, batch: Batch, error: StorageError, wait: float) -> None:
        """Nothing of `batch` happened: say so, and begin anew from what the disk holds."""
        self._tell(Notice(str(error), Level.ERROR))
        for addressed in batch.inputs:
            if isinstance(addressed.event, values.Write):
                self._fail_write(addressed.event.token, error)
        self.streams.close_all()
        while True:
            await asyncio.sleep(wait)
            try:
                states = {
                    channel: await self._journal.restore(channel) for channel in self._runner.groups
                }
            except StorageError:
                wait = min(wait * 2, COMMIT_RETRY[1])
                continue
            self._runner.rebuild(states)
            return

    def _fail_write(self, token: int, error: Exception) -> None:
        future = self._writes.pop(token, None)
        if future is not None and not future.done():
            future.set_exception(error)

    # --- Releasing -----------------------------------------------------------------------------

    async def _release(self, batch: Batch) -> None:
        """Carry out what the commit allows, in order; frames of one turn go out together."""
        loaded = await self._load(batch)
        for release in batch.releases:
            self._carry_out(release.channel, release.effect, loaded)
        self.mesh.flush()

    async def _load(self, batch: Batch) -> dict[MessageId, Loaded]:
        wanted: dict[ChannelId, list[MessageId]] = {}
        for release in batch.releases:
            match release.effect:
                case values.BroadcastStored(message_id) | values.Deliver(message_id, None):
                    wanted.setdefault(release.channel, []).append(message_id)
                case _:
                    pass
        loaded: dict[MessageId, Loaded] = {}
        for channel, ids in wanted.items():
            loaded |= await self._journal.load(channel, ids)
        return loaded

    def _carry_out(
        self, channel: ChannelId, effect: values.Effect, loaded: dict[MessageId, Loaded]
    ) -> None:
        match effect:
            case values.Broadcast(payload):
                self.mesh.broadcast(channel, payload)
            case values.BroadcastStored(message_id, bloom_filter):
                message = decode(loaded[message_id].payload)
                self.mesh.broadcast(channel, encode(replace(message, bloom_filter=bloom_filter)))
            case values.OpenSession(session, peer):
                self.streams.open(channel, session, peer)
            case values.SendPayload(session, payload):
                self.streams.send(session, payload)
            case values.CloseSession(session):
                self.streams.close(session)
            case values.Push(peer, hashes):
                self.streams.push(channel, peer, hashes)
            case values.Written(token, message_id):
                future = self._writes.pop(token, None)
                if future is not None and not future.done():
                    future.set_result(message_id)
            case values.Refused(peer, reason):
                self.refused(peer, reason)
            case _:
                self._show(channel, effect, loaded)

    def _show(
        self, channel: ChannelId, effect: values.Effect, loaded: dict[MessageId, Loaded]
    ) -> None:
        def load(deliver: values.Deliver) -> tuple[Any, Any]:
            return loaded[deliver.message_id].entry, loaded[deliver.message_id].delivery

        event = event_of(channel, effect, self.identity.peer_id, load)
        if isinstance(event, SyncShown):
            bytes_in, bytes_out, elapsed = self.streams.cost(channel, event.peer)
            event = replace(event, bytes_in=bytes_in, bytes_out=bytes_out, elapsed_ns=elapsed)
        if event is not None:
            self._tell(event)

    def _tell(self, event: Event) -> None:
        self._listener(event)

    # --- What the mesh and the sessions tell ---------------------------------------------------

    def joined(self, peer: PeerId, channel: ChannelId) -> None:
        """See `sync.net.mesh.Events`."""
        self.feed(channel, values.PeerJoined(peer))
        self.renamed(peer)

    def gone(self, peer: PeerId, channel: ChannelId) -> None:
        """See `sync.net.mesh.Events`."""
        self.feed(channel, values.PeerGone(peer))
        self.renamed(peer)

    def renamed(self, peer: PeerId) -> None:
        """See `sync.net.mesh.Events`; tells the UI whatever is new about `peer`."""
        link = self.mesh.link_to(peer)
        before = self._peers.get(peer)
        up = link is not None and bool(link.membership.shared)
        nick = next(iter(link.nicks.values()), "") if link is not None else ""
        if up and not nick:
            return  # its presence is on the way
        info = PeerInfo(
            peer=peer,
            nick=nick or (before.nick if before else ""),
            state=PeerState.UP if up else PeerState.DOWN,
            address=_printed(link.address) if link else before.address if before else "",
            last_seen_ns=self.clock.now(),
        )
        self._peers[peer] = info
        if before is None or (before.state, before.nick) != (info.state, info.nick):
            self._tell(PeerShown(peer, info.nick, info.state))

    def arrived(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """See `sync.net.mesh.Events`."""
        self.feed(channel, values.Arrived(peer, payload))

    def refused(self, who: str, reason: str) -> None:
        """Count what was refused, and note it in the trace."""
        if who in self.refusals or len(self.refusals) < REFUSED_MAX:
            self.refusals[who] += 1
        self._trace(self.clock.now(), "refused", Notice(f"{who}: {reason}"), ())

    async def offered(self, stream: SecureStream, opened: Open) -> None:
        """See `sync.net.mesh.Events`."""
        await self.streams.offered(stream, opened)

    async def breathe(self) -> None:
        """Let others run, and wait while too many inputs wait."""
        if self._runner.crowded:
            self._calm.clear()
            await self._calm.wait()

    def feed(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""
        self._runner.feed(channel, event)
        self._wake.set()

    def new_session(self) -> values.SessionId:
        """Return a fresh session number."""
        return self._runner.new_session()

    def link_to(self, peer: PeerId, channel: ChannelId) -> Link | None:
        """Return the link to `peer` that carries `channel`."""
        return self.mesh.link_to(peer, channel)

    def secret(self, channel: ChannelId) -> bytes:
        """Return a channel's secret."""
        return self._secrets[channel]

    def secrets(self) -> dict[ChannelId, bytes]:
        """Return the secrets of all channels."""
        return dict(self._secrets)

    async def load_by_hash(self, channel: ChannelId, hashes: Sequence[bytes]) -> list[Loaded]:
        """Return stored messages by their Waku hashes."""
        return await self._journal.load_by_hash(channel, hashes)

    # --- What the UI may know ------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """See `sync.view.Snapshot`."""
        return Snapshot(
            me=self.identity.peer_id,
            nick=self.nick,
            now=self.clock.now(),
            port=self.mesh.port,
            interface=", ".join(interface.address for interface in self._interfaces),
            network=self.network,
            channels=tuple(
                [
                    channel_info(group, self._runner.memberships[channel])
                    for channel, group in self._runner.groups.items()
                ]
            ),
            peers=tuple([self._peer_info(info) for info in self._peers.values()]),
            trace=self._trace.recent(50),
            longest_block_ns=self.longest_slice,
            refused=dict(self.refusals),
        )

    def _peer_info(self, info: PeerInfo) -> PeerInfo:
        link = self.mesh.link_to(info.peer)
        if link is None:
            return info
        syncing = any(info.peer in g.sessions.by_peer for g in self._runner.groups.values())
        return replace(
            info,
            rtt_ns=link.rtt,
            clock_offset_ns=link.clock_offset,
            last_seen_ns=link.heard_at,
            syncing=syncing,
        )


def _printed(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"
