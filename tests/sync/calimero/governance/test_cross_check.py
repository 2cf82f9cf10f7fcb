"""Decisive answers against the definition: each disagreement has its plane."""

import pytest

from sync.calimero.governance import limits
from sync.calimero.governance.cross_check import Answer, Answers, CrossCheck, Divergence
from sync.calimero.governance.ops import Access, Policy, Role, SetPolicy, Verdict
from sync.calimero.governance.verdicts import Doing, Plane, may, verdict_at_cut
from tests.support.sync.governed import History, RandomHistory, everybody, key


def checking(history: History) -> CrossCheck:
    check = CrossCheck()
    for op in history.ops:
        check.add(op)
    return check


@pytest.mark.parametrize("doing", Doing)
def test_true_answers_are_those_of_the_definition_at_every_cut(doing: Doing) -> None:
    for seed in range(8):
        history = RandomHistory(seed, 30).history
        check = checking(history)
        for op in history.ops:
            for one in everybody():
                verdict = verdict_at_cut(history.governance, one, (op.id,), doing)
                assert verdict is not Verdict.UNKNOWN
                answer = Answer(one, (op.id,), verdict is Verdict.YES, doing)
                assert check.check(answer) is None


@pytest.mark.parametrize("doing", Doing)
@pytest.mark.parametrize("access", Access)
def test_who_may_do_what_is_the_same_rule_said_twice(doing: Doing, access: Access) -> None:
    policy = Policy(access, access, access, access)
    history = History("alice", policy=policy)
    for name, role in [("bob", Role.ADMIN), ("carol", Role.MEMBER), ("dave", Role.READER)]:
        history.add("alice", name, role)
    check, heads = checking(history), history.governance.heads
    for name in ("alice", "bob", "carol", "dave", "erin"):
        role = history.roles().get(name, Role.NONE)
        for granted in (True, False):
            told = check.check(Answer(key(name), heads, granted, doing))
            assert (told is None) is (may(role, policy, doing) is granted)


def test_a_false_answer_is_named_by_its_plane() -> None:
    history = History("alice")
    history.add("alice", "bob")
    check, heads = checking(history), history.governance.heads
    bob, carol = key("bob"), key("carol")

    for answer, plane in [
        (Answer(bob, heads, granted=False, doing=Doing.WRITE), Plane.CUT),
        (Answer(carol, heads, granted=True, doing=Doing.WRITE), Plane.CUT_GRANT),
        (Answer(bob, heads, granted=False), Plane.SYNC),
        (Answer(carol, heads, granted=True), Plane.SYNC),
    ]:
        assert check.check(answer) == Divergence(plane, answer)


def test_what_was_said_of_a_cut_holds_after_more_ops() -> None:
    history = History("alice")
    before = history.add("alice", "bob").id
    check = checking(history)
    answer = Answer(key("bob"), (before,), granted=True, doing=Doing.WRITE)
    assert check.check(answer) is None
    check.add(history.act("alice", SetPolicy(Policy(write=Access.ADMINS))))
    check.add(history.remove("alice", "bob"))

    assert check.check(answer) is None
    now = Answer(key("bob"), history.governance.heads, granted=False)
    assert check.check(now) is None


def test_answers_that_nobody_checks_are_skipped_oldest_first_and_counted() -> None:
    answers = Answers()
    for number in range(limits.ANSWERS_UNCHECKED_MAX + 3):
        answers.note(Answer(key(f"{number}"), (), granted=True))
        answers.note(Answer(key(f"{number}"), (), granted=True))

    assert answers.skipped == 3
    taken = answers.take()
    assert taken[0].key == key("3")
    assert len(taken) == limits.ANSWERS_UNCHECKED_MAX
    assert answers.take() == []
