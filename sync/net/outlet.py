"""Carries out the live node's effects: frames to links and streams, and events to the UI.

Rule: nothing gets here before the commit it depends on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from sync.entries.entry import Entry
from sync.group import values
from sync.machine import ChannelId, MessageId, PeerId
from sync.net.clock import Clock
from sync.net.disk_loads import DiskLoads
from sync.net.engine.engine import Engine
from sync.net.governance.governance_links import GovernanceLinks
from sync.net.links.catch_ups import CatchUps
from sync.net.links.mesh import Mesh
from sync.net.links.session_streams import SessionStreams
from sync.net.staged_previews import StagedPreviews
from sync.net.writing import Writing
from sync.runner.journal import Loaded, Retriever
from sync.runner.logbook import Logbook
from sync.sds.message import Delivery
from sync.sds.wire import decode, encode
from sync.view.frame_tap import Tap
from sync.view.happenings import Happenings
from sync.view.projection import event_of
from sync.view.view import Event, FrameKind, HistoryShown, Notice, SyncShown


class Host(Protocol):
    """The node, as far as effects lead back to it."""

    retriever: Retriever | None
    engine: Engine
    governance: GovernanceLinks
    previews: StagedPreviews
    loads: DiskLoads
    writing: Writing

    def clock_judged(self) -> None:
        """The question about our clock is another one."""

    def refused(self, who: str, reason: str) -> None:
        """Count what was refused."""

    def governed(self, channel: ChannelId, ops: tuple[values.OpId, ...]) -> None:
        """Ops are committed, or those of the disk taken up: others may be in now."""

    def check_page(self, channel: ChannelId, wanted: values.CheckPage) -> None:
        """Check a page of a snapshot off the loop, and feed the outcome."""


@dataclass(slots=True)
class Outlet:
    """See `sync.net.engine.engine.Releaser`; `listener` gets every event, and only takes note."""

    me: PeerId
    host: Host
    clock: Clock
    mesh: Mesh
    streams: SessionStreams
    catch_ups: CatchUps
    logbook: Logbook
    tap: Tap
    happenings: Happenings
    listener: Callable[[Event], None]

    def carry_out(
        self, channel: ChannelId, effect: values.Effect, loaded: dict[MessageId, Loaded]
    ) -> None:
        """See `sync.net.engine.engine.Releaser`."""
        self.happenings.note_effect(self.clock.now(), channel, effect)
        match effect:
            case values.Broadcast(payload):
                self._broadcast(channel, payload)
            case values.DeliveryChanged() | values.Deliver(entry=Entry()):  # most are one of these
                self._show(channel, effect, loaded)
            case values.Written(token, message_id):
                self.host.engine.written(token, message_id)
            case values.BroadcastStored(message_id, None):
                self._broadcast_again(channel, loaded[message_id], loaded[message_id].payload)
            case values.BroadcastStored(message_id, bloom_filter):
                message = decode(loaded[message_id].payload)
                frame = encode(replace(message, bloom_filter=bloom_filter))
                self._broadcast_again(channel, loaded[message_id], frame)
            case values.Deliver(message_id, None):
                self.logbook.loaded(loaded[message_id].entry.header.lamport, 0)
                self._show(channel, effect, loaded)
            case values.Retrieve(wanted):
                if self.host.retriever is not None:
                    self.host.retriever.retrieve(channel, wanted)
            case values.LoadAuthors(requester, message_ids):
                self.host.loads.load_authors(channel, requester, message_ids)
            case values.LoadHeldBack(after, limit):
                self.host.loads.load_held_back(channel, after, limit)
            case values.ClockJudged():
                self.host.clock_judged()
            case values.WriteAnew(message_ids):
                self.host.writing.write_again(channel, message_ids)
            case values.Refused(peer, reason):
                self.host.refused(peer, reason)
            case values.Acted(token, op):
                self.host.engine.acted(token, op)
            case values.Governed() | values.SendOp() | values.SendHeartbeat():
                self._govern(channel, effect, loaded)
            case values.RequestOps() | values.LoadOps() | values.AnswerOps():
                self._catch_up(channel, effect)
            case _:
                self._carry_out_session(channel, effect, loaded)

    def _carry_out_session(
        self, channel: ChannelId, effect: values.Effect, loaded: dict[MessageId, Loaded]
    ) -> None:
        match effect:
            case values.OpenSession():
                self.streams.open(channel, effect)
            case values.SendPayload(session, payload):
                self.tapped(channel, self.streams.peer_of(session), FrameKind.SESSION, payload)
                self.streams.send(session, payload)
            case values.LoadEntries() | values.LoadNewestEntries():
                self.streams.load(channel, effect)
            case values.CheckPage():
                self.host.check_page(channel, effect)
            case values.CloseSession(session):
                self.streams.close(session)
            case values.Push():
                self.streams.push(channel, effect)
            case values.CloseTransfer(peer):
                self.streams.close_transfers(channel, peer)
            case values.LiveBegan(session):
                self.streams.stay(session)
                self._show(channel, effect, loaded)
            case values.StateSet(token):
                self.host.engine.state_set(token)
            case values.TellState(contents):
                for content in contents:
                    self.tapped(channel, None, FrameKind.STATE, content)
                self.mesh.send_state(channel, contents)
            case values.LoadHeld():
                self.host.loads.load_held(channel, effect)
            case values.TellRoot(peers, root):
                for peer in peers:
                    self.tapped(channel, peer, FrameKind.ROOT, root)
                self.mesh.send_root(channel, peers, root)
            case values.Sought() | values.Relayed():
                pass  # the manager was told
            case _:
                self._show(channel, effect, loaded)

    def _govern(
        self,
        channel: ChannelId,
        effect: values.Governed | values.SendOp | values.SendHeartbeat,
        loaded: dict[MessageId, Loaded],
    ) -> None:
        """Act on ops, and tell them."""
        match effect:
            case values.Governed(ops):
                self.host.governed(channel, ops)  # before anything else is sent to who is out
                self._show(channel, effect, loaded)
            case values.SendOp(content):
                self.tapped(channel, None, FrameKind.OP, content)
                self.mesh.send_op(channel, content)
            case values.SendHeartbeat(peers, payload):
                for peer in peers:
                    self.tapped(channel, peer, FrameKind.HEARTBEAT, payload)
                self.mesh.send_heartbeat(channel, peers, payload)

    def _catch_up(
        self, channel: ChannelId, effect: values.RequestOps | values.LoadOps | values.AnswerOps
    ) -> None:
        """Ask for ops, or give them, on a stream of its own."""
        match effect:
            case values.RequestOps(peer, payload):
                self.catch_ups.request(channel, peer, payload)
            case values.LoadOps():
                self.host.governance.load_ops(channel, effect)
            case values.AnswerOps(peer, payload):
                self.catch_ups.answer(channel, peer, payload)

    def announce(self, peer: PeerId, payload: bytes) -> None:
        """See `sync.net.engine.engine.Releaser`."""
        channel = min(self.mesh.peers.shared_with(peer), default=None)
        if channel is not None:
            self.tapped(channel, peer, FrameKind.ANNOUNCE, payload)
            self.mesh.announce(peer, payload)

    def _broadcast(self, channel: ChannelId, payload: bytes) -> None:
        self.tapped(channel, None, FrameKind.SDS, payload)
        self.mesh.broadcast(channel, payload)

    def _broadcast_again(self, channel: ChannelId, stored: Loaded, frame: bytes) -> None:
        self.logbook.loaded(stored.entry.header.lamport, len(frame))
        self._broadcast(channel, frame)

    def tapped(
        self,
        channel: ChannelId,
        peer: PeerId | None,
        kind: FrameKind,
        data: bytes,
        *,
        sent: bool = True,
    ) -> None:
        """Note a frame for whoever looks at the wire."""
        self.tap.note_frame(self.clock.now(), channel, peer, kind, data, sent=sent)

    def _show(
        self, channel: ChannelId, effect: values.Effect, loaded: dict[MessageId, Loaded]
    ) -> None:
        def load(deliver: values.Deliver) -> tuple[Entry, Delivery | None]:
            return loaded[deliver.message_id].entry, loaded[deliver.message_id].delivery

        event = event_of(channel, effect, self.me, load)
        if isinstance(event, SyncShown):
            bytes_in, bytes_out, elapsed = self.streams.cost(channel, event.peer)
            event = replace(event, bytes_in=bytes_in, bytes_out=bytes_out, elapsed_ns=elapsed)
        if event is not None:
            self.listener(event)

    def preview(self, channel: ChannelId, effect: values.Effect) -> None:
        """Show an effect that is about what is staged, or was."""
        self._show(channel, effect, {})

    def history_is_here(self, channel: ChannelId, told_from: values.LogPlace | None) -> None:
        """Tell that a channel has a history now, of which lines were told down to a place."""
        self.listener(HistoryShown(channel, told_from))

    def notify(self, notice: Notice) -> None:
        """Tell the person."""
        self.listener(notice)

    def refused(self, who: str, reason: str) -> None:
        """See `sync.net.engine.engine.Releaser`."""
        self.host.refused(who, reason)

    def send(self) -> None:
        """See `sync.net.engine.engine.Releaser`; the log waits for all of the commit."""
        self.mesh.flush()

    def flush(self) -> None:
        """Send what the effects of one commit queued; they are out, so they are in the log."""
        self.mesh.flush()
        self.logbook.let_out(self.clock.now())

    def begin_anew_in(self, channel: ChannelId) -> None:
        """See `sync.net.engine.engine.Releaser`."""
        self.streams.end_all(channel)

    def staged(self, record: values.StageSnapshot | values.DropSnapshot) -> None:
        """See `sync.net.engine.engine.Releaser`."""
        if isinstance(record, values.StageSnapshot):
            self.host.previews.staged(record)
        else:
            self.host.previews.over(record.channel)

    def swapped(self, channel: ChannelId) -> None:
        """See `sync.net.engine.engine.Releaser`."""
        self.host.previews.swapped(channel)

    def begin_anew(self) -> None:
        """The machines were made anew: their sessions are gone."""
        self.streams.close_all()
        self.catch_ups.close_all()
