"""A simulated participant as `sync.view.view` shows it: no screen can tell it from a live one.

Rule: nothing here changes the world; who shows a view also lets the world's time pass.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from sync.calimero.governance.ops import OpId
from sync.entries.entry import Entry
from sync.entries.membership import Membership
from sync.errors import LocalError
from sync.group.group import Group
from sync.group.values import (
    Broadcast,
    BroadcastStored,
    ClockJudged,
    Deliver,
    DeliveryChanged,
    Effect,
    Found,
    Governed,
    Missing,
    Written,
)
from sync.machine import SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.runner.batch import Release
from sync.sds.message import Delivery
from sync.sim.disk import Disk
from sync.sim.history import SimulatedHistory
from sync.sim.world import World
from sync.view.acts import looks_after, looks_of, told_of
from sync.view.frame_tap import Tap
from sync.view.governance_infos import GovernanceInfo, Person
from sync.view.happenings import Happenings
from sync.view.inspector import Inspector
from sync.view.projection import (
    channel_info,
    clock_info,
    event_of,
    heard_infos,
    session_infos,
    text_of,
    with_logs,
)
from sync.view.view import (
    NOT_ASKED,
    AheadShown,
    ChannelInfo,
    ClockInfo,
    ClockShown,
    Event,
    Line,
    LineChanged,
    MessageShown,
    PeerInfo,
    PeerState,
    PendingShown,
    PreviewShown,
    ReplacedShown,
    SessionInfo,
    Snapshot,
    TypingShown,
    TypistInfo,
)

TRACE_MAX: Final = 50
"""Steps of the engine kept for the debug pane, as many as a live node shows."""

NETWORK: Final = "A simulated network: nothing leaves this program."


class SimulatedView:
    """View of participant `number` of `world`.

    Args:
        world: every simulated participant, of whom this is one.
        number: which one.
        names: what the participants are called, in the order of their numbers.
        channel: the channel to show; None for the first one of the world.
    """

    def __init__(
        self, world: World, number: int, names: Sequence[str], channel: ChannelId | None = None
    ) -> None:
        self._world, self._node = world, world.nodes[number]
        self._channel = channel or world.channel
        self._names = {
            node.identity.peer_id: name for node, name in zip(world.nodes, names, strict=True)
        }
        self._subscribers: list[Callable[[Event], None]] = []
        self._steps: deque[tuple[Nanos, list[str]]] = deque(maxlen=TRACE_MAX)
        self._last_seen: dict[PeerId, Nanos] = {}
        world.listeners.append(self._note)
        tap = self._node.tap = self._node.tap or Tap()
        self._happenings = Happenings(self._groups, world.now + self._node.machine_offset)
        self.inspection = Inspector(self._groups, tap, self._happenings)

    def _groups(self) -> dict[ChannelId, Group]:
        return {} if self._node.runner is None else self._node.runner.groups

    @property
    def history(self) -> SimulatedHistory:
        """The messages on the participant's disk."""
        return SimulatedHistory(self._channel, self._disk, self._named, self._nick_of)

    @property
    def _membership(self) -> Membership:
        first = self._channel == self._world.channel
        return self._world.membership if first else self._world.rooms[self._channel].membership

    @property
    def _disk(self) -> Disk:
        return self._node.disks[self._channel]

    def _governance(self, info: ChannelInfo) -> GovernanceInfo | None:
        """Return what is known of governance, with the levels of links, which are the world's."""
        levels = self._world.levels
        if info.governance is None or levels is None or levels.channel != info.channel:
            return info.governance
        others = [self._world.nodes[number] for number in sorted(self._node.joined)]
        told = tuple(
            [(one.identity.peer_id, levels.level(self._node, one).name.lower()) for one in others]
        )
        return replace(info.governance, levels=told)

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns the way out."""
        self._subscribers.append(listener)
        return lambda: self._subscribers.remove(listener)

    def snapshot(self) -> Snapshot:
        """Return what is true now, as a live node does; without channels while it is down."""
        node = self._node
        self._see_peers()
        channels: tuple[ChannelInfo, ...] = ()
        sessions: tuple[SessionInfo, ...] = ()
        if node.runner is not None:
            group = node.runner.groups[self._channel]
            info = channel_info(group, self._membership, self._nick_of)
            typists = [TypistInfo(one.peer, self._names[one.peer]) for one in info.typists]
            channels = (replace(info, typists=tuple(typists), governance=self._governance(info)),)
            sessions = session_infos([group])
        return Snapshot(
            me=node.identity.peer_id,
            nick=self._names[node.identity.peer_id],
            now=self._world.now + node.machine_offset,
            port=None,
            interface="",
            network=NETWORK,
            channels=channels,
            peers=self._peers(),
            sessions=sessions,
            heard=heard_infos(self._groups().values(), self._nick_of),
            trace=tuple([_step(at, effects) for at, effects in self._steps]),
            clock=self._clock_info(),
        )

    def answer_clock(self, *, follow: bool) -> None:
        """Answer the question about the participant's clock.

        Raises:
            LocalError: nothing is asked about it now.
        """
        if self._clock_info().question is None:
            raise LocalError(NOT_ASKED)
        self._world.answer_clock(self._node.number, follow=follow)

    def _clock_info(self) -> ClockInfo:
        now = self._world.now + self._node.machine_offset
        return clock_info(self._groups(), now, self._nick_of)

    def _peers(self) -> tuple[PeerInfo, ...]:
        """Everybody who was ever connected, in the order of their numbers."""
        peers: list[PeerInfo] = []
        for node in self._world.nodes:
            peer = node.identity.peer_id
            if peer in self._last_seen:
                here = node.number in self._node.joined
                peers.append(
                    PeerInfo(
                        peer=peer,
                        nick=self._names[peer],
                        state=PeerState.UP if here else PeerState.DOWN,
                        address="simulated",
                        last_seen_ns=self._last_seen[peer],
                        syncing=here and peer in self._syncing(),
                    )
                )
        runner = self._node.runner
        if runner is None:
            return tuple(peers)
        return tuple([with_logs(runner.announcing, peer) for peer in peers])

    def _syncing(self) -> set[PeerId]:
        runner = self._node.runner
        return set() if runner is None else set(runner.groups[self._channel].sessions.by_peer)

    def _see_peers(self) -> None:
        now = self._world.now + self._node.machine_offset
        for number in self._node.joined:
            self._last_seen[self._world.nodes[number].identity.peer_id] = now

    def _note(self, number: int, release: Release) -> None:
        """Take note of what a participant lets out; this one's is shown."""
        if number != self._node.number:
            return
        self._see_peers()
        now = self._world.now
        self._happenings.note_effect(
            now + self._node.machine_offset, release.channel, release.effect
        )
        if not self._steps or self._steps[-1][0] != now:
            self._steps.append((now, []))
        self._steps[-1][1].append(_word(release.effect))
        if isinstance(release.effect, Governed):
            told = self._told_of(release.channel, release.effect.ops)
            for one in [*told, *looks_after(release.channel, told)]:
                self._tell(one)
            return
        event: Event | None
        if isinstance(release.effect, ClockJudged):
            event = ClockShown(self._clock_info())
        else:
            me = self._node.identity.peer_id
            event = event_of(release.channel, release.effect, me, self._load)
        if isinstance(release.effect, Written):
            event = self._replaced(release.channel, release.effect.message_id)
        if isinstance(event, MessageShown | PreviewShown | LineChanged | PendingShown):
            event = replace(event, line=self._named(event.line))
        elif isinstance(event, TypingShown | AheadShown):
            event = replace(event, nick=self._names[event.peer])
        if event is not None:
            self._tell(event)
        if isinstance(event, MessageShown | LineChanged):
            governing = self._groups()[release.channel].governing
            for looks in looks_of(event.line, governing):
                self._tell(looks)

    def _tell(self, event: Event) -> None:
        for subscriber in list(self._subscribers):
            subscriber(event)

    def _told_of(self, channel: ChannelId, ops: Sequence[OpId]) -> Sequence[Event]:
        governing = self._groups()[channel].governing
        assert governing is not None
        me = self._node.identity.peer_id
        return told_of(channel, governing.governance, ops, me, self._nick_of)

    def _replaced(self, channel: ChannelId, message_id: MessageId) -> ReplacedShown | None:
        """Return that an own message stands for another one, if it does."""
        old = text_of(self._disk.load(message_id).entry).replaces
        return ReplacedShown(channel, MessageId(old), message_id) if old else None

    def _load(self, deliver: Deliver) -> tuple[Entry, Delivery | None]:
        loaded = self._disk.load(deliver.message_id)
        return loaded.entry, loaded.delivery

    def _nick_of(self, peer: PeerId) -> str:
        return self._names.get(peer, "")

    def _named(self, line: Line) -> Line:
        by = line.hidden_by
        hidden_by = None if by is None else Person(by.peer, self._nick_of(by.peer))
        return replace(line, nick=self._names[line.author], hidden_by=hidden_by)


def _word(effect: Effect) -> str:
    """Return an effect in short."""
    name = type(effect).__name__
    match effect:
        case Broadcast(payload):
            return f"{name} {len(payload)} B"
        case Written() | Deliver() | DeliveryChanged() | Missing() | Found() | BroadcastStored():
            return f"{name} {effect.message_id[:6]}"
        case _:
            return name


def _step(at: Nanos, effects: Sequence[str]) -> str:
    seconds = at // SECOND % 86_400
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{clock}.{at // 1_000_000 % 1000:03} {', '.join(effects)}"
