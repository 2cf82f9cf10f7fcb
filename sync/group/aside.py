"""Entries set aside because of their timestamps, as judged by the channel's reference clock.

Two tables: entries of any author that are ahead of the reference clock; and our own entries that
members with standing would set aside, while the person is asked whose clock is right.
"""

from typing import Final

from sync.entries.entry import Entry, Kind, decode_text
from sync.errors import DecodeError
from sync.group import values
from sync.group.clock_values import ClockAnswered, ClockKept, MemberClock, OwnClock
from sync.group.future_entries import CLOCK_AHEAD_MAX, Parked, admitted_from
from sync.group.records import ChannelState, Outline
from sync.group.reference import AGREE, END, Reference
from sync.machine import MILLISECOND, MINUTE, MessageId, Nanos, PeerId, earlier

WARNED_MAX: Final = 1000
"""Authors of whom the person is told once a run that their clocks are ahead."""

STRANGERS_WARNED_MAX: Final = 16
"""Of them those without standing: keys cost nothing, and a notice each would be a flood of them."""

TOLD_BY: Final[Nanos] = MINUTE
"""Change of the difference from which on an open question is shown anew."""


class Aside:
    """See the module docstring; `me` is whose group it is."""

    def __init__(self, me: PeerId) -> None:
        self.reference = Reference(me)
        self.parked = Parked()
        self.waiting = Parked()
        self.replaced: set[MessageId] = set()
        """Own entries that were written anew."""
        self._warned: set[PeerId] = set()
        self._kept = ClockKept()
        self._shown: values.Question | None = None
        self._followed_by: set[PeerId] = set()

    @property
    def is_used(self) -> bool:
        """True if something is set aside; nearly always nothing is."""
        return bool(self.parked.outlines or self.waiting.outlines)

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self.parked.outlines or message_id in self.waiting.outlines

    def __len__(self) -> int:
        return len(self.parked.outlines) + len(self.waiting.outlines)

    def own(self) -> list[MessageId]:
        """Return what of ours is here and was not written anew."""
        ours = [*self.parked.of(self.me), *self.waiting.of(self.me)]
        return [message_id for message_id in ours if message_id not in self.replaced]

    @property
    def offset(self) -> Nanos:
        """Nanoseconds by which the reference clock is ahead of the machines' clock."""
        return self.reference.ruling.offset

    # --- Clocks --------------------------------------------------------------------------------

    def tell(self, event: values.Input, now: Nanos) -> None:
        """Take note of what is told of clocks, and judge it."""
        reference = self.reference
        match event:
            case OwnClock():
                reference.tell_own(event)
            case MemberClock():
                reference.tell_member(event)
            case ClockAnswered(follow):
                reference.answer(now, follow=follow)
            case values.PeerGone(peer):
                reference.forget(peer)
            case values.ReferenceClock(offset):
                reference.tell_reference(offset)
            case _:
                pass
        reference.judge(now)

    def restore(self, state: ChannelState, now: Nanos) -> None:
        """Take up where the disk left off; what waited for an answer waits again."""
        self._kept = state.clock
        self.reference.restore(state.clock)
        self.replaced.update(state.replaced)
        for outline in state.parked:
            waits = outline.message_id in state.unsent - state.replaced
            (self.waiting if waits else self.parked).add(outline)
        self.reference.judge(now)

    def to_keep(self) -> ClockKept | None:
        """Return what the disk has to keep, if that has changed."""
        if self.reference.kept == self._kept:
            return None
        self._kept = self.reference.kept
        return self._kept

    def news(self) -> list[values.Effect]:
        """Return what the person has to be shown of the question, if that has changed."""
        now, shown = self.reference.ruling.question, self._shown
        followed_by = set(self.reference.followed_by)
        if followed_by - self._followed_by:
            self._followed_by, self._shown = followed_by, now
            return [values.ClockJudged(now)]
        self._followed_by = followed_by
        if (now is None) == (shown is None):
            if now is None or shown is None:
                return []
            same = [vote.peer for vote in now.votes] == [vote.peer for vote in shown.votes]
            if same and now.standing == shown.standing and abs(now.ahead - shown.ahead) < TOLD_BY:
                return []
        self._shown = now
        return [values.ClockJudged(now)]

    # --- What is ahead -------------------------------------------------------------------------

    def is_ahead(self, lamport: int, created_ns: Nanos, now: Nanos) -> bool:
        """Return whether an entry with these stamps is too far ahead of the reference clock."""
        return admitted_from(lamport, created_ns) > self.reached(now)

    def reached(self, now: Nanos) -> Nanos:
        """Return up to which time entries are let in; without a clock, up to where clocks end."""
        ruling = self.reference.ruling
        return now + ruling.reach if ruling.judges else END - CLOCK_AHEAD_MAX

    def is_full(self, author: PeerId) -> bool:
        """Return whether no further entries of `author` can be set aside."""
        if not self.parked.outlines:
            return False  # nearly always
        return self.parked.full(author, known=self.reference.has_standing(author))

    def would_wait(self, lamport: int, created_ns: Nanos, now: Nanos) -> bool:
        """Return whether members with standing would set aside an entry of ours."""
        limit = self.reference.held_above(now)
        return limit is not None and admitted_from(lamport, created_ns) > limit - AGREE

    def due(self, now: Nanos) -> list[Outline]:
        """Return what is let in now. Without a clock what is set aside stays so."""
        ruling = self.reference.ruling
        if not ruling.judges:
            return []
        due: list[Outline] = []
        for outline in self.parked.take_due(now + ruling.reach):
            if outline.sender_id == self.me and self._would_wait(outline, now):
                self.waiting.add(outline)
            else:
                due.append(outline)
        return due

    def passed(self, now: Nanos) -> list[Outline]:
        """Return what of ours waits no more: members with standing would let it in by now."""
        limit = self.reference.held_above(now)
        return [] if limit is None else self.waiting.take_due(limit - AGREE)

    def settled(self, now: Nanos) -> list[Outline]:
        """Return what of ours waits no more: the question is settled, or asks something else.

        After a start that is known once somebody's clock is; until then nobody would be sent it.
        """
        if not len(self.waiting) or not self.reference.was_told:
            return []
        outlines = self.waiting.take_all()
        for outline in outlines:
            if self._would_wait(outline, now):
                self.waiting.add(outline)
        return [one for one in outlines if one.message_id not in self.waiting]

    def _would_wait(self, outline: Outline, now: Nanos) -> bool:
        return self.would_wait(outline.lamport, outline.created_ns, now)

    def next_at(self) -> Nanos | None:
        """Return when, by the machines' clock, the next entry is let in."""
        parked, waiting = self.parked.next_at(), self.waiting.next_at()
        if parked is None and waiting is None:
            return None  # nearly always
        ruling = self.reference.ruling
        due = None if parked is None or not ruling.judges else parked - ruling.reach
        question = ruling.question
        if question is None or waiting is None:
            return due
        return earlier(due, waiting - self.reference.ours - question.ahead)

    def warn_of(self, entry: Entry, now: Nanos) -> list[values.Effect]:
        """Tell once of an author whose clock is ahead."""
        header = entry.header
        if header.author in self._warned or header.author == self.me:
            return []
        known = self.reference.has_standing(header.author)
        if len(self._warned) >= (WARNED_MAX if known else STRANGERS_WARNED_MAX):
            return []
        self._warned.add(header.author)
        ahead = max(header.lamport * MILLISECOND, header.created_ns) - self.reached(now)
        return [values.AuthorAhead(header.author, _nick_of(entry), ahead)]

    @property
    def me(self) -> PeerId:
        """Peer id of the participant that owns this group."""
        return self.reference.me


def _nick_of(entry: Entry) -> str:
    if entry.header.kind != Kind.TEXT:
        return ""
    try:
        return decode_text(entry.body).nick
    except DecodeError:
        return ""
