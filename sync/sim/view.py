"""A simulated participant as `sync.view.view` shows it: no screen can tell it from a live one.

Rule: nothing here changes the world; who shows a view also lets the world's time pass.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from sync.entries.changes import change_of
from sync.entries.entry import Entry
from sync.errors import LocalError
from sync.group.group import Group
from sync.group.status import UNSENT
from sync.group.values import (
    Broadcast,
    BroadcastStored,
    ClockJudged,
    Deliver,
    DeliveryChanged,
    Effect,
    Found,
    Missing,
    Status,
    Written,
)
from sync.machine import SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.runner.runner import Release
from sync.sds.message import Delivery
from sync.sim.disk import Disk
from sync.sim.world import World
from sync.view.causal_walk import CHILDREN_MAX, Kin, as_it_looks, walk
from sync.view.frame_tap import Tap
from sync.view.happenings import Happenings
from sync.view.inspector import Inspector
from sync.view.line_looks import changed
from sync.view.message_infos import ChangeInfo, StoredInfo
from sync.view.projection import (
    channel_info,
    clock_info,
    event_of,
    heard_infos,
    line_of,
    session_infos,
    text_of,
    with_logs,
)
from sync.view.view import (
    NOT_ASKED,
    AheadShown,
    CausalNode,
    ChannelInfo,
    ClockInfo,
    ClockShown,
    Event,
    Line,
    LineChanged,
    MessageShown,
    PeerInfo,
    PeerState,
    Place,
    Position,
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
    """

    def __init__(self, world: World, number: int, names: Sequence[str]) -> None:
        self._world, self._node = world, world.nodes[number]
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
    def history(self) -> "SimulatedHistory":
        """The messages on the participant's disk."""
        return SimulatedHistory(self._world.channel, self._node.disk, self._named, self._nick_of)

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
            group = node.runner.groups[self._world.channel]
            info = channel_info(group, self._world.membership, self._nick_of)
            typists = [TypistInfo(one.peer, self._names[one.peer]) for one in info.typists]
            channels = (replace(info, typists=tuple(typists)),)
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
        return set() if runner is None else set(runner.groups[self._world.channel].sessions.by_peer)

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
        event: Event | None
        if isinstance(release.effect, ClockJudged):
            event = ClockShown(self._clock_info())
        else:
            me = self._node.identity.peer_id
            event = event_of(release.channel, release.effect, me, self._load)
        if isinstance(release.effect, Written):
            event = self._replaced(release.channel, release.effect.message_id)
        if isinstance(event, MessageShown | PreviewShown | LineChanged):
            event = replace(event, line=self._named(event.line))
        elif isinstance(event, TypingShown | AheadShown):
            event = replace(event, nick=self._names[event.peer])
        if event is not None:
            for subscriber in list(self._subscribers):
                subscriber(event)

    def _replaced(self, channel: ChannelId, message_id: MessageId) -> ReplacedShown | None:
        """Return that an own message stands for another one, if it does."""
        old = text_of(self._node.disk.load(message_id).entry).replaces
        return ReplacedShown(channel, MessageId(old), message_id) if old else None

    def _load(self, deliver: Deliver) -> tuple[Entry, Delivery | None]:
        loaded = self._node.disk.load(deliver.message_id)
        return loaded.entry, loaded.delivery

    def _nick_of(self, peer: PeerId) -> str:
        return self._names.get(peer, "")

    def _named(self, line: Line) -> Line:
        return replace(line, nick=self._names[line.author])


