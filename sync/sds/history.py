"""The local log of a channel, and what a causal history is drawn from (SDS, "Send Message")."""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import islice
from typing import TypeAlias

from sync.machine import MessageId, PeerId
from sync.sds.log import OrderedLog
from sync.sds.message import HISTORY_MAX, HistoryEntry

TIPS_MAX = 512
"""Messages kept that nobody has named: as many as may be written at once, in a large group."""

OWED_MAX = 100_000
"""Messages kept that we owe an acknowledgement; beyond it the oldest are left to resending."""

TORRENT_MAX = 1024
"""Messages of a torrent remembered: more than there are tips, and the newest, to choose from."""

Place: TypeAlias = tuple[int, HistoryEntry]
"""(lamport, entry); an entry begins with its id, so places are ordered as the log is."""


@dataclass(slots=True)
class Log:
    """Delivered message ids in (lamport, message id) order, and who has named them.

    `order` holds them all. `tips` are messages that no message names: what our next message builds
    on. `owed` are messages of others that no other author has named: what our next sync message
    acknowledges. `torrent` are messages that came faster than anybody reads, or that others may
    hold back still: no content message builds on them, or it would wait wherever they do; sync
    messages acknowledge them.
    """

    me: PeerId
    order: OrderedLog = field(default_factory=OrderedLog)
    tips: dict[MessageId, Place] = field(default_factory=dict)
    owed: dict[MessageId, HistoryEntry] = field(default_factory=dict)
    torrent: dict[MessageId, bool] = field(default_factory=dict)
    """True of those that were delivered early, or build on one: they may be held back elsewhere."""
    _newest: list[Place] = field(default_factory=list)
    _calm: list[Place] = field(default_factory=list)
    """While there is a torrent: the newest of all other messages."""
    _turn: int = 0
    """Where among the tips, if they are many, the next sync message goes on naming them."""

    def __post_init__(self) -> None:
        self._turn = sum(self.me.encode())  # each begins elsewhere, for few of a crowd will speak

    def insert(
        self,
        lamport: int,
        entry: HistoryEntry,
        history: Iterable[HistoryEntry],
        *,
        is_tip: bool = True,
    ) -> None:
        """Add a delivered message at its place ("Resolve Conflicts"); `history` is what it names.

        A message that another one named before it came is no tip.
        """
        self.order.insert(lamport, entry.message_id, entry.sender_id)
        if self.tips:
            for parent in history:
                self.tips.pop(parent.message_id, None)
        place = (lamport, entry)
        if is_tip:
            self._add_tip(place)
        self._remember(place)

    def pours(self, message_id: MessageId, *, early: bool = False) -> None:
        """Build on this one only when the torrent that it is part of has been over for a while."""
        if not self.torrent:
            self._calm = list(self._newest)
        self.torrent[message_id] = early or self.torrent.get(message_id, False)
        if len(self.torrent) > TORRENT_MAX:
            del self.torrent[next(iter(self.torrent))]

    def is_on_early(self, history: Iterable[HistoryEntry]) -> bool:
        """Return whether one of these is part of the torrent because it was delivered early."""
        torrent = self.torrent
        return bool(torrent) and any(torrent.get(entry.message_id) for entry in history)

    def owe(self, entry: HistoryEntry) -> None:
        """Name `entry` in our next sync message: its author does not know that we have it."""
        assert entry.sender_id != self.me
        if len(self.owed) >= OWED_MAX:
            del self.owed[next(iter(self.owed))]
        self.owed[entry.message_id] = entry

    def named(self, history: Iterable[HistoryEntry], by: PeerId) -> None:
        """Note that `by` named these: whoever wrote them knows now, if it was somebody else."""
        owed = self.owed
        if not owed:
            return
        for entry in history:
            owing = owed.get(entry.message_id)
            if owing is not None and owing.sender_id != by:
                del owed[entry.message_id]

    def history_with(self, names: tuple[HistoryEntry, ...], size: int) -> tuple[HistoryEntry, ...]:
        """Return `names`, and what every message names beside them; at most 16 together."""
        regular = self.content_history(size)
        if not names:
            return regular
        known = {entry.message_id: entry for entry in (*names, *regular)}
        return tuple(known.values())[:HISTORY_MAX]

    def content_history(self, size: int) -> tuple[HistoryEntry, ...]:
        """Return the newest tips, then the newest messages, up to `size`, oldest first."""
        newest, tips = self._newest, self.tips
        if self.torrent:
            newest = self._calm
            tips = {id_: place for id_, place in tips.items() if id_ not in self.torrent}
        elif self._in_line():
            return self._last(size)
        chosen = nlargest(size, tips.values()) if len(tips) > size else list(tips.values())
        for place in reversed(newest):
            if len(chosen) >= size:
                break
            if place not in chosen:
                chosen.append(place)
        chosen.sort()
        return tuple([entry for _, entry in chosen])

    def sync_history(self, size: int) -> tuple[HistoryEntry, ...]:
        """Return what we owe, oldest first, and what a content message would name; at most 16.

        Where nothing is owed, the tips are named once more, in turn, and then the newest messages:
        an acknowledgement may have been lost, or a message, and either is noticed by this. That a
        tip was lost is noticed by nothing else.
        """
        if not self.owed and self._in_line():
            return self._last(HISTORY_MAX)
        regular = self.content_history(size)
        room = HISTORY_MAX - len(regular)
        entries = list(islice(self.owed.values(), room)) or self._once_more(regular, room)
        return tuple({entry.message_id: entry for entry in (*entries, *regular)}.values())

    def _once_more(self, regular: tuple[HistoryEntry, ...], room: int) -> list[HistoryEntry]:
        named = {entry.message_id for entry in regular}
        tips = [entry for _, entry in sorted(self.tips.values()) if entry.message_id not in named]
        if len(tips) > room:
            turn = self._turn % len(tips)
            self._turn = turn + room
            return [*tips[turn:], *tips[:turn]][:room]
        named.update([entry.message_id for entry in tips])
        others = [entry for _, entry in self._newest if entry.message_id not in named]
        return [*others[max(0, len(others) - room + len(tips)) :], *tips]

    def _in_line(self) -> bool:
        """Return whether there is no tip except, possibly, the newest message."""
        tips = self.tips
        return not tips or (len(tips) == 1 and self._newest[-1][1].message_id in tips)

    def _last(self, count: int) -> tuple[HistoryEntry, ...]:
        """Return the newest messages, at most 16, oldest first."""
        return tuple([entry for _, entry in self._newest[-count:]])

    def is_told_by(self, history: Iterable[HistoryEntry]) -> bool:
        """Return whether a sync message that names `history` makes our next one superfluous.

        One that names less than ours would is not enough: a few who speak often, and know little,
        would keep all others silent.
        """
        if len(self.tips) > HISTORY_MAX:
            return True
        return {entry.message_id for entry in history}.issuperset(self.tips)

    def restore_tip(self, lamport: int, entry: HistoryEntry) -> None:
        """Put back a message that nobody names, after a start."""
        self._add_tip((lamport, entry))
        self._remember((lamport, entry))

    def restore_newest(self, lamport: int, entry: HistoryEntry) -> None:
        """Put back one of the newest messages, which another one names, after a start."""
        self._remember((lamport, entry))

    def _add_tip(self, place: Place) -> None:
        self.tips[place[1].message_id] = place
        if len(self.tips) > TIPS_MAX:
            newest = sorted(self.tips.values())[TIPS_MAX // 8 :]  # many at once: rarely
            self.tips = {tip[1].message_id: tip for tip in newest}

    def _remember(self, place: Place) -> None:
        newest = self._newest
        if not newest or place > newest[-1]:
            newest.append(place)
        else:
            insort(newest, place)
        if len(newest) > HISTORY_MAX:
            del newest[0]
        if self.torrent and place[1].message_id not in self.torrent:
            insort(self._calm, place)
            del self._calm[:-HISTORY_MAX]
