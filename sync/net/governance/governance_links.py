"""Governed channels between the mesh and the machines: who is in, ops both ways, their secrets."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Protocol

from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import OpId
from sync.errors import RemoteError
from sync.group import values
from sync.group.governing import Governing
from sync.group.group import Group
from sync.machine import ChannelId, PeerId
from sync.net.governance.handed_over import HandedOver
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.links.frames import Told
from sync.net.links.mesh import Mesh
from sync.runner.journal import Journal
from sync.view.view import FrameKind


class Host(Protocol):
    """The node, as far as governed channels lead back to it."""

    mesh: Mesh
    secrets: ChannelSecrets

    @property
    def groups(self) -> Mapping[ChannelId, Group]:
        """The machines of our channels."""

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to a channel's machines."""

    def refused(self, who: str, reason: str) -> None:
        """Count what was refused."""

    def noted(
        self, channel: ChannelId, peer: PeerId, kind: FrameKind, data: bytes, *, sent: bool
    ) -> None:
        """Note a frame for whoever looks at the wire."""

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """Run `work` under the node's care."""

    async def patiently(
        self, read: Callable[[], Awaitable[tuple[bytes, ...]]]
    ) -> tuple[bytes, ...]:
        """Return what `read` reads, however long the disk refuses."""


class GovernanceLinks:
    """See `sync.net.links.mesh_events.GovernanceEvents`, and the module docstring."""

    def __init__(self, host: Host, journal: Journal, me: PeerId) -> None:
        self.on_governed: Callable[[ChannelId, tuple[OpId, ...]], None] = lambda _channel, _ops: (
            None
        )
        """Is told of ops that are committed, and with none of those the disk had; takes note only.
        """
        self.on_secret: Callable[[ChannelId, EpochSecret], None] = lambda _channel, _epoch: None
        """Is told of a secret that a member handed over and that is believed; takes note only."""
        self.on_told: Callable[[PeerId, ChannelId, Told], None] = lambda _peer, _channel, _told: (
            None
        )
        """Is told why a peer gives us nothing of a channel, as it says; takes note only."""
        self._host = host
        self._journal = journal
        self._me = me
        self._handed_over = HandedOver(self._believed, host.refused)

    # --- What the mesh tells and asks ----------------------------------------------------------

    def is_in(self, peer: PeerId, channel: ChannelId) -> bool | None:
        """See `sync.net.links.mesh_events.GovernanceEvents`."""
        governing = self._governing(channel)
        return None if governing is None else governing.is_in(peer)

    def governs(self, peer: PeerId, channel: ChannelId, *, here: bool) -> None:
        """See `sync.net.links.mesh_events.GovernanceEvents`."""
        self._host.queue_input(channel, values.GovernanceLinked(peer, here))

    def op_came(self, peer: PeerId, channel: ChannelId, content: bytes) -> None:
        """See `sync.net.links.mesh_events.GovernanceEvents`."""
        self._host.noted(channel, peer, FrameKind.OP, content, sent=False)
        self._host.queue_input(channel, values.OpsArrived(peer, (content,)))

    def heartbeat_came(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """See `sync.net.links.mesh_events.GovernanceEvents`."""
        self._host.noted(channel, peer, FrameKind.HEARTBEAT, payload, sent=False)
        self._host.queue_input(channel, values.HeartbeatArrived(peer, payload))

    def is_unaware(self, peer: PeerId, channel: ChannelId, payload: bytes) -> bool:
        """See `sync.net.links.mesh_events.GovernanceEvents`."""
        governing = self._governing(channel)
        try:
            return governing is not None and governing.is_unaware(peer, payload)
        except RemoteError as error:
            self._host.refused(peer, str(error))
            return False

    def secret_came(self, peer: PeerId, channel: ChannelId, given: EpochSecret) -> None:
        """See `sync.net.links.mesh_events.GovernanceEvents`."""
        if given in self._host.secrets.known(channel):
            return
        self._handed_over.keep(peer, channel, given)
        if self.has_op(channel, given.op):
            self._look_at(channel, OpId(given.op))

    def told(self, peer: PeerId, channel: ChannelId, told: Told) -> None:
        """See `sync.net.links.mesh_events.GovernanceEvents`.

        Somebody who is out by all that is known here cannot have us ask: it might say so for ever.
        """
        if told is Told.OUT and self.is_in(peer, channel) is not False:
            self._host.queue_input(channel, values.OpsOffered(peer))
        self.on_told(peer, channel, told)

    # --- What the machines want ----------------------------------------------------------------

    def governed(self, channel: ChannelId, ops: tuple[OpId, ...]) -> None:
        """See `sync.net.outlet.Host`: levels follow at once, before anything more is sent."""
        governing = self._governing(channel)
        if governing is None:
            return
        if governing.governance.dag.acts:
            now = governing.governance.now
            newest = governing.governance.dag.acts[now.epoch].id
            self._host.secrets.set_newest(channel, newest)
        self._host.mesh.channels.weigh_all(channel)
        for op in self._handed_over.awaited(channel, ops):
            self._look_at(channel, op)
        self.on_governed(channel, ops)

    def load_ops(self, channel: ChannelId, wanted: values.LoadOps) -> None:
        """Load ops for a peer, and feed them."""
        self._host.spawn("ops", self._load_ops(channel, wanted))

    async def _load_ops(self, channel: ChannelId, wanted: values.LoadOps) -> None:
        load = partial(self._journal.load_ops, channel, wanted.ops)
        contents = await self._host.patiently(load)
        self._host.queue_input(channel, values.OpsLoaded(wanted.peer, contents, wanted.more))

    def has_ops(self, channel: ChannelId) -> bool:
        """See `sync.net.links.catch_ups.Host`."""
        governing = self._governing(channel)
        return governing is not None and bool(governing.governance.dag.acts)

    def has_op(self, channel: ChannelId, op: bytes) -> bool:
        """Return whether an op is here."""
        governing = self._governing(channel)
        return governing is not None and op in governing.governance.dag.numbers

    # --- Secrets -------------------------------------------------------------------------------

    def learn_epoch(self, channel: ChannelId, epoch: EpochSecret) -> None:
        """Know the secret of an epoch from now on: it is tried and proved on every link."""
        if self._host.secrets.add_epoch(channel, epoch):
            self._host.mesh.channels.join(channel)

    def _look_at(self, channel: ChannelId, op: OpId) -> None:
        """Load the op of a secret that was handed over, and see whether it is right."""
        self._host.spawn("a secret handed over", self._check_secret(channel, op))

    async def _check_secret(self, channel: ChannelId, op: OpId) -> None:
        load = partial(self._journal.load_ops, channel, (op,))
        for content in await self._host.patiently(load):
            self._handed_over.check(channel, content)

    def _believed(self, channel: ChannelId, epoch: EpochSecret) -> None:
        self.learn_epoch(channel, epoch)
        self.on_secret(channel, epoch)

    def _governing(self, channel: ChannelId) -> Governing | None:
        group = self._host.groups.get(channel)
        return None if group is None else group.governing