class SimulatedHistory:
    """`sync.view.view.History` over `disk`; `named` gives each line its author's name."""

    def __init__(
        self,
        channel: ChannelId,
        disk: Disk,
        named: Callable[[Line], Line],
        nick_of: Callable[[PeerId], str],
    ) -> None:
        self._channel, self._disk, self._named = channel, disk, named
        self._nick_of = nick_of

    def newest(self, limit: int) -> Sequence[Line]:
        """Return the newest lines, oldest first."""
        return self._lines(self._disk.log()[-limit:])

    def held_back(self, message_ids: Iterable[MessageId]) -> Sequence[Line]:
        """Return those of messages not delivered yet that are on the disk already."""
        return [
            self._line(message_id) for message_id in message_ids if message_id in self._disk.rows
        ]

    async def page(
        self, channel: ChannelId, *, before: Position | None, limit: int
    ) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        positions = self._positions(channel)
        earlier = [one for one in positions if before is None or one < before]
        return self._lines(earlier[-limit:])

    async def page_after(
        self, channel: ChannelId, *, after: Position, limit: int
    ) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        later = [one for one in self._positions(channel) if one > after]
        return self._lines(later[:limit])

    async def parked(self, channel: ChannelId, *, limit: int) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        if channel != self._channel:
            return []
        places = sorted(
            (row.message.entry.header.lamport, message_id)
            for message_id, row in self._disk.rows.items()
            if row.status is Status.PARKED and self._disk.is_line(message_id)
        )
        lines = self._lines(places[:limit])
        rows = self._disk.rows
        return [
            replace(one, parked=True, waits=rows[one.message_id].attempts == UNSENT)
            for one in lines
        ]

    async def count(self, channel: ChannelId) -> int:
        """See `sync.view.view.History`."""
        return len(self._positions(channel))

    async def named(self, channel: ChannelId, prefix: str, *, limit: int) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        ids = sorted(one for _, one in self._positions(channel) if one.startswith(prefix))
        return [self._line(message_id) for message_id in ids[:limit]]

    async def search(self, channel: ChannelId, query: str, *, limit: int) -> Sequence[Line]:
        """Return the newest `limit` lines that have every word of `query`, oldest first."""
        words = query.casefold().split()
        lines = self._lines(self._positions(channel))
        found = [line for line in lines if all(word in line.text.casefold() for word in words)]
        return found[-limit:]

    async def mentions(self, channel: ChannelId, nick: str, *, limit: int) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        named = [line for line in self._lines(self._positions(channel)) if not line.own]
        return [line for line in named if nick.casefold() in line.text.casefold()][-limit:]

    async def causal(
        self, channel: ChannelId, message_id: MessageId, *, depth: int, limit: int
    ) -> Sequence[CausalNode]:
        """See `sync.view.view.History`."""
        if channel != self._channel:
            return []
        nodes = walk(partial(_kin, self._disk), message_id, depth, limit)
        return [
            as_it_looks(
                replace(one, nick=self._nick_of(one.author)), self._disk.look(one.message_id)
            )
            if one.author
            else one
            for one in nodes
        ]

    async def stored(self, channel: ChannelId, message_id: MessageId) -> StoredInfo | None:
        """See `sync.view.view.History`."""
        row = self._disk.rows.get(message_id)
        if channel != self._channel or row is None:
            return None
        changes = [
            ChangeInfo(one.message_id, one.header.author, one.header.created_ns, change)
            for one in self._disk.changes_of(message_id)
            if (change := change_of(one)) is not None
        ]
        return StoredInfo(row.message.payload, row.message.waku_hash, tuple(changes))

    def _positions(self, channel: ChannelId) -> list[Position]:
        return self._disk.lines() if channel == self._channel else []

    def _lines(self, positions: Sequence[Position]) -> list[Line]:
        return [self._line(message_id) for _, message_id in positions]

    def _line(self, message_id: MessageId) -> Line:
        loaded = self._disk.load(message_id)
        line = line_of(
            self._channel,
            loaded.entry,
            self._disk.me,
            loaded.delivery,
            after_gap=loaded.after_gap and self._lacks(loaded.entry),
        )
        return self._named(changed(line, self._disk.look(message_id), self._disk.me))

    def _lacks(self, entry: Entry) -> bool:
        """Return whether some parent of a message is not delivered by now."""
        rows = [self._disk.rows.get(parent.message_id) for parent in entry.header.parents]
        return any(row is None or row.status is not Status.DELIVERED for row in rows)


def _kin(disk: Disk, message_id: MessageId) -> Kin:
    """Return a message and what builds on it, read from the whole disk, which is small."""
    children = sorted(
        (row.message.entry.header.lamport, child)
        for child, row in disk.rows.items()
        if any(one.message_id == message_id for one in row.message.entry.header.parents)
    )
    near = [child for _, child in children[:CHILDREN_MAX]]
    row = disk.rows.get(message_id)
    if row is None:
        return Kin(None, Place.MISSING, near)
    place = Place.HERE if row.status is Status.DELIVERED else Place.WAITING
    return Kin(row.message.entry, place, near)


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
