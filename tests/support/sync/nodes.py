"""Builders of what runs on 127.0.0.1: meshes without machines, and whole nodes with a real disk.

Nothing here sleeps for a fixed time: `until` looks at its condition whenever something happened
anywhere, and gives up after `PATIENCE_S`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from storage.profile.channel_keys import ChannelKeys
from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.calimero.governance.keys import EpochSecret
from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import Identity
from sync.entries.membership import Membership
from sync.errors import RemoteError
from sync.group.clock_values import Follows
from sync.machine import SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.manager.registry import PROTOCOLS
from sync.net import clock
from sync.net.clock import draw_key
from sync.net.invite import open_channel
from sync.net.links.addresses import Addresses
from sync.net.links.channel_proofs import Membership as Proofs
from sync.net.links.channel_secrets import ChannelSecrets, plain
from sync.net.links.frames import (
    Frame,
    Open,
    Proof,
    RootFrame,
    StateFrame,
    Told,
    decode,
    encode,
)
from sync.net.links.listener import Serve
from sync.net.links.mesh import Mesh
from sync.net.links.stream import SecureStream
from sync.net.node import Node
from sync.net.options import Options
from sync.net.trace import Trace
from sync.sessions.protocol import Protocols
from sync.view.view import Event, MessageShown, Notice, PeerShown, PeerState
from tests.support.patience import PATIENCE_S
from tests.support.sync.entries import identity

HOST = "127.0.0.1"
HEARTBEAT_S = 0.01
"""Interval of the meshes' ticks, and the longest until a condition is looked at."""

E = TypeVar("E", bound=Event)


async def until(holds: Callable[[], object], meaning: str) -> None:
    """Wait until `holds`; it is looked at after every heartbeat.

    Raises:
        AssertionError: it did not within `PATIENCE_S`.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110  # a condition may hold without any event
                await asyncio.sleep(HEARTBEAT_S)
    except TimeoutError:
        raise AssertionError(f"not within {PATIENCE_S:.0f} s: {meaning}") from None


def channel_of(name: str) -> tuple[ChannelId, bytes]:
    """Id and secret of a channel that everybody in the tests can be given."""
    opened = open_channel(name)
    return opened.channel, opened.secret


class MovableClock(clock.Clock):
    """The real clock, moved on as a test needs it."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead: Nanos = 0
        self._wall_ahead: Nanos = 0

    def now(self) -> Nanos:
        return super().now() + self._ahead

    def awake(self) -> Nanos:
        return super().awake() + self._ahead

    def synchronised(self) -> bool:
        return False

    def wall(self) -> Nanos:
        return super().wall() + self._ahead + self._wall_ahead

    def forward(self, step: Nanos) -> None:
        """Let time pass."""
        self._ahead += step

    def set_wall(self, step: Nanos) -> None:
        """Set the wall clock forward (or back) without time passing."""
        self._wall_ahead += step


# --- A mesh alone ------------------------------------------------------------------------------


