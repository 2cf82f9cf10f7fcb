"""The judge of a channel's clocks: who votes, what is asked, what moves without asking."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.group.clock_policy import Policy
from sync.group.clock_values import Answer, ClockKept, Follows
from sync.group.reference import AGREE, UNASKED_MAX, Ruling
from sync.machine import DAY, HOUR, MINUTE, SECOND, Nanos
from tests.support.sync.alone.reference_clocks import TO_1970, YEAR, Judge, member, peer, strangers
from tests.support.sync.groups import NOW


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
