"""Members who follow others: it is told, ends the question of others, and is never mutual."""

import pytest

from sync.group.clock_values import Answer, Follows, MemberClock, OwnClock, Settled
from sync.machine import HOUR, MINUTE, PeerId
from tests.support.sync.alone.reference_clocks import Judge, member, peer


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
