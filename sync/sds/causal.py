"""Causal order of a channel: the log, the messages held back, and the missing ones.

Rules:
1. A message is delivered after its dependencies, or marked as following a gap.
2. A message that is named and not here is missing: it is looked for until it comes or is given up.
"""

from collections.abc import Collection
from typing import Final

from sync.machine import MILLISECOND, SECOND, MessageId, Nanos, PeerId
from sync.sds.coming import NOTHING, Coming
from sync.sds.events import Delivered, Effect, Found, Held, Missing, Restored
from sync.sds.history import Log
from sync.sds.incoming import MISSING_MAX, Content, Incoming, Sought
from sync.sds.message import HistoryEntry
from sync.sds.parameters import Parameters
from sync.sds.repair import Window
from sync.sds.repairs import Repairs
from sync.structures.bloom import RollingBloomFilter

FORGONE_MAX = 10_000
"""Ids remembered that count as met though they are not here; 2 MB. The oldest are looked for again
if somebody names them."""

POURING: Final = 20
"""Messages that came on one link within a second, from which on they are a torrent: as many as are
taken in their turn while others wait (`sync.runner.runner`)."""

POURED_FOR: Nanos = 60 * SECOND
"""Time after a torrent for which nothing builds on it: somebody slower may still read it."""

SLEPT: Nanos = 10 * SECOND
"""A sweep that comes this late means that the computer slept: nobody could be asked meanwhile."""

History = tuple[HistoryEntry, ...]


