"""A node as the driver of governance sees it."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Protocol

from msgspec import Struct

from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import Op, OpId
from sync.entries.membership import Membership
from sync.group import values
from sync.machine import ChannelId, PeerId
from sync.net.governance.governance_links import GovernanceLinks
from sync.net.links.channel_secrets import ChannelSecrets
from sync.runner.journal import Journal
from sync.runner.runner import Runner
from sync.view.view import Notice


class Node(Protocol):
    """The parts of `sync.net.node.Node` that acts need."""

    governance: GovernanceLinks
    secrets: ChannelSecrets

    async def act(self, channel: ChannelId, op: Op) -> OpId:
        """Sign an op at the heads of now and publish it; returns once it is committed."""

    async def patiently(
        self, read: Callable[[], Awaitable[tuple[bytes, ...]]]
    ) -> tuple[bytes, ...]:
        """Return what `read` reads, however long the disk refuses."""

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""

    def noise_key(self, peer: PeerId) -> bytes | None:
        """Return the Noise static key of `peer`, if it is connected."""

    def notify(self, notice: Notice) -> None:
        """Tell the person."""

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """Run `work` under the node's care."""


class GovernedNode(Struct, frozen=True):
    """See `sync.net.governance.governing.Host`; `settle` returns when all that was fed is done."""

    node: Node
    runner: Runner
    journal: Journal
    settle: Callable[[], Awaitable[None]]

    def governance(self, channel: ChannelId) -> Governance | None:
        """See `sync.net.governance.epochs.Host`."""
        group = self.runner.groups.get(channel)
        if group is None or group.governing is None or not group.governing.governance.dag.acts:
            return None
        return group.governing.governance

    def is_caught_up(self, channel: ChannelId) -> bool:
        """See `sync.net.governance.governing.Host`."""
        group = self.runner.groups.get(channel)
        return group is None or group.governing is None or group.governing.is_caught_up(group.peers)

    def membership(self, channel: ChannelId) -> Membership | None:
        """See `sync.net.governance.governing.Host`."""
        return self.runner.memberships.get(channel)

    def title(self, channel: ChannelId) -> str:
        """See `sync.net.governance.entering.Host`."""
        return f"#{self.runner.memberships[channel].name}"

    async def settled(self) -> None:
        """See `sync.net.governance.governing.Host`."""
        await self.settle()

    async def load_ops(self, channel: ChannelId, ops: Iterable[OpId]) -> tuple[bytes, ...]:
        """See `sync.net.governance.epochs.Host`."""
        return await self.node.patiently(partial(self.journal.load_ops, channel, tuple(ops)))

    async def act(self, channel: ChannelId, op: Op) -> OpId:
        """See `sync.net.governance.entering.Host`."""
        return await self.node.act(channel, op)

    def learn_epoch(self, channel: ChannelId, secret: EpochSecret) -> None:
        """See `sync.net.governance.epochs.Host`."""
        if channel in self.runner.groups:
            self.node.governance.learn_epoch(channel, secret)
        else:
            self.node.secrets.add_epoch(channel, secret)  # it is proved once it is taken up

    def ask_for_ops(self, channel: ChannelId) -> None:
        """See `sync.net.governance.governing.Host`."""
        group = self.runner.groups.get(channel)
        if group is not None and group.governing is not None:
            for peer in group.governing.nearby:
                self.node.queue_input(channel, values.OpsOffered(peer))

    def is_given_all(self, channel: ChannelId) -> bool:
        """See `sync.net.governance.governing.Host`."""
        group = self.runner.groups.get(channel)
        return group is not None and bool(group.peers)

    def next_lamport(self, channel: ChannelId) -> int:
        """See `sync.net.governance.governing.Host`."""
        group = self.runner.groups.get(channel)
        return 0 if group is None else group.sds.next_lamport(group.now)

    def noise_key(self, peer: PeerId) -> bytes | None:
        """See `sync.net.governance.governing.Host`."""
        return self.node.noise_key(peer)

    def notify(self, notice: Notice) -> None:
        """See `sync.net.governance.entering.Host`."""
        self.node.notify(notice)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """See `sync.net.governance.governing.Host`."""
        return self.node.spawn(name, work)
