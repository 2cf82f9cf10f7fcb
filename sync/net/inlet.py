"""The way in: links and streams to peers, and what they tell, which the machines get as inputs.

The way out is `sync.net.outlet`.
"""

import random
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

from sync.calimero.message import STREAM
from sync.entries.identity import Identity
from sync.group import values
from sync.group.clock_values import Follows
from sync.machine import ChannelId, PeerId
from sync.net import clock as system
from sync.net.clocks import Clocks
from sync.net.direct_requests import Knocks
from sync.net.disk_loads import DiskLoads
from sync.net.engine.engine import Engine
from sync.net.governance.governance_links import GovernanceLinks
from sync.net.links.addresses import Addresses
from sync.net.links.catch_ups import CatchUps
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.links.frames import Open, RootFrame, StateFrame
from sync.net.links.listener import Serve
from sync.net.links.mesh import Mesh
from sync.net.links.session_streams import SessionStreams
from sync.net.links.stream import SecureStream
from sync.net.peer_directory import Roster
from sync.net.refusals import Refusals
from sync.runner.runner import Runner
from sync.structures.link_trips import slow_links
from sync.view.frame_tap import Tap
from sync.view.view import Event, FrameKind, Level, Notice

TWIN: Final = (
    "This profile answers at {host}:{port}, too: it is open twice, unless somebody there only "
    "passes connections on to this computer. Others reach one of the two at a time, and lines "
    "wait in the other one. Close one; a second computer needs a profile of its own."
)


class Host(Protocol):
    """The node, as far as what peers do leads to it; the first three are there before the links."""

    secrets: ChannelSecrets
    refusals: Refusals
    governance: GovernanceLinks
    engine: Engine
    loads: DiskLoads
    clocks: Clocks

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """Run `work` under the node's care."""


