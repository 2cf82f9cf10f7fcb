"""Votes on what the time is: of those with standing; of strangers only where nobody has it."""

import pytest

from sync.group.clock_values import (
    Follows,
)
from sync.group.reference import END
from sync.machine import HOUR, MINUTE, Nanos
from tests.support.sync.alone.reference_clocks import (
    RELEASED,
    TO_1970,
    YEAR,
    Judge,
    member,
    peer,
    strangers,
)
from tests.support.sync.groups import NOW


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
