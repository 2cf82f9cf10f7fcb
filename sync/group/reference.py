"""Reference clock of a channel: ours, or that of members who agree that ours is wrong.

It judges members of this channel alone: what is said in another one moves nothing here. Offsets are
against the machines' clock, which only goes forward (`now` of every input).

Rules:
1. A wall before the program's release, or after 2100, is no clock: it neither votes nor judges.
2. Members with standing have a vote. Where nobody has, each address has one, however many speak
   from it.
3. Unasked, the median of ours and the votes moves our stamps by `UNASKED_MAX`; two people moved
   apart do not park each other. A clock that the system keeps right is not moved at all.
4. Beyond `AGREE` the person is asked once, when two votes agree or there is only one. To follow is
   to go by our clock as if it were set to theirs: all rules then hold for that.
5. Members who follow do not vote. Of two who follow each other the smaller key stays.
"""

from collections.abc import Iterable, Sequence
from statistics import median_high, median_low
from typing import Final

from msgspec import Struct

from sync.group.clock_policy import Policy
from sync.group.clock_values import (
    Answer,
    ClockKept,
    Follows,
    MemberClock,
    OwnClock,
    Question,
    Settled,
    Vote,
)
from sync.machine import DAY, MINUTE, SECOND, Nanos, PeerId

AGREE: Final[Nanos] = 5 * MINUTE
"""Clocks this near to each other agree; it is also how far ahead an entry may be stamped."""

UNASKED_MAX: Final[Nanos] = 2 * MINUTE
"""Movement of our stamps without asking: two people moved apart are 4 min from each other."""

FOLLOWED: Final = 2
"""Members with standing who agree, and are followed where nobody is there to be asked."""

ASKED_EVERY: Final[Nanos] = DAY
"""Interval at which voters without standing may have the person asked."""

SLEWED_MAX: Final[Nanos] = 50 * 1_000_000
"""Changes of the median that are left alone: 50 ms."""

END: Final[Nanos] = 4_102_444_800 * SECOND
"""2100-01-01: what is stamped later has no clock behind it."""


class Ruling(Struct, frozen=True):
    """Ruling on the clocks known now: the reference clock's offset, and the question to ask."""

    offset: Nanos
    """Lead of the reference clock, which stamps, over the machines' clock."""
    reach: Nanos
    """The same of the clock that parks: nobody who moves our stamps unasked lets anything in, which
    would be taken back once they are gone."""
    judges: bool
    """Whether there is a clock to park and to let in by."""
    question: Question | None