class Causal:
    """The receiving half of a channel, without acknowledgements and without a voice."""

    def __init__(self, me: PeerId, parameters: Parameters) -> None:
        self.lamport = 0
        self.log = Log(me)
        self.filter = RollingBloomFilter(parameters.bloom)
        self.incoming = Incoming()
        self.repairs = Repairs(me, parameters)
        self.aside: set[MessageId] = set()
        """Messages that wait for their time, outside of this machine, whose limits bound them."""
        self.coming: Coming = NOTHING
        self._came: dict[PeerId, int] = {}
        """Number of messages that came on each link since `_came_since`, a second ago at most."""
        self._pouring: frozenset[PeerId] = frozenset()
        """On which links it was a torrent in the second before that."""
        self._came_since: Nanos = 0
        self._calm_at: Nanos = 0
        """Time from which on what is a torrent now may be built on again."""
        self.forgone: dict[MessageId, None] = {}
        """Ids that count as met though they are not here."""
        self._me = me

    def holds(self, message_id: MessageId) -> bool:
        """Return whether we can give it to others: it is on our disk, delivered or held back."""
        incoming = self.incoming
        if message_id in incoming.missing:  # so it is not delivered: there is nothing to look up
            return message_id in incoming.waiting
        return message_id in self.log.order or message_id in incoming.waiting

    def author_of(self, message_id: MessageId) -> PeerId | None:
        """Return who wrote a message that waits or was delivered lately; None if the disk knows."""
        held_back = self.incoming.waiting.get(message_id)
        if held_back is not None:
            return held_back.content.sender_id
        return self.log.order.author_of(message_id)

    def admit(self, content: Content, now: Nanos) -> list[Effect]:
        """Deliver a new message, or hold it back ("Receive Message", last paragraph)."""
        message_id = content.message_id
        self.filter.insert(message_id)
        self.repairs.came(message_id, now)
        unknown = self._unknown(content.causal_history, message_id)
        if not unknown:
            effects: list[Effect] = []
            freed = self._put(content, effects, after_gap=False)
            return effects + self._deliver(freed) if freed else effects
        window = self.repairs.window(now)
        missing = self._look_for(unknown, message_id, content.sender_id, window, now, content.via)
        instead = self.incoming.hold(content, unknown, now + window.gap_after)
        early = [] if instead is None else self._deliver_early([instead], window, now)
        if instead is content:  # so much is missing that we look for no more
            return missing + early
        return [Held(message_id), *missing, *early]

    def count(self, message_id: MessageId, via: PeerId, now: Nanos) -> None:
        """Note a new message that came live on the link of `via`: too many are a torrent."""
        came = self._came
        if now - self._came_since >= SECOND:
            self._pouring = frozenset([one for one, count in came.items() if count > POURING])
            came.clear()
            self._came_since = now
        came[via] = count = came.get(via, 0) + 1
        if count > POURING or via in self._pouring:
            self._calm_at = max(self._calm_at, now + POURED_FOR)
            self.log.pours(message_id)

    def calm(self, now: Nanos) -> None:
        """Build on the messages of a torrent again, once it has been over for a while."""
        if self.log.torrent and now >= self._calm_at:
            self.log.torrent.clear()

    def _unknown(self, history: History, named_by: str) -> dict[MessageId, HistoryEntry]:
        """Return what is named there and not in the log; a message does not wait for itself."""
        known, forgone, unknown = self.log.order, self.forgone, {}
        missing, waiting = self.incoming.missing, self.incoming.waiting  # they need no look-up
        for entry in history:
            message_id = entry.message_id
            lacking = message_id in missing or message_id in waiting or message_id not in known
            if lacking and message_id != named_by and message_id not in forgone:
                unknown[message_id] = entry
        return unknown

    def seek(
        self,
        history: History,
        named_by: str,
        namer: PeerId,
        now: Nanos,
        via: PeerId | None = None,
    ) -> list[Effect]:
        """Look for what is named and not in the log; bounded.

        Args:
            history: what is named.
            named_by: the message that names it, or the sender of a sync message.
            namer: who wrote that.
            now: the time.
            via: whose link it came on; None if that is not known.

        A message that waits here is missing too for its dependents, but is no news to the person,
        and nobody is asked for it.
        """
        unknown = self._unknown(history, named_by)
        if not unknown:
            return []
        return self._look_for(unknown, named_by, namer, self.repairs.window(now), now, via)

    def _look_for(  # what `seek` was given, once the window is known
        self,
        unknown: dict[MessageId, HistoryEntry],
        named_by: str,
        namer: PeerId,
        window: Window,
        now: Nanos,
        via: PeerId | None,
    ) -> list[Effect]:
        if self.aside or self.coming:
            unknown = {
                message_id: entry
                for message_id, entry in unknown.items()
                if message_id not in self.aside and not self.coming.brings(entry)
            }
        if not unknown:
            return []
        incoming = self.incoming
        effects: list[Effect] = []
        if len(incoming.missing) + len(unknown) > MISSING_MAX:
            effects = self._make_room(len(unknown), via, window, now)
            unknown = {id_: one for id_, one in unknown.items() if id_ not in self.log.order}
        news = incoming.seek(unknown, named_by, namer, now + window.lost_after, via)
        waiting, missing = incoming.waiting, incoming.missing
        for message_id, entry in unknown.items():
            if message_id not in waiting and message_id in missing:
                self.repairs.asking.want(entry, namer, window, now, via)
        return effects + [Missing(message_id, named_by) for message_id in news] if news else effects

    def _make_room(
        self, count: int, via: PeerId | None, window: Window, now: Nanos
    ) -> list[Effect]:
        """Give up names of the link that most came on, for `count` that come on the link of `via`.

        Names cost nothing to invent, and authors neither; only links can be told apart.
        """
        effects: list[Effect] = []
        incoming = self.incoming
        while len(incoming.missing) + count > MISSING_MAX:
            crowding = incoming.crowds_out(via)
            if crowding is None:
                break
            sought = incoming.missing[crowding]
            effects += self._lose(crowding, sought, now)
            effects += self._deliver_early(incoming.arrived(crowding), window, now)
        return effects

    def _lose(self, message_id: MessageId, sought: Sought, now: Nanos) -> list[Effect]:
        """Ask nobody for a message any more; what waits here is not lost."""
        if message_id in self.incoming.waiting:
            return []
        self.incoming.remember_lost(self.repairs.asking.entry_of(message_id), sought.via)
        self.repairs.came(message_id, now, found=False)
        return [] if sought.again else [Found(message_id, lost=True)]

    def _deliver(self, ready: list[Content]) -> list[Effect]:
        """Put messages into the log, and then every message that waited only for them.

        One whose dependencies are still unmet follows a gap, and is marked so. Messages that came
        while it waited are not owed: its author has them.
        """
        effects: list[Effect] = []
        queue = list(ready)
        for content in queue:
            queue += self._put(content, effects, after_gap=self._follows_gap(content))
            self.log.named(content.causal_history, content.sender_id)
        return effects

    def _deliver_early(self, ready: list[Content], window: Window, now: Nanos) -> list[Effect]:
        """Put messages into the log after a gap, before the time for what they name is over.

        Others may have the room to wait for that. What we write must not wait with it there, so
        nothing builds on these meanwhile.
        """
        for content in ready:
            self.log.pours(content.message_id, early=True)
            self._calm_at = max(self._calm_at, now + window.gap_after)
        return self._deliver(ready)

    def _follows_gap(self, content: Content) -> bool:
        """Return whether a message is about to be delivered without something that it names."""
        recent = self.log.order.recent  # what it waited for has just come
        for entry in content.causal_history:
            if entry.message_id not in recent:
                return bool(self._unknown(content.causal_history, content.message_id))
        return False

    def _put(self, content: Content, effects: list[Effect], *, after_gap: bool) -> list[Content]:
        """Put one message into the log; returns what waited only for it."""
        message_id, sender, incoming = content.message_id, content.sender_id, self.incoming
        if content.lamport > self.lamport:  # noqa: PLR1730  # a call of `max` costs more
            self.lamport = content.lamport
        entry = HistoryEntry(message_id, content.retrieval_hint, sender)
        if self.log.is_on_early(content.causal_history):
            self.log.pours(message_id, early=True)
        sought = incoming.missing.get(message_id)
        is_tip = sought is None or sought.named_by == sought.namer  # sync messages count not
        self.log.insert(content.lamport, entry, content.causal_history, is_tip=is_tip)
        if content.direct and sender != self._me:
            self.log.owe(entry)
        effects.append(Delivered(message_id, after_gap))
        if sought is None and message_id not in incoming.lost:
            return []
        effects.append(Found(message_id))
        incoming.found_lost(message_id)
        return incoming.arrived(message_id)

    def set_aside(self, message_id: MessageId, now: Nanos) -> list[Effect]:
        """Look for it no more; who waits for it alone would wait for years."""
        self.aside.add(message_id)
        self.repairs.came(message_id, now)
        if message_id not in self.incoming.missing:
            return []
        freed = self.incoming.arrived(message_id)
        return [Found(message_id), *self._deliver(freed)]

    def postpone(
        self, message_ids: frozenset[MessageId], now: Nanos, *, gone: bool = False
    ) -> None:
        """These are here; ask nobody for them, and let wait who waits for them.

        `gone`: they are here no more.
        """
        if gone:
            self.aside -= message_ids
            return
        self.aside.update(message_ids)
        for message_id in message_ids:
            self.repairs.came(message_id, now)

    def forgo(self, now: Nanos) -> list[Effect]:
        """Do without what is missing, and deliver what waited for it, as if it had come."""
        effects: list[Effect] = []
        incoming = self.incoming
        for message_id in [id_ for id_ in incoming.missing if id_ not in incoming.waiting]:
            self.forgone[message_id] = None
            self.repairs.came(message_id, now)
            effects.append(Found(message_id))
            effects += self._deliver(incoming.arrived(message_id))
        while len(self.forgone) > FORGONE_MAX:
            del self.forgone[next(iter(self.forgone))]
        return effects

    def sweep(self, now: Nanos) -> list[Effect]:
        """Give up on what did not come ("Periodic Incoming Buffer Sweep")."""
        due = self.incoming.deadline()
        if due is not None and now - due > SLEPT:
            window = self.repairs.window(now)
            self.incoming.begin_anew(now + window.gap_after, now + window.lost_after)
        overdue, given_up = self.incoming.give_up(now)
        effects: list[Effect] = []
        for message_id, sought in given_up:
            effects += self._lose(message_id, sought, now)
        for content in sorted(overdue, key=_place):
            effects += self._deliver([content])
        return effects

    def look_again(self, now: Nanos) -> None:
        """Somebody new is there: what was lost before may be found after all."""
        for entry in list(self.incoming.lost.values()):
            self.seek((entry,), self._me, self._me, now, self._me)

    def ask_again(
        self, message_ids: Collection[MessageId], gaps: Collection[Content], now: Nanos
    ) -> list[Effect]:
        """Look for what was lost, and ask for all that is missing (or for these) now.

        Asking without the random wait of SDS-R: one person's wish makes no storm. The dependencies
        that messages in `gaps` lack are looked for as on a start: they may be older than what we
        remember.
        """
        effects: list[Effect] = []
        wanted = {*message_ids}
        for content in gaps:
            history = content.causal_history
            effects += self.seek(history, content.message_id, content.sender_id, now)
            wanted |= {entry.message_id for entry in history}
        for entry in list(self.incoming.lost.values()):
            if not wanted or entry.message_id in wanted:
                self.seek((entry,), self._me, self._me, now, self._me)
        self.repairs.asking.hurry(wanted, self.repairs.window(now), now)
        return effects

    def forget_lamport(self) -> None:
        """Go back to the newest message here: what we told since is in nobody's log."""
        self.lamport = max(self.log.order.last[0], 0)

    def restore(self, event: Restored, now: Nanos) -> list[Effect]:
        """Take up where the disk left off."""
        self.log.order.restore(event.log)
        self.forget_lamport()
        for message_id in self.log.order.newest(self.filter.parameters.capacity):
            self.filter.insert(message_id)
        self._restore_early(event, now)
        named = {parent.message_id for tip in event.tips for parent in tip.causal_history}
        for tip in event.tips:
            entry = HistoryEntry(tip.message_id, tip.retrieval_hint, tip.sender_id)
            if tip.message_id in named:
                self.log.restore_newest(tip.lamport, entry)
            else:
                self.log.restore_tip(tip.lamport, entry)
        effects: list[Effect] = []
        for content in event.gaps:
            named_by, namer = content.message_id, content.sender_id
            effects += self.seek(content.causal_history, named_by, namer, now)
        for content in sorted(event.waiting, key=_place):
            if content.message_id not in self.log.order:
                effects += self.admit(content, now)
                self.log.named(content.causal_history, content.sender_id)
        return effects

    def _restore_early(self, event: Restored, now: Nanos) -> None:
        """Build on nothing that may have been let in early, just before the start.

        The disk does not say of a gap when it was passed. So what follows one counts, and what is
        seen to build on it; and behind a gap of the last minutes all that is newer may.
        """
        gap_after = self.repairs.window(now).gap_after
        since = (now - gap_after) // MILLISECOND
        recent = [_place(content) for content in event.gaps if content.lamport >= since]
        first = min(recent, default=None)
        for content in event.gaps:
            self.log.pours(content.message_id, early=True)
        for tip in event.tips:
            may_build_on = first is not None and _place(tip) > first and tip.sender_id != self._me
            if may_build_on or self.log.is_on_early(tip.causal_history):
                self.log.pours(tip.message_id, early=True)
        if self.log.torrent:
            self._calm_at = max(self._calm_at, now + gap_after)


def _place(content: Content) -> tuple[int, MessageId]:
    """Return the place of a message in the log; honest ones stand behind all that they name."""
    return content.lamport, content.message_id
