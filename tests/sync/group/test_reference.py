"""The judge of a channel's clocks: who votes, what is asked, what moves without asking."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.group.clock_values import (
    Answer,
    ClockKept,
    Follows,
    MemberClock,
    OwnClock,
    Policy,
    Settled,
)
from sync.group.reference import AGREE, END, UNASKED_MAX, Reference
from sync.machine import DAY, HOUR, MINUTE, SECOND, Nanos, PeerId
from tests.support.sync.groups import NOW

ME = PeerId("50" * 32)
YEAR: Nanos = 365 * DAY
RELEASED: Nanos = NOW - 30 * DAY
TO_1970: Nanos = -NOW


def peer(number: int) -> PeerId:
    return PeerId(f"{number:02x}" * 32)


def member(
    number: int,
    offset: Nanos = 0,
    *,
    standing: bool = True,
    host: str = "",
    follows: Follows = Follows.NOBODY,
) -> MemberClock:
    return MemberClock(peer(number), offset, host or f"10.0.0.{number}", standing, follows)


def strangers(offset: Nanos, *hosts: str) -> list[MemberClock]:
    return [
        member(number, offset, standing=False, host=host) for number, host in enumerate(hosts, 1)
    ]


class Judge:
    """A judge, and what it is told."""

    def __init__(
        self,
        *members: MemberClock,
        wall: Nanos = 0,
        policy: Policy = Policy.ASK,
        synchronised: bool = False,
        me: PeerId = ME,
    ) -> None:
        self.now = NOW
        self.reference = Reference(me)
        self.own(wall, policy=policy, synchronised=synchronised)
        self.hear(*members)

    def own(
        self,
        wall: Nanos,
        *,
        was_set: bool = False,
        policy: Policy = Policy.ASK,
        synchronised: bool = False,
    ) -> None:
        self.reference.tell_own(OwnClock(wall, synchronised, policy, was_set, RELEASED))
        self.reference.judge(self.now)

    def hear(self, *members: MemberClock) -> None:
        for each in members:
            self.reference.tell_member(each)
            self.reference.judge(self.now)

    def answer(self, *, follow: bool) -> None:
        assert self.reference.answer(self.now, follow=follow)
        self.reference.judge(self.now)

    @property
    def moved(self) -> Nanos:
        return self.reference.ruling.offset - self.reference.own.offset

    @property
    def asked(self) -> Nanos | None:
        """Lead of the clocks in the open question; None if no question is open."""
        question = self.reference.ruling.question
        return None if question is None else question.ahead

    def voters(self) -> list[PeerId]:
        question = self.reference.ruling.question
        return [] if question is None else [vote.peer for vote in question.votes]


# --- Who votes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("wall", [TO_1970, RELEASED - NOW - 1, END - NOW, 2**64 - 1 - NOW])
def test_what_is_no_clock_does_not_vote(wall: Nanos) -> None:
    judge = Judge(*(member(number, wall) for number in (1, 2, 3)))

    assert (judge.asked, judge.moved) == (None, 0)
    assert judge.reference.withdrawn_above(NOW) is None


@pytest.mark.parametrize("wall", [TO_1970, END - NOW])
def test_where_ours_is_no_clock_those_with_standing_are_followed_unasked(wall: Nanos) -> None:
    judge = Judge(member(1), wall=wall)

    assert judge.asked is None
    assert judge.reference.ruling.offset == 0
    assert judge.reference.ruling.judges
    assert judge.reference.follows(peer(1)) is Follows.YOU


def test_where_ours_is_no_clock_strangers_are_not_and_nobody_judges() -> None:
    judge = Judge(*strangers(0, "a", "b"), wall=TO_1970)

    before = judge.reference.ruling
    assert judge.asked == NOW
    judge.answer(follow=True)
    after = judge.reference.ruling

    assert (before.judges, after.judges) == (False, True)
    assert before.offset == RELEASED - NOW, "no entry is older than the program"
    assert after.offset == 0


def test_strangers_are_heard_only_where_nobody_has_standing() -> None:
    judge = Judge(*strangers(YEAR, "a", "b", "c", "d"))
    asked = judge.asked
    judge.hear(member(9))

    assert asked == YEAR
    assert (judge.asked, judge.moved) == (None, 0)


def test_who_has_standing_keeps_strangers_silent_also_while_it_follows_us() -> None:
    judge = Judge(*strangers(YEAR, "a", "b"), member(9, HOUR, follows=Follows.YOU))

    assert judge.asked is None


def test_strangers_are_one_vote_an_address() -> None:
    many = Judge(*strangers(YEAR, *("a",) * 40), member(50, standing=False, host="b"))
    two = Judge(*strangers(YEAR, "a", "a", "c"), member(50, standing=False, host="b"))

    assert many.asked is None, "a and b are two who disagree"
    assert two.asked == YEAR


# --- What is moved without asking ----------------------------------------------------------------


@pytest.mark.parametrize("ahead", [10 * SECOND, UNASKED_MAX, 4 * MINUTE, 10 * MINUTE, DAY])
def test_the_median_moves_our_stamps_by_two_minutes_at_most(ahead: Nanos) -> None:
    assert Judge(member(1, ahead), member(2, ahead)).moved == min(ahead, UNASKED_MAX)
    assert Judge(member(1, -ahead), member(2, -ahead)).moved == -min(ahead, UNASKED_MAX)


def test_of_two_clocks_our_own_counts() -> None:
    assert Judge(member(1, MINUTE)).moved == 0


def test_a_clock_that_the_system_keeps_right_is_not_moved_and_follows_nobody_unasked() -> None:
    near = Judge(member(1, MINUTE), member(2, MINUTE), synchronised=True)
    far = Judge(member(1, HOUR), member(2, HOUR), policy=Policy.NOBODY, synchronised=True)

    assert (near.moved, far.moved) == (0, 0)
    assert far.asked == HOUR


@given(st.lists(st.integers(-2 * AGREE, 2 * AGREE), max_size=8), st.integers(0, 2**32))
def test_two_people_moved_apart_do_not_park_each_other(walls: list[Nanos], seed: int) -> None:
    """Whoever else is there, and whatever they tell: 2 min each way are 4, below 5."""
    dice = random.Random(seed)
    others = [member(3 + number, wall) for number, wall in enumerate(walls)]

    def of(number: int) -> Nanos:
        heard = [one for one in others if dice.random() < 0.5]
        return Judge(member(number), *heard).reference.ruling.offset

    assert abs(of(1) - of(2)) < AGREE


def test_what_varies_by_less_than_50_ms_moves_nothing() -> None:
    judge = Judge(member(1, SECOND), member(2, SECOND))
    before = judge.moved

    judge.hear(member(1, SECOND + 40_000_000), member(2, SECOND + 40_000_000))

    assert judge.moved == before == SECOND


# --- The question --------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [AGREE, -AGREE])
def test_nothing_is_asked_up_to_five_minutes(ahead: Nanos) -> None:
    assert Judge(member(1, ahead)).asked is None
    assert Judge(member(1, ahead + (1 if ahead > 0 else -1))).asked is not None


def test_two_must_agree_unless_there_is_only_one() -> None:
    one = Judge(member(1, HOUR))
    several = Judge(member(1, HOUR), member(2, 3 * HOUR), member(3, 5 * HOUR))
    two = Judge(member(1, HOUR), member(2, HOUR + AGREE), member(3, 5 * HOUR))

    assert one.asked == HOUR
    assert several.asked is None
    assert two.voters() == [peer(1), peer(2)]


def test_a_wrong_one_of_four_is_asked_and_the_others_are_not() -> None:
    wrong = Judge(member(1, -DAY), member(2, -DAY), member(3, -DAY))
    right = Judge(member(1), member(2), member(3, DAY))

    assert wrong.asked == -DAY
    assert right.asked is None
    assert right.moved == 0


def test_of_as_many_on_either_side_those_who_agree_with_us_count() -> None:
    assert Judge(member(1, HOUR), member(2, HOUR), member(3), member(4)).asked is None


def test_to_follow_moves_us_to_their_median_and_to_stay_leaves_us() -> None:
    follows = Judge(member(1, HOUR), member(2, HOUR + MINUTE))
    stays = Judge(member(1, HOUR), member(2, HOUR + MINUTE))
    follows.answer(follow=True)
    stays.answer(follow=False)

    assert (follows.asked, follows.moved) == (None, HOUR)
    assert (stays.asked, stays.moved) == (None, UNASKED_MAX)
    assert follows.reference.kept.answer is Answer.FOLLOW
    assert stays.reference.kept.answer is Answer.STAY


@pytest.mark.parametrize("follow", [False, True])
def test_an_answer_holds_until_the_difference_changes_by_five_minutes(*, follow: bool) -> None:
    judge = Judge(member(1, HOUR))
    judge.answer(follow=follow)

    judge.hear(member(1, HOUR + AGREE - SECOND))
    held = judge.asked
    judge.hear(member(1, HOUR + AGREE + SECOND))

    assert held is None
    assert judge.asked is not None


@pytest.mark.parametrize("follow", [False, True])
def test_an_answer_holds_until_our_clock_is_set(*, follow: bool) -> None:
    judge = Judge(member(1, HOUR))
    judge.answer(follow=follow)
    judge.own(30 * SECOND)
    drifted = judge.asked

    judge.own(10 * MINUTE, was_set=True)
    nearer = judge.asked
    judge.own(HOUR, was_set=True)

    assert (drifted, nearer) == (None, 50 * MINUTE)
    assert (judge.asked, judge.moved) == (None, 0)


def test_strangers_ask_once_a_day_whatever_they_tell() -> None:
    judge = Judge(*strangers(YEAR, "a", "b"))
    first = judge.asked
    judge.answer(follow=False)
    asked = []
    for hours in range(1, 50):
        judge.now = NOW + hours * HOUR
        judge.hear(*strangers(YEAR + hours * HOUR, "a", "b"))
        if judge.asked is not None:
            asked.append(hours)
            judge.answer(follow=False)

    assert first == YEAR
    assert asked == [24, 48]


def test_those_with_standing_ask_whenever_the_difference_changes() -> None:
    judge = Judge(member(1, HOUR))
    judge.answer(follow=False)

    judge.hear(member(1, 2 * HOUR))

    assert judge.asked == 2 * HOUR


def test_a_question_settles_itself_once_the_voters_are_gone() -> None:
    judge = Judge(member(1, HOUR))

    judge.reference.forget(peer(1))
    judge.reference.judge(NOW)

    assert judge.asked is None
    assert not judge.reference.answer(NOW, follow=True)


# --- Nobody is there to be asked -----------------------------------------------------------------


def test_without_a_person_two_with_standing_are_followed_and_nobody_else() -> None:
    one = Judge(member(1, HOUR), policy=Policy.NOBODY)
    two = Judge(member(1, HOUR), member(2, HOUR), policy=Policy.NOBODY)
    others = Judge(*strangers(HOUR, "a", "b", "c"), policy=Policy.NOBODY)

    assert (one.asked, one.moved) == (HOUR, 0)
    assert (two.asked, two.moved) == (None, HOUR)
    assert (others.asked, others.moved) == (HOUR, UNASKED_MAX)


def test_a_script_may_say_before_what_it_answers() -> None:
    follows = Judge(*strangers(HOUR, "a"), policy=Policy.FOLLOW)
    stays = Judge(member(1, HOUR), member(2, HOUR), policy=Policy.STAY)

    assert (follows.asked, follows.moved) == (None, HOUR)
    assert (stays.asked, stays.reference.kept.answer) == (None, Answer.STAY)


# --- Who follows says so -------------------------------------------------------------------------


@pytest.mark.parametrize("follows", [Follows.YOU, Follows.OTHERS])
def test_who_follows_does_not_vote_so_the_others_question_ends(follows: Follows) -> None:
    judge = Judge(member(1, HOUR))
    asked = judge.asked

    judge.hear(member(1, HOUR, follows=follows))

    assert asked == HOUR
    assert judge.asked is None


@pytest.mark.parametrize(
    ("event", "settled"),
    [
        (member(1, HOUR, follows=Follows.YOU), Settled.FOLLOWED),
        (OwnClock(HOUR, was_set=True), Settled.SET),
        (member(1, MINUTE), Settled.AGREE),
    ],
)
def test_it_is_said_why_nothing_is_asked_any_more(
    event: MemberClock | OwnClock, settled: Settled
) -> None:
    judge = Judge(member(1, HOUR))
    before = judge.reference.settled

    if isinstance(event, MemberClock):
        judge.hear(event)
    else:
        judge.own(event.offset, was_set=True)

    assert (before, judge.reference.settled) == (Settled.NONE, settled)
    assert judge.asked is None
    assert (peer(1) in judge.reference.followed_by) == (settled is Settled.FOLLOWED)


def test_we_say_whom_we_follow() -> None:
    judge = Judge(member(1, HOUR), member(2, HOUR), member(3, 2 * HOUR))
    before = judge.reference.follows(peer(1))
    judge.answer(follow=True)

    told = [judge.reference.follows(peer(number)) for number in (1, 2, 3, 4)]

    assert before is Follows.NOBODY
    assert told == [Follows.YOU, Follows.YOU, Follows.OTHERS, Follows.OTHERS]


def test_of_two_who_follow_each_other_the_smaller_key_stays() -> None:
    smaller, larger = peer(1), peer(2)
    one = Judge(member(2, HOUR), me=smaller)
    other = Judge(member(1, -HOUR), me=larger)
    for each in (one, other):
        each.answer(follow=True)

    one.hear(member(2, HOUR, follows=one_tells(other, smaller)))
    other.hear(member(1, -HOUR, follows=Follows.YOU))
    other.hear(member(1, -HOUR, follows=one_tells(one, larger)))

    assert (one.moved, one.asked, one.reference.kept.answer) == (0, None, Answer.STAY)
    assert (other.moved, other.asked) == (-HOUR, None)


def one_tells(judge: Judge, to: PeerId) -> Follows:
    return judge.reference.follows(to)


# --- What outlives a run -------------------------------------------------------------------------


def restarted(judge: Judge, wall: Nanos) -> Judge:
    again = Judge(wall=wall)
    again.reference.restore(judge.reference.kept)
    again.reference.judge(NOW)
    return again


@pytest.mark.parametrize("ahead", [DAY, -DAY])
def test_after_a_start_alone_the_earlier_of_two_clocks_counts(ahead: Nanos) -> None:
    judge = Judge(member(1, -ahead), wall=0)
    judge.answer(follow=True)

    again = restarted(judge, 0)

    assert again.moved == min(0, -ahead)


@pytest.mark.parametrize("ahead", [DAY, -DAY])
def test_after_a_start_the_first_voter_says_whether_the_clock_was_set(ahead: Nanos) -> None:
    judge = Judge(member(1, -ahead))
    judge.answer(follow=True)
    still_wrong, set_right = restarted(judge, 0), restarted(judge, -ahead)

    still_wrong.hear(member(1, -ahead))
    set_right.hear(member(1, -ahead))

    assert (still_wrong.asked, still_wrong.reference.ruling.offset) == (None, -ahead)
    assert (set_right.asked, set_right.reference.ruling.offset) == (None, -ahead)
    assert set_right.reference.kept.shift == 0


def test_what_was_asked_and_answered_is_asked_again_only_for_a_reason() -> None:
    judge = Judge(*strangers(YEAR, "a", "b"))
    judge.answer(follow=False)

    again = restarted(judge, 0)
    again.hear(*strangers(YEAR, "a", "b"))
    same = again.asked
    again.hear(*strangers(2 * YEAR, "a", "b"))

    assert (same, again.asked) == (None, None)


# --- What is taken back --------------------------------------------------------------------------


def withdrawn_above(own: Nanos, others: Sequence[Nanos]) -> Nanos | None:
    members = [member(number, offset) for number, offset in enumerate(others, 1)]
    limit = Judge(*members, wall=own).reference.withdrawn_above(NOW)
    return None if limit is None else limit - NOW


@pytest.mark.parametrize(
    ("own", "others", "limit"),
    [
        (0, [], None),
        (0, [AGREE + 1], None),
        (0, [-AGREE - 1], None),
        (0, [-MINUTE], AGREE),
        (0, [AGREE], 2 * AGREE),
        (0, [DAY, 3 * MINUTE], AGREE + 3 * MINUTE),
        (TO_1970, [TO_1970], None),
    ],
)
def test_our_clock_and_one_voter_who_agrees_say_what_is_not_of_now(
    own: Nanos, others: Sequence[Nanos], limit: Nanos | None
) -> None:
    assert withdrawn_above(own, others) == limit


def test_nothing_is_taken_back_that_would_be_let_in_at_once() -> None:
    """The median may have moved us ahead of both."""
    judge = Judge(member(1, -MINUTE), *(member(number, 4 * MINUTE) for number in (2, 3, 4)))
    limit = judge.reference.withdrawn_above(NOW)

    assert judge.moved > 0
    assert limit is not None
    assert limit >= NOW + judge.reference.ruling.offset + AGREE


def test_two_hundred_people_are_judged_in_a_moment() -> None:
    dice = random.Random(7)
    judge = Judge(*(member(number % 256, dice.randrange(MINUTE)) for number in range(1, 200)))

    judge.hear(replace(member(5), offset=2**64))

    assert judge.asked is None
    assert 0 < judge.moved < MINUTE


def test_what_is_kept_is_nothing_at_first() -> None:
    assert Judge(member(1)).reference.kept == ClockKept()