class Reference:
    """The judge of one channel, of which `me` is a member."""

    def __init__(self, me: PeerId) -> None:
        self.members: dict[PeerId, MemberClock] = {}
        self.own = OwnClock(0)
        self.kept = ClockKept()
        """State that outlives a run: the answer, and when strangers last had us ask."""
        self.ruling = Ruling(0, 0, judges=True, question=None)
        self.me = me
        self._told: Nanos | None = None
        self.settled = Settled.NONE
        """Why nothing is asked any more that was asked before and not answered."""
        self._unsure = False
        """Whether what we followed in the run before has yet to be confirmed by somebody."""
        self._blind_at: Nanos | None = None
        """When we first had no clock, of the machines' time."""

    # --- What is told --------------------------------------------------------------------------

    def tell_own(self, own: OwnClock) -> None:
        """Take note of our own clock. Where it was set, no answer holds any more."""
        self.own, self._told = own, None
        if own.was_set:
            self.kept = ClockKept(asked_at=self.kept.asked_at, asked_ahead=self.kept.asked_ahead)
            self._unsure = False

    def tell_member(self, member: MemberClock) -> None:
        """Take note of a member's clock."""
        self.members[member.peer] = member

    def forget(self, peer: PeerId) -> None:
        """A member is gone."""
        self.members.pop(peer, None)

    def tell_reference(self, offset: Nanos) -> None:
        """Go by a clock that is known to be right: a time server's, where there are no links."""
        self._told = offset

    def restore(self, kept: ClockKept) -> None:
        """Take up what was answered in an earlier run; our clock may have been set since."""
        self.kept = kept
        self._unsure = bool(kept.shift)

    def answer(self, now: Nanos, *, follow: bool) -> bool:
        """Take the person's answer; returns whether anything was asked."""
        question = self.ruling.question
        if question is None:
            return False
        if follow:
            self._follow(question.ahead)
        else:
            self._stay(question.ahead)
        return True

    # --- What follows --------------------------------------------------------------------------

    def judge(self, now: Nanos) -> Ruling:
        """Work out what all that was told means."""
        if self._told is not None:
            self.ruling = Ruling(self._told, self._told, judges=True, question=None)
            return self.ruling
        votes = self._votes(now)
        self._confirm(votes, now)
        self._let_one_follow(votes)
        agreeing = self._agreeing(votes)
        question = self._question(agreeing, now)
        if question is not None and self._follows_unasked(question, now):
            self._follow(question.ahead)
            question = None
        elif question is not None and self.own.policy is Policy.STAY:
            self._stay(question.ahead)
            question = None
        self._note_settled(question)
        offset, judges = self._stamped_by(votes, now), self._has_clock(now)
        self.ruling = Ruling(offset, min(offset, self.ours), judges, question)
        return self.ruling

    def _note_settled(self, question: Question | None) -> None:
        before = self.ruling.question
        if question is not None or before is None:
            self.settled = Settled.NONE if question is not None else self.settled
        elif self.kept.answer is not Answer.NONE:
            self.settled = Settled.NONE
        elif any(vote.peer in self.followed_by for vote in before.votes):
            self.settled = Settled.FOLLOWED
        else:
            self.settled = Settled.SET if self.own.was_set else Settled.AGREE

    @property
    def was_told(self) -> bool:
        """True if anybody's clock but ours is known."""
        return bool(self.members) or self._told is not None

    @property
    def followed_by(self) -> list[PeerId]:
        """Members who say that they follow our clock."""
        return [peer for peer, one in self.members.items() if one.follows is Follows.YOU]

    @property
    def following(self) -> list[MemberClock]:
        """Clocks of the members present that we follow."""
        return [one for peer, one in self.members.items() if self.follows(peer) is Follows.YOU]

    @property
    def ours(self) -> Nanos:
        """Our clock: the wall, or what it would show were it set to whom we follow."""
        early = self._unsure and self.kept.shift > 0  # the wall alone is the earlier of the two
        return self.own.offset + (0 if early else self.kept.shift)

    def follows(self, peer: PeerId) -> Follows:
        """Return what is told to `peer` of whom we follow."""
        if not self.kept.shift:
            return Follows.NOBODY
        member = self.members.get(peer)
        near = member is not None and abs(member.offset - self.ours) <= AGREE
        return Follows.YOU if near else Follows.OTHERS

    def withdrawn_above(self, now: Nanos) -> Nanos | None:
        """Return the time beyond which nothing may stand in the log; None if nobody says so.

        Our clock says so with one voter who agrees: what is ahead of both is not of now.
        """
        if self._told is not None:
            return now + self._told + AGREE
        if not self._has_clock(now):
            return None
        votes = [vote.offset for vote in self._votes(now) if abs(vote.offset - self.ours) <= AGREE]
        if not votes:
            return None
        return now + max(self.ours, min(votes)) + AGREE

    def held_above(self, now: Nanos) -> Nanos | None:
        """Return the time beyond which our own entries wait for an answer; None while none is due.

        It is that of voters with standing, who would park what is stamped later.
        """
        question = self.ruling.question
        if question is None or not question.standing:
            return None
        return now + self.ours + question.ahead + AGREE

    def has_standing(self, peer: PeerId) -> bool:
        """Return whether `peer` is present and has standing."""
        member = self.members.get(peer)
        return member is not None and member.standing

    # --- Votes ---------------------------------------------------------------------------------

    def _is_clock(self, offset: Nanos, now: Nanos) -> bool:
        return self.own.released <= now + offset < END

    def _has_clock(self, now: Nanos) -> bool:
        return self._is_clock(self.ours, now)

    def _votes(self, now: Nanos) -> list[Vote]:
        """Return who has a vote, by key (rule 2)."""
        heard = [
            member
            for member in self.members.values()
            if member.follows is not Follows.NOBODY or self._is_clock(member.offset, now)
        ]
        standing = any(member.standing for member in heard)
        voters = [
            member
            for member in heard
            if member.follows is Follows.NOBODY and member.standing == standing
        ]
        if standing:
            votes = [Vote(one.peer, one.offset, standing=True) for one in voters]
        else:
            votes = [_spokesman(members) for members in _by_host(voters)]
        return sorted(votes, key=lambda vote: vote.peer)

    def _agreeing(self, votes: Sequence[Vote]) -> list[Vote]:
        """Return the most votes that agree with each other, of several the ones nearest to us."""
        best: list[Vote] = []
        ranked = sorted(votes, key=lambda vote: (vote.offset, vote.peer))
        first = 0
        for end, last in enumerate(ranked, 1):
            while last.offset - ranked[first].offset > AGREE:
                first += 1
            if end - first < max(1, len(best)):
                continue
            group = ranked[first:end]
            if len(group) > len(best) or self._distance(group) < self._distance(best):
                best = group
        return best if len(best) > 1 or len(votes) == 1 else []

    def _distance(self, group: Sequence[Vote]) -> Nanos:
        return abs(_middle(group) - self.ours)

    # --- Questions and answers -----------------------------------------------------------------

    def _question(self, agreeing: Sequence[Vote], now: Nanos) -> Question | None:
        """Return what is to be asked: nothing, where it is answered, or strangers ask too often."""
        if not agreeing:
            return None
        ahead, standing = _middle(agreeing) - self.ours, agreeing[0].standing
        if self._has_clock(now) and abs(ahead) <= AGREE:
            return None
        stayed = self.kept.stayed
        if stayed is not None and abs(ahead - stayed) < AGREE:
            return None
        if not standing and self._was_asked(ahead, now):
            return None
        if not standing and self.kept.asked_ahead is None:
            self.kept = self.kept.asked(now, ahead)
        return Question(tuple(agreeing), ahead, standing)

    def _was_asked(self, ahead: Nanos, now: Nanos) -> bool:
        """Return whether voters without standing had us ask a different question within a day."""
        kept = self.kept
        if kept.asked_ahead is None:
            return False
        if not 0 <= now - kept.asked_at < ASKED_EVERY:
            self.kept = kept.asked(now, ahead)
            return False
        return abs(ahead - kept.asked_ahead) >= AGREE

    def _follows_unasked(self, question: Question, now: Nanos) -> bool:
        policy = self.own.policy
        if policy is Policy.STAY:
            return False
        if policy is Policy.FOLLOW or (
            question.standing and not self._is_clock(self.own.offset, now)
        ):
            return True
        several = question.standing and len(question.votes) >= FOLLOWED
        return policy is Policy.NOBODY and several and not self.own.synchronised

    def _follow(self, ahead: Nanos) -> None:
        self._unsure = False
        shift = self.ours + ahead - self.own.offset
        self.kept = self.kept.answered(Answer.FOLLOW, shift, None)

    def _stay(self, ahead: Nanos) -> None:
        self.kept = self.kept.answered(Answer.STAY, self.kept.shift, ahead)

    def _confirm(self, votes: Sequence[Vote], now: Nanos) -> None:
        """Find out from the first who votes whether our clock was set since the run before.

        Strangers only say that it was not: else the first to come would take us from our friends.
        """
        if not self._unsure or not votes:
            return
        shown = self.own.offset
        agreeing = self._agreeing(votes) or votes
        if abs(_middle(agreeing) - shown - self.kept.shift) <= AGREE:
            self._unsure = False
        elif agreeing[0].standing:
            self._unsure = False
            if self._is_clock(shown, now):
                self.kept = self.kept.answered(Answer.NONE, 0, None)

    def _let_one_follow(self, votes: Sequence[Vote]) -> None:
        """Of those who follow each other, the smallest key stays (rule 5).

        Not while others show that time by themselves, nor for a stranger among people we know.
        """
        if not self.kept.shift or any(abs(one.offset - self.ours) <= AGREE for one in votes):
            return
        standing = any(one.standing for one in self.members.values())
        rivals = [
            one
            for one in self.members.values()
            if one.follows is Follows.YOU
            and one.standing == standing
            and abs(one.offset - self.ours) <= AGREE
        ]
        if rivals and self.me < min(one.peer for one in rivals):
            self.kept = self.kept.answered(Answer.STAY, 0, self.kept.shift)

    # --- The clock we stamp with ----------------------------------------------------------------

    def _stamped_by(self, votes: Iterable[Vote], now: Nanos) -> Nanos:
        """Return the offset of the reference clock (rule 3)."""
        if not self._has_clock(now):
            return self._blind(now)
        self._blind_at = None
        ours = self.ours
        if self.own.synchronised:
            return ours
        offsets = [ours, *(vote.offset for vote in votes)]
        middle = min(median_low(offsets), median_high(offsets), key=lambda one: abs(one - ours))
        moved = ours + max(-UNASKED_MAX, min(middle - ours, UNASKED_MAX))
        before = self.ruling.offset
        settled = abs(moved - before) < SLEWED_MAX and abs(before - ours) <= UNASKED_MAX
        return before if settled else moved

    def _blind(self, now: Nanos) -> Nanos:
        """Return the offset of a clock that begins with the release: no entry is older than that.

        Its entries stand behind all that is known by their Lamport times, and nobody parks them.
        """
        if self._blind_at is None:
            self._blind_at = now
        return self.own.released - self._blind_at


def _middle(votes: Sequence[Vote]) -> Nanos:
    return median_low([vote.offset for vote in votes])


def _by_host(members: Iterable[MemberClock]) -> list[list[MemberClock]]:
    hosts: dict[str, list[MemberClock]] = {}
    for member in members:
        hosts.setdefault(member.host, []).append(member)
    return list(hosts.values())


def _spokesman(members: Sequence[MemberClock]) -> Vote:
    """Return the one vote of an address: its median."""
    ranked = sorted(members, key=lambda one: (one.offset, one.peer))
    chosen = ranked[(len(ranked) - 1) // 2]
    return Vote(chosen.peer, chosen.offset, standing=False)
