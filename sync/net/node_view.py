"""Returns what the UI may know of a live node, and tells what changes with what it shows."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.governance.ops import OpId
from sync.group.group import Group
from sync.machine import ChannelId, Nanos, PeerId
from sync.net.attachment import Online
from sync.net.clock import Clock
from sync.net.engine.engine import Engine
from sync.net.links.mesh import Mesh
from sync.net.peer_directory import Roster
from sync.net.refusals import Refusals
from sync.net.staged_previews import StagedPreviews
from sync.net.trace import Trace
from sync.runner.runner import Runner
from sync.view.acts import looks_after, looks_of, told_of
from sync.view.projection import (
    channel_info,
    clock_info,
    heard_infos,
    session_infos,
    with_logs,
)
from sync.view.state_projection import info_of_state
from sync.view.view import ChannelInfo, ClockInfo, Event, LineChanged, MessageShown, Snapshot


class Names(Protocol):
    """The node, as far as names go."""

    nick: str
    met_as: Callable[[PeerId], str]


class NodeView(Struct, frozen=True):
    """Reads the machines, the links and the roster; `listener` gets every event."""

    me: PeerId
    names: Names
    clock: Clock
    runner: Runner
    engine: Engine
    mesh: Mesh
    roster: Roster
    refusals: Refusals
    online: Online
    previews: StagedPreviews
    trace: Trace
    listener: Callable[[Event], None]

    def clock_info(self) -> ClockInfo:
        """Return what is thought of our clock, and asked about it."""
        return clock_info(self.runner.groups, self.clock.now(), self._nick_of)

    def governed(self, channel: ChannelId, ops: Sequence[OpId]) -> None:
        """Tell of ops that were just taken in, and what looks another way after them."""
        group = self.runner.groups.get(channel)
        told: Sequence[Event] = ()
        if group is not None and group.governing is not None:
            told = told_of(channel, group.governing.governance, ops, self.me, self._called)
        for event in [*told, *looks_after(channel, told)]:
            self.listener(event)

    def show(self, event: Event) -> None:
        """Tell an event; a line of who is out, new or changed, is read again, with its mark."""
        self.listener(event)
        if isinstance(event, MessageShown | LineChanged):
            group = self.runner.groups.get(event.line.channel)
            governing = None if group is None else group.governing
            for looks in looks_of(event.line, governing):
                self.listener(looks)

    def channel_info(self, channel: ChannelId) -> ChannelInfo | None:
        """Return what a snapshot has of one channel; None where we are not in it."""
        group = self.runner.groups.get(channel)
        return None if group is None else self._channel_info(channel, group)

    def snapshot(self) -> Snapshot:
        """See `sync.view.view.Snapshot`."""
        groups = self.runner.groups
        syncing = {peer for group in groups.values() for peer in group.sessions.by_peer}
        now = self.clock.now()
        peers = self.roster.peers(syncing, self.clock.wall() - now, self.runner.inputs.backlog)
        return Snapshot(
            me=self.me,
            nick=self.names.nick,
            now=now,
            port=self.mesh.port if self.online.interfaces else None,
            interface=", ".join(interface.address for interface in self.online.interfaces),
            network=self._network(now),
            channels=tuple(
                [self._channel_info(channel, group) for channel, group in groups.items()]
            ),
            peers=tuple([with_logs(self.runner.announcing, peer) for peer in peers]),
            sessions=session_infos(groups.values()),
            heard=heard_infos(groups.values(), self._nick_of),
            trace=self.trace.recent(50),
            longest_block_ns=self.engine.longest_block,
            refused=dict(self.refusals.counts),
            skipped_bytes=dict(self.refusals.skipped_bytes),
            away=self.mesh.channels.away,
            clock=self.clock_info(),
        )

    def _network(self, now: Nanos) -> str:
        """Return what is done to find people, and who is announced and takes no connection."""
        silent = [] if self.mesh.peers.links else self.mesh.addresses.silent(now)
        if not silent:
            return self.online.sentence
        first, *more = [f"{one.host}:{one.port}" for one in silent]
        if not more:
            return f"{first} was announced, and takes no connection: /doctor looks why."
        others = f"{len(more)} {'other' if len(more) == 1 else 'others'}"
        return f"{first} and {others} were announced, and take no connection: /doctor looks why."

    def _nick_of(self, peer: PeerId) -> str:
        return self.mesh.peers.nick_of(peer) or ""

    def _called(self, peer: PeerId) -> str:
        """Return what somebody goes by now, or went by when they were met; empty if unknown."""
        if peer == self.me:
            return self.names.nick
        return self.mesh.peers.nick_of(peer) or self.names.met_as(peer)

    def _channel_info(self, channel: ChannelId, group: Group) -> ChannelInfo:
        info = channel_info(group, self.runner.memberships[channel], self._called)
        if (staged := self.previews.current(channel, group)) is not None:
            info = replace(info, state=info_of_state(staged))
        if info.governance is None:
            return info
        governance = replace(info.governance, levels=self.mesh.channels.levels_of(channel))
        return replace(info, governance=governance)