class Inlet:
    """Hears the mesh (`sync.net.links.mesh_events.Events`) and serves the streams beside it.

    `listener` gets every event; it must only take note and return.
    """

    def __init__(
        self,
        identity: Identity,
        host: Host,
        clock: system.Clock,
        runner: Runner,
        tap: Tap,
        listener: Callable[[Event], None],
    ) -> None:
        self.governance = host.governance
        """See `sync.net.links.mesh_events.Events`."""
        self._host = host
        self._clock = clock
        self._runner = runner
        self._tap = tap
        self._listener = listener
        protocols = runner.protocols
        addresses = Addresses(random.Random(system.draw(32)))  # noqa: S311  # only delays
        self.mesh = Mesh(identity, clock, host.secrets, addresses, self, host.spawn)
        self.mesh.channels.protocols = protocols.announced
        self.streams = SessionStreams(identity, clock, self.mesh, self, host.spawn, protocols)
        self.catch_ups = CatchUps(identity, clock, self.mesh, self, host.spawn)
        self.roster = Roster(self.mesh)
        self.knocks = Knocks(identity, self.mesh, host.secrets, self.refused)
        self._has_twin = False
        """Whether the person was told that this profile is open twice."""

    # --- What the mesh tells -------------------------------------------------------------------

    def joined(self, peer: PeerId, channel: ChannelId) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        link = self.mesh.peers.link_to(peer, channel)
        accepts = link is None or link.address[1] != 0
        host = "" if link is None else link.stream.remote_address[0]
        dialled = link is not None and link.dialled
        self.queue_input(channel, values.PeerJoined(peer, accepts, host, dialled))
        self._host.clocks.joined(peer, channel)
        self.knocked(peer)

    def knocked(self, peer: PeerId) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self.knocks.look_at(peer)

    def gone(self, peer: PeerId, channel: ChannelId) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self._host.clocks.gone(peer, channel)
        if self._host.secrets.is_governed(channel):
            self.streams.end(channel, peer)
        self.queue_input(channel, values.PeerGone(peer))

    def renamed(self, peer: PeerId) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        shown = self.roster.update(peer, self._clock.now())
        if shown is not None:
            self._listener(shown)
        self.knocked(peer)

    def announced(self, peer: PeerId, channel: ChannelId, protocols: tuple[str, ...]) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self.queue_input(channel, values.PeerAnnounced(peer, frozenset(protocols)))

    def arrived(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self.noted(channel, peer, FrameKind.SDS, payload)
        self._host.engine.queue_input(channel, values.Arrived(peer, payload))

    def stated(self, peer: PeerId, frame: StateFrame | RootFrame) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        match frame:
            case StateFrame(channel, contents):
                for content in contents:
                    self.noted(channel, peer, FrameKind.STATE, content)
                self._host.engine.queue_input(channel, values.StateArrived(peer, contents))
            case RootFrame(channel, root):
                self.noted(channel, peer, FrameKind.ROOT, root)
                self._host.engine.queue_input(channel, values.RootTold(peer, root))

    def takes_part(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self.noted(channel, peer, FrameKind.ANNOUNCE, payload)
        self._host.engine.queue_input(channel, values.LogsAnnounced(peer, payload))

    def ponged(self, peer: PeerId) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self._host.clocks.heard(peer)

    def timed(self, peer: PeerId) -> None:
        """Tell the machines which links are slow, where that has changed."""
        peers = self.mesh.peers
        link = peers.link_to(peer)
        for channel in peers.shared_with(peer):
            group = self._runner.groups.get(channel)
            if group is None or not (group.timed.slow or (link is not None and link.trip)):
                continue  # nearly always
            timed = values.LinksTimed(*slow_links(peers.trips_in(channel), group.timed.slow))
            if timed != group.timed:
                self.queue_input(channel, timed)

    def follows(self, peer: PeerId) -> Follows:
        """See `sync.net.links.mesh_events.Events`."""
        return self._host.clocks.follows(peer)

    def refused(self, who: str, reason: str) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self._host.refusals.refused(who, reason)

    def skipped(self, who: str, size: int) -> None:
        """See `sync.net.links.mesh_events.Events`."""
        self._host.refusals.skipped(who, size)

    def twin(self, host: str, port: int) -> None:
        """Tell the person, once: the lines that wait would be a riddle."""
        if not self._has_twin:
            self._has_twin = True
            self._listener(Notice(TWIN.format(host=host, port=port), Level.ERROR))

    async def offered(self, stream: SecureStream, opened: Open) -> Serve:
        """See `sync.net.links.mesh_events.Events`."""
        if opened.protocol == STREAM:
            return await self.catch_ups.offered(stream)
        return await self.streams.offered(stream, opened)

    async def breathe(self, peer: PeerId, *, transfers: bool = False) -> None:
        """Return when there is room for more from `peer`."""
        await self._host.engine.breathe(peer, transfers=transfers)

    # --- What the streams tell and ask ---------------------------------------------------------

    async def breathe_session(self, session: values.SessionId) -> None:
        """See `sync.net.links.session_streams.Host`."""
        await self._host.engine.breathe_session(session)

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines; live frames take the way of `arrived`."""
        match event:
            case values.SessionPayload(session, payload):
                peer_or_none = self.streams.peer_of(session)
                self.noted(channel, peer_or_none, FrameKind.SESSION, payload)
            case values.Transferred(peer, payload):
                self.noted(channel, peer, FrameKind.TRANSFER, payload)
            case _:
                pass
        self._host.engine.queue_input(channel, event)

    def noted(
        self,
        channel: ChannelId,
        peer: PeerId | None,
        kind: FrameKind,
        data: bytes,
        *,
        sent: bool = False,
    ) -> None:
        """See `sync.net.links.catch_ups.Host`."""
        self._tap.note_frame(self._clock.now(), channel, peer, kind, data, sent=sent)

    def pushed(self, channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        """Note a message that is pushed to a peer."""
        self.noted(channel, peer, FrameKind.TRANSFER, payload, sent=True)

    @property
    def loads(self) -> DiskLoads:
        """See `sync.net.links.session_streams.Host`."""
        return self._host.loads

    def has_ops(self, channel: ChannelId) -> bool:
        """See `sync.net.links.catch_ups.Host`."""
        return self.governance.has_ops(channel)

    def new_session(self) -> values.SessionId:
        """Return a fresh session number."""
        return self._runner.new_session()

    def receives_from(self, peer: PeerId, channel: ChannelId) -> bool:
        """See `sync.net.links.session_streams.Host`."""
        group = self._runner.groups.get(channel)
        return group is not None and group.sessions.receives_from(peer, self._clock.now())
