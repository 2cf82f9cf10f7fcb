"""A reference clock after a start: what of an earlier run still holds."""

import pytest

from sync.group.clock_policy import Policy
from sync.group.clock_values import (
    MemberClock,
)
from sync.machine import DAY, HOUR, Nanos
from tests.support.sync.alone.reference_clocks import (
    RELEASED,
    TO_1970,
    YEAR,
    Judge,
    member,
    strangers,
)
from tests.support.sync.groups import NOW


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
