"""The judge of a channel's clocks: who votes, what is asked, what moves without asking."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.group.clock_policy import Policy
from sync.group.clock_values import (
    Answer,
    ClockKept,
    Follows,
    MemberClock,
    OwnClock,
    Settled,
)
from sync.group.reference import AGREE, END, UNASKED_MAX, Reference, Ruling
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


def test_the_figures_are_those_that_people_were_told() -> None:
    two_minutes, five_minutes = 120 * SECOND, 300 * SECOND
    century = 4_102_444_800 * SECOND - NOW

    assert Judge(member(1, five_minutes), wall=0).asked is None
    assert Judge(member(1, five_minutes + 1), wall=0).asked == five_minutes + 1
    assert Judge(*(member(number, five_minutes) for number in (1, 2, 3))).moved == two_minutes
    assert Judge(*(member(number, 49_999_999) for number in (1, 2, 3))).moved == 0
    assert Judge(*(member(number, 50_000_000) for number in (1, 2, 3))).moved == 50_000_000
    assert Judge(member(1, century - 1)).asked == century - 1
    assert Judge(member(1, century)).asked is None


def test_a_time_server_is_followed_until_our_clock_is_told_anew() -> None:
    judge = Judge(member(1, HOUR))
    judge.reference.tell_reference(7 * SECOND)
    told = judge.reference.judge(NOW)
    assert judge.reference.withdrawn_above(NOW) == NOW + 7 * SECOND + AGREE
    judge.own(0)

    assert (told.offset, told.reach, told.judges, told.question) == (7 * SECOND,) * 2 + (True, None)
    assert judge.asked == HOUR


def test_what_is_taken_back_is_ahead_of_our_clock_and_of_one_other() -> None:
    """Of several who agree with us, the one whose clock is least ahead; never less than ours."""
    behind = Judge(member(1, HOUR - MINUTE), wall=HOUR)
    ahead = Judge(member(1, HOUR + 2 * MINUTE), member(2, HOUR + MINUTE), wall=HOUR)
    nobody = Judge(member(1, HOUR + AGREE + 1), member(2, -HOUR), wall=HOUR)

    assert behind.reference.withdrawn_above(NOW) == NOW + HOUR + AGREE
    assert ahead.reference.withdrawn_above(NOW) == NOW + HOUR + MINUTE + AGREE
    assert nobody.reference.withdrawn_above(NOW) is None


def test_own_entries_wait_above_what_those_with_standing_would_take() -> None:
    asked = Judge(member(1, -DAY), wall=HOUR)
    strange = Judge(*strangers(-DAY, "a", "b"), wall=HOUR)
    agreed = Judge(member(1, HOUR), wall=HOUR)

    assert asked.reference.held_above(NOW) == NOW - DAY + AGREE
    assert strange.asked == -DAY - HOUR
    assert [one.reference.held_above(NOW) for one in (strange, agreed)] == [None, None]


def test_standing_is_that_of_who_is_here() -> None:
    judge = Judge(member(1), member(2, standing=False), member(3))
    judge.reference.forget(peer(3))

    standing = [judge.reference.has_standing(peer(number)) for number in (1, 2, 3, 4)]
    assert standing == [True, False, False, False]
    assert [Judge().reference.was_told, judge.reference.was_told] == [False, True]


def test_whom_we_follow_and_who_follows_us_is_known_of_those_who_are_here() -> None:
    near, far = member(1, HOUR), member(2, 3 * HOUR)
    ours = member(3, follows=Follows.YOU)
    judge = Judge(near, far, member(4, HOUR + AGREE), member(5, HOUR + AGREE + 1), ours)
    judge.answer(follow=True)
    shift = judge.reference.ours

    followed = [one.peer for one in judge.reference.following]

    assert shift == HOUR
    assert followed == [peer(1), peer(4)]
    assert judge.reference.follows(peer(5)) is Follows.OTHERS
    assert judge.reference.followed_by == [peer(3)]


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


@pytest.mark.parametrize("wall", [HOUR, TO_1970])
def test_who_has_standing_keeps_strangers_silent_also_while_it_follows_us(wall: Nanos) -> None:
    judge = Judge(*strangers(YEAR, "a", "b"), member(9, wall, follows=Follows.YOU))

    assert judge.asked is None


def test_a_wall_just_before_the_release_follows_one_just_after_it() -> None:
    """They differ by two minutes, which is nothing to ask about; but ours is no clock."""
    release = RELEASED - NOW
    judge = Judge(member(1, release + MINUTE), wall=release - MINUTE)

    assert judge.reference.follows(peer(1)) is Follows.YOU
    assert judge.reference.ruling.offset == release + MINUTE


def test_what_strangers_asked_keeps_nobody_with_standing_from_asking_nor_the_other_way() -> None:
    after_strangers = Judge(*strangers(YEAR, "a", "b"))
    after_strangers.hear(member(9, HOUR))
    after_friend = Judge(member(9, HOUR))
    after_friend.reference.forget(peer(9))
    after_friend.hear(*strangers(3 * HOUR, "a", "b"))

    assert (after_strangers.asked, after_friend.asked) == (HOUR, 3 * HOUR)


def test_the_day_counts_from_when_strangers_first_asked() -> None:
    judge = Judge(*strangers(YEAR, "a", "b"))
    for hours, ahead in ((23, YEAR), (24, 3 * HOUR)):
        judge.now = NOW + hours * HOUR
        judge.hear(*strangers(ahead, "a", "b"))

    assert judge.asked == 3 * HOUR


def test_of_as_many_on_either_side_those_near_to_our_clock_count() -> None:
    def pairs(one: Nanos, other: Nanos, *, wall: Nanos) -> Nanos | None:
        return Judge(
            member(1, one), member(2, one), member(3, other), member(4, other), wall=wall
        ).asked

    assert pairs(-2 * HOUR, HOUR, wall=0) == HOUR
    assert pairs(-HOUR, 2 * HOUR, wall=0) == -HOUR
    assert pairs(-HOUR, 5 * HOUR // 2, wall=HOUR) == 3 * HOUR // 2, "our own is an hour ahead"


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

    def of(number: int) -> Ruling:
        heard = [one for one in others if dice.random() < 0.5]
        return Judge(member(number), *heard).reference.ruling

    one, other = of(1), of(2)
    assert one.offset - other.reach < AGREE
    assert other.offset - one.reach < AGREE


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


def test_no_stranger_has_us_let_go_of_friends_whom_we_follow() -> None:
    friends, stranger = (member(1, HOUR), member(2, HOUR)), peer(9)
    judge = Judge(*friends, me=peer(0))
    judge.answer(follow=True)

    judge.hear(MemberClock(stranger, HOUR, "10.0.0.9", standing=False, follows=Follows.YOU))

    assert (judge.moved, judge.reference.kept.answer) == (HOUR, Answer.FOLLOW)


def test_who_follows_us_back_changes_nothing_while_others_show_that_time_by_themselves() -> None:
    judge = Judge(member(1, HOUR), member(2, HOUR), me=peer(0))
    judge.answer(follow=True)

    judge.hear(member(1, HOUR, follows=Follows.YOU))
    others_there = judge.moved
    judge.reference.forget(peer(2))
    judge.reference.judge(judge.now)

    assert (others_there, judge.moved) == (HOUR, 0)


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


@pytest.mark.parametrize("ahead", [DAY, -DAY])
def test_after_a_start_no_stranger_says_that_the_clock_was_set(ahead: Nanos) -> None:
    """Else all that was withdrawn would be back, until somebody we followed is there."""
    judge = Judge(member(1, -ahead), member(2, -ahead))
    judge.answer(follow=True)
    again = restarted(judge, 0)

    again.hear(member(9, 0, standing=False))
    alone_with_a_stranger = again.moved
    again.hear(member(1, -ahead))

    assert alone_with_a_stranger == min(0, -ahead)
    assert (again.moved, again.asked) == (-ahead, None)


def test_after_a_start_strangers_may_confirm_whom_we_follow() -> None:
    judge = Judge(*strangers(DAY, "a", "b"))
    judge.answer(follow=True)
    again = restarted(judge, 0)

    again.hear(*strangers(DAY, "a", "b"))

    assert (again.moved, again.asked) == (DAY, None)


def heard_together(judge: Judge, *members: MemberClock) -> None:
    for each in members:
        judge.reference.tell_member(each)
    judge.reference.judge(judge.now)


def test_after_a_start_those_who_agree_say_it_whatever_each_of_the_others_says() -> None:
    judge = Judge(member(1, DAY))
    judge.answer(follow=True)
    friends, others = (member(1, DAY), member(2, DAY)), (-DAY, -2 * DAY, -3 * DAY)
    again = restarted(judge, 0)

    heard_together(again, *friends, *(member(at, walls) for at, walls in enumerate(others, 3)))

    assert (again.moved, again.asked) == (DAY, None)


def test_after_a_start_one_of_two_who_disagree_may_confirm_whom_we_follow() -> None:
    judge = Judge(member(1, DAY))
    judge.answer(follow=True)
    again = restarted(judge, 0)

    heard_together(again, member(1, DAY), member(2, 3 * DAY))

    assert (again.moved, again.asked) == (DAY, None)


def test_after_a_start_whom_we_follow_is_compared_with_what_our_clock_shows_now() -> None:
    judge = Judge(member(1, HOUR + DAY), wall=HOUR)
    judge.answer(follow=True)
    again = restarted(judge, HOUR)

    again.hear(member(1, HOUR + DAY))

    assert (again.moved, again.asked) == (DAY, None)


def test_who_stays_by_the_settings_stays_where_its_clock_is_none_too() -> None:
    judge = Judge(member(1), wall=TO_1970, policy=Policy.STAY)

    assert judge.moved <= RELEASED - NOW - TO_1970
    assert judge.reference.kept.shift == 0


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
    """The median moves our stamps ahead of both, but not what is let in."""
    judge = Judge(member(1, -MINUTE), *(member(number, 4 * MINUTE) for number in (2, 3, 4)))
    limit = judge.reference.withdrawn_above(NOW)

    assert judge.moved > 0
    assert limit is not None
    assert limit >= NOW + judge.reference.ruling.reach + AGREE
    assert limit > NOW + judge.reference.ruling.offset


def test_two_hundred_people_are_judged_in_a_moment() -> None:
    dice = random.Random(7)
    judge = Judge(*(member(number % 256, dice.randrange(MINUTE)) for number in range(1, 200)))

    judge.hear(replace(member(5), offset=2**64))

    assert judge.asked is None
    assert 0 < judge.moved < MINUTE


def test_what_is_kept_is_nothing_at_first() -> None:
    assert Judge(member(1)).reference.kept == ClockKept()
