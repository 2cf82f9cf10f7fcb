"""A node as the driver of governance sees it."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import Op, OpId
from sync.entries.membership import Membership
from sync.machine import ChannelId, PeerId
from sync.runner.journal import Journal
from sync.runner.runner import Runner
from sync.view.view import Notice


@dataclass(frozen=True, slots=True)
class GovernedNode:
    """See `sync.net.governing.Host`."""

    runner: Runner
    journal: Journal
    act_in: Callable[[ChannelId, Op], Awaitable[OpId]]
    learn: Callable[[ChannelId, EpochSecret], None]
    noise_key_of: Callable[[PeerId], bytes | None]
    tell: Callable[[Notice], None]
    spawn_task: Callable[[str, Coroutine[Any, Any, None]], object]

    def governance(self, channel: ChannelId) -> Governance | None:
        """See `sync.net.epochs.Host`."""
        group = self.runner.groups.get(channel)
        if group is None or group.governing is None or not group.governing.governance.dag.acts:
            return None
        return group.governing.governance

    def membership(self, channel: ChannelId) -> Membership | None:
        """See `sync.net.governing.Host`."""
        return self.runner.memberships.get(channel)

    def title(self, channel: ChannelId) -> str:
        """See `sync.net.entering.Host`."""
        return f"#{self.runner.memberships[channel].name}"

    async def load_ops(self, channel: ChannelId, ops: Iterable[OpId]) -> tuple[bytes, ...]:
        """See `sync.net.epochs.Host`."""
        return await self.journal.load_ops(channel, tuple(ops))

    async def act(self, channel: ChannelId, op: Op) -> OpId:
        """See `sync.net.entering.Host`."""
        return await self.act_in(channel, op)

    def learn_epoch(self, channel: ChannelId, secret: EpochSecret) -> None:
        """See `sync.net.epochs.Host`."""
        self.learn(channel, secret)

    def noise_key(self, peer: PeerId) -> bytes | None:
        """See `sync.net.governing.Host`."""
        return self.noise_key_of(peer)

    def notify(self, notice: Notice) -> None:
        """See `sync.net.entering.Host`."""
        self.tell(notice)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """See `sync.net.governing.Host`."""
        return self.spawn_task(name, work)