class Insiders:
    """The people in governed channels, as a test says it, and what the mesh tells of them."""

    def __init__(self) -> None:
        self.people: dict[tuple[PeerId, ChannelId], bool] = {}
        self.near: set[tuple[PeerId, ChannelId]] = set()
        self.heard: list[tuple[str, PeerId, ChannelId, object]] = []
        self.old_heads: set[bytes] = set()
        """Heartbeats of somebody who does not know that they are out."""

    def is_in(self, peer: PeerId, channel: ChannelId) -> bool | None:
        return self.people.get((peer, channel))

    def governs(self, peer: PeerId, channel: ChannelId, *, here: bool) -> None:
        (self.near.add if here else self.near.discard)((peer, channel))

    def op_came(self, peer: PeerId, channel: ChannelId, content: bytes) -> None:
        self.heard.append(("op", peer, channel, content))

    def heartbeat_came(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        self.heard.append(("heartbeat", peer, channel, payload))

    def is_unaware(self, peer: PeerId, channel: ChannelId, payload: bytes) -> bool:
        self.heard.append(("of one who is out", peer, channel, payload))
        return payload in self.old_heads

    def secret_came(self, peer: PeerId, channel: ChannelId, given: EpochSecret) -> None:
        self.heard.append(("secret", peer, channel, given))

    def told(self, peer: PeerId, channel: ChannelId, told: Told) -> None:
        self.heard.append(("told", peer, channel, told))


class Station:
    """A mesh and a record of what it told; its `Events` and the driver in one."""

    def __init__(self, name: str, *channels: str) -> None:
        self.identity: Identity = identity(name)
        self.me: PeerId = self.identity.peer_id
        self.clock = MovableClock()
        self.secrets = ChannelSecrets()
        for channel, secret in map(channel_of, channels):
            self.secrets.set_plain(channel, secret)
        self.governance = Insiders()
        self.shared: set[tuple[PeerId, ChannelId]] = set()
        self.ups = 0
        self.downs = 0
        self.frames: list[tuple[PeerId, ChannelId, bytes]] = []
        self.states: list[tuple[PeerId, StateFrame | RootFrame]] = []
        self.refusals: list[tuple[str, str]] = []
        self.skips: list[tuple[str, int]] = []
        self.twins: list[tuple[str, int]] = []
        self.announcements: list[tuple[PeerId, ChannelId, tuple[str, ...]]] = []
        self.parts: list[tuple[PeerId, ChannelId, bytes]] = []
        self.knocks: list[PeerId] = []
        self.pongs: list[Nanos | None] = []
        self.renames = 0
        self.calm = asyncio.Event()
        """Set while links are read."""
        self.calm.set()
        self.tasks: list[asyncio.Task[None]] | None = None
        addresses = Addresses(Random(1))
        self.mesh = Mesh(self.identity, self.clock, self.secrets, addresses, self, self.spawn)
        self.mesh.channels.nick = name

    @property
    def port(self) -> int:
        """Port on which it listens."""
        assert self.mesh.port is not None
        return self.mesh.port

    def links_to(self, other: "Station") -> int:
        """Return the number of links, open or closing."""
        return len(self.mesh.peers.links.get(other.me, []))

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        if self.tasks is None:
            work.close()
            return None
        self.tasks.append(asyncio.create_task(work, name=name))
        return self.tasks[-1]

    def joined(self, peer: PeerId, channel: ChannelId) -> None:
        self.ups += 1
        self.shared.add((peer, channel))

    def gone(self, peer: PeerId, channel: ChannelId) -> None:
        self.downs += 1
        self.shared.remove((peer, channel))

    def stated(self, peer: PeerId, frame: StateFrame | RootFrame) -> None:
        self.states.append((peer, frame))

    def arrived(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        self.frames.append((peer, channel, payload))

    def renamed(self, peer: PeerId) -> None:
        del peer
        self.renames += 1

    def ponged(self, peer: PeerId) -> None:
        self.pongs += [link.wall_offset for link in self.mesh.peers.links[peer]]

    def timed(self, peer: PeerId) -> None:
        pass

    def follows(self, peer: PeerId) -> Follows:
        del peer
        return Follows.NOBODY

    def knocked(self, peer: PeerId) -> None:
        self.knocks.append(peer)

    def refused(self, who: str, reason: str) -> None:
        self.refusals.append((who, reason))

    def announced(self, peer: PeerId, channel: ChannelId, protocols: tuple[str, ...]) -> None:
        self.announcements.append((peer, channel, protocols))

    def takes_part(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        self.parts.append((peer, channel, payload))

    def twin(self, host: str, port: int) -> None:
        self.twins.append((host, port))

    def skipped(self, who: str, size: int) -> None:
        self.skips.append((who, size))

    async def offered(self, stream: SecureStream, opened: Open) -> Serve:
        raise RemoteError(f"no sessions here, for {stream.peer} neither: {opened.protocol}")

    async def breathe(self, peer: PeerId) -> None:
        del peer
        await self.calm.wait()


@asynccontextmanager
async def stations(*given: Station) -> AsyncIterator[None]:
    """Run the meshes of `given`, each on a port of its own; an error in any task is raised."""
    for station in given:
        station.tasks = [asyncio.create_task(_beat(station))]
        await station.mesh.listen([HOST], None)
    try:
        yield
    finally:
        tasks = [task for station in given for task in station.tasks or []]
        for station in given:
            station.tasks = None
        await asyncio.gather(*(station.mesh.stop() for station in given))
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome
        await until(lambda: not _meeting(), "what was accepted last is closed")


def _meeting() -> list[asyncio.Task[Any]]:
    """Tasks of the event loop itself, which hand us what it accepted."""
    return [task for task in asyncio.all_tasks() if "accept_connection" in repr(task.get_coro())]


async def _beat(station: Station) -> None:
    while True:
        station.mesh.tick()
        await asyncio.sleep(HEARTBEAT_S)


# --- A whole node ------------------------------------------------------------------------------


@dataclass
class Host:
    """A running node, its disk, and all that it showed."""

    name: str
    node: Node
    database: Database
    clock: MovableClock
    events: list[Event] = field(default_factory=list)

    @property
    def me(self) -> PeerId:
        """Peer id of its identity."""
        return self.node.identity.peer_id

    @property
    def port(self) -> int:
        """Port on which it listens."""
        assert self.node.mesh.port is not None
        return self.node.mesh.port

    def shown(self, kind: type[E]) -> list[E]:
        """All events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def texts(self) -> list[str]:
        """The texts of the messages it showed, in the order of showing."""
        return [event.line.text for event in self.shown(MessageShown)]

    def notices(self) -> str:
        """All sentences for the person."""
        return "\n".join(notice.text for notice in self.shown(Notice))

    def states(self, other: "Host") -> list[PeerState]:
        """Return the states that it showed of `other`, in order."""
        return [event.state for event in self.shown(PeerShown) if event.peer == other.me]

    def is_up(self, other: "Host") -> bool:
        """Return whether it shows `other` as here."""
        return self.states(other)[-1:] == [PeerState.UP]

    async def join(self, name: str) -> ChannelId:
        """Take up the channel that is called so; everybody who does is in the same one."""
        channel, secret = channel_of(name)
        membership = Membership(channel, name, secret, open=False, profile="lan", joined_ns=SECOND)
        await Members(self.database).add_channel(membership, clock.draw_log())
        await self.node.add_channel(membership)
        return channel

    async def write(self, channel: ChannelId, text: str) -> MessageId:
        """Write a message; returns once it is committed."""
        body = encode_text(Text(self.name, text))
        return await self.node.writing.submit(channel, Kind.TEXT, body)


@asynccontextmanager
async def host(
    tmp_path: Path,
    name: str,
    *channels: str,
    trace: Trace | None = None,
    options: Options | None = None,
    protocols: Protocols = PROTOCOLS,
) -> AsyncIterator[Host]:
    """A node on the network, on 127.0.0.1 alone, that finds nobody by itself."""
    options = options or Options(interface=HOST, discovery=False)
    me = identity(name)
    database = await Database.open(tmp_path / f"{name}.sqlite")
    events: list[Event] = []
    moving = MovableClock()
    journal = SqliteJournal(database, me.peer_id)
    keys = ChannelKeys(database)
    node = Node(
        me,
        journal,
        options,
        events.append,
        trace or Trace(),
        moving,
        keys=keys,
        protocols=protocols,
    )
    node.nick = node.mesh.channels.nick = name
    running = Host(name, node, database, moving, events)
    try:
        for channel in channels:
            await running.join(channel)
        ready = asyncio.Event()
        task = asyncio.create_task(node.run(ready))
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                await task
            yield running
        finally:
            waiting.cancel()
            crashed = task.done()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert not crashed, f"{name} ended by itself: {task}"
    finally:
        await database.close()


async def meet(one: Host, *others: Host) -> None:
    """Let `one` dial the others, and wait until all see each other."""
    for other in others:
        await one.node.mesh.connect(HOST, other.port)
    await until(
        lambda: all(one.is_up(other) and other.is_up(one) for other in others),
        f"{one.name} and {[other.name for other in others]} see each other",
    )


# --- One channel, and who is not in it ---------------------------------------------------------

TEA, TEA_SECRET = channel_of("tea")


@asynccontextmanager
async def session(
    to: Host,
    protocol: str,
    secret: bytes,
    name: str = "eve",
    local: str = HOST,
    payloads_max: int = 1,
) -> AsyncIterator[SecureStream]:
    """Eve's connection for a session with `to`, with her proof of a channel sent."""
    stream = await SecureStream.dial(HOST, to.port, identity(name), draw_key, local_address=local)
    proofs = Proofs(stream.role, stream.handshake_hash, {TEA: plain(secret)})
    proved = [Proof(mac, payloads_max) for mac in proofs.opening()]
    stream.send_batch([encode(Open(protocol, 0)), *map(encode, proved)])
    try:
        yield stream
    finally:
        stream.close()
        await stream.wait_closed()


async def next_frame(stream: SecureStream) -> Frame:
    """The next frame on a stream; `EOFError` when there is none."""
    async with asyncio.timeout(PATIENCE_S):
        data = await stream.receive()
    if data is None:
        raise EOFError
    return decode(data)


def texts(count: int, size: int = 0, filler: str = ".") -> list[str]:
    """Numbered lines, filled up to `size` characters."""
    return [f"line {number}".ljust(size, filler) for number in range(count)]


async def write_all(writer: Host, lines: list[str]) -> None:
    """Write many lines, a few hundred at a time, as a person's queue allows."""
    for start in range(0, len(lines), 500):
        await asyncio.gather(*(writer.write(TEA, line) for line in lines[start : start + 500]))
