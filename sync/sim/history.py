"""The history of a simulated participant, read from its whole disk, which is small."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from sync.calimero.governance.ops import OpId
from sync.calimero.late_lines import LateLines
from sync.entries.changes import CHANGING, change_of
from sync.entries.entry import Entry
from sync.group.status import UNSENT
from sync.group.values import (
    Status,
)
from sync.machine import ChannelId, MessageId, PeerId
from sync.sim.disk import Disk
from sync.sim.governance.hiding import governance_of
from sync.view.acts import ActLines
from sync.view.causal_walk import CHILDREN_MAX, Kin, as_it_looks, walk
from sync.view.finding import Wanted, folded, words_in
from sync.view.line_looks import changed
from sync.view.message_infos import ChangeInfo, StoredInfo
from sync.view.projection import (
    line_of,
)
from sync.view.replies import Node, in_order
from sync.view.view import (
    Answers,
    CausalNode,
    Line,
    Place,
    Position,
    Unshown,
)


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
        places = self._places(channel)
        earlier = [one for one in places if before is None or one < before]
        return self._lines(earlier[-limit:])

    async def page_after(
        self, channel: ChannelId, *, after: Position, limit: int
    ) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        later = [one for one in self._places(channel) if one > after]
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

    async def pending(self, channel: ChannelId, *, limit: int) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        if channel != self._channel:
            return []
        entries = [one.entry for one in self._disk.pending.values()]
        lines = [
            replace(line_of(channel, one, self._disk.me, None, after_gap=False), pending=True)
            for one in entries
            if one.header.kind not in CHANGING
        ]
        return sorted(map(self._named, lines[:limit]), key=lambda line: line.position)

    async def predecessor(self, channel: ChannelId) -> None:
        """See `sync.view.view.History`; no channel of a simulation goes on from another."""

    async def count(self, channel: ChannelId) -> int:
        """See `sync.view.view.History`."""
        return len(self._positions(channel))

    async def named(self, channel: ChannelId, prefix: str, *, limit: int) -> Sequence[Line]:
        """See `sync.view.view.History`."""
        ids = sorted(one for _, one in self._places(channel) if one.startswith(prefix))
        return [self._line(message_id) for message_id in ids[:limit]]

    async def find(self, wanted: Wanted, *, limit: int) -> Sequence[Line]:
        """See `sync.view.view.History`; the order is that of the channel."""
        if self._channel not in wanted.channels:
            return []
        words = [folded(word) for word in words_in(wanted.words)]
        lines = self._lines(self._places(self._channel))
        found = [
            line
            for line in lines
            if (wanted.fits(line) if line.act is None else _is_act(line, wanted, words))
        ]
        return found[::-1][:limit]

    async def fitting(self, wanted: Wanted) -> int:
        """See `sync.view.view.History`."""
        return len(await self.find(wanted, limit=len(self._positions(self._channel))))

    async def answered(
        self, channel: ChannelId, message_ids: Sequence[MessageId]
    ) -> dict[MessageId, Line | Unshown]:
        """See `sync.view.view.History`; nobody is blocked in a simulation."""
        here = {one for _, one in self._positions(channel)}
        held = self._disk.rows.keys() | self._disk.pending.keys()
        if channel != self._channel:
            held = set()
        return {
            one: self._line(one) if one in here else _unshown(waits=one in held)
            for one in message_ids
        }

    async def answers(self, channel: ChannelId, message_id: MessageId, *, limit: int) -> Answers:
        """See `sync.view.view.History`; the disk is small, so all replies are looked through."""
        below: dict[MessageId, list[Line]] = {}
        for line in self._lines(self._positions(channel)):
            if line.reply_to is not None:
                below.setdefault(line.reply_to, []).append(line)
        nodes: dict[MessageId, Node] = {}
        level, depth = [message_id], 1
        while level:
            found = [(line, one) for one in level for line in below.pop(one, ())]
            nodes |= {
                line.message_id: Node(line.message_id, line.lamport, one, depth)
                for line, one in found
            }
            level, depth = [line.message_id for line, _ in found], depth + 1
        kept = list(nodes.values())[:limit]
        told = [(self._line(one), depth) for one, depth in in_order(message_id, kept)]
        return Answers(tuple(told), len(nodes) > limit)

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
        goes_back = bool(self._disk.ops) and self._late_lines().goes_back(message_id)
        return StoredInfo(row.message.payload, row.message.waku_hash, tuple(changes), goes_back)

    def _positions(self, channel: ChannelId) -> list[Position]:
        return self._disk.lines() if channel == self._channel else []

    def _places(self, channel: ChannelId) -> list[Position]:
        """Return the places of messages and acts, in their one order."""
        places = self._positions(channel)
        if channel == self._channel and self._disk.ops:
            acts = governance_of(self._channel, self._disk.ops).dag.acts
            places += [(act.lamport, MessageId(act.id.hex())) for act in acts]
        return sorted(places)

    def _lines(self, positions: Sequence[Position]) -> list[Line]:
        return [self._line(message_id) for _, message_id in positions]

    def _line(self, message_id: MessageId) -> Line:
        if (op := OpId(bytes.fromhex(message_id))) in self._disk.ops:
            governance = governance_of(self._channel, self._disk.ops)
            lines = ActLines(self._channel, governance, self._disk.me, self._nick_of)
            return lines.line(governance.act(op))
        loaded = self._disk.load(message_id)
        line = line_of(
            self._channel,
            loaded.entry,
            self._disk.me,
            loaded.delivery,
            after_gap=loaded.after_gap and self._lacks(loaded.entry),
        )
        line = changed(line, self._disk.look(message_id), self._disk.me)
        if self._disk.ops:
            line = replace(line, late=self._late_lines().of(line.author, message_id))
        return self._named(line)

    def _late_lines(self) -> LateLines:
        return LateLines(governance_of(self._channel, self._disk.ops), DiskEntries(self._disk))

    def _lacks(self, entry: Entry) -> bool:
        """Return whether some parent of a message is not delivered by now."""
        rows = [self._disk.rows.get(parent.message_id) for parent in entry.header.parents]
        return any(row is None or row.status is not Status.DELIVERED for row in rows)


class DiskEntries:
    """Entries on a simulated disk (`sync.calimero.late_lines.Shelf`)."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def entry(self, message_id: MessageId) -> Entry | None:
        """See `Shelf`."""
        row = self._disk.rows.get(message_id)
        return None if row is None else row.message.entry

    def contradicts(self, author: PeerId, log: int) -> bool:
        """See `Shelf`."""
        return any((one.author, one.log) == (author, log) for one in self._disk.contradictions)

    def backlink(self, entry: MessageId) -> MessageId | None:
        """See `Shelf`."""
        found = self.entry(entry)
        before = None if found is None else found.header.backlink
        return None if before is None else MessageId(before)


def _unshown(*, waits: bool) -> Unshown:
    return Unshown.WAITS if waits else Unshown.ABSENT


def _is_act(line: Line, wanted: Wanted, words: Sequence[str]) -> bool:
    """Return whether an act is wanted: of each word something in it has the beginning."""
    assert line.act is not None
    people = [line.nick, *[one.nick for one in line.act.people]]
    told = folded(" ".join([*people, line.act.reason, line.act.kind.value]))
    return not wanted.is_of_texts and all(word in told for word in words)


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
