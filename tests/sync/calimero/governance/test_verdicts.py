"""Answers at a cut: granted with all ancestors here only, and the same on every path."""

import pytest

from sync.calimero.governance.acl_view import Definition
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Access, OpId, Policy, Role, SetPolicy, Verdict
from sync.calimero.governance.verdicts import (
    Doing,
    may,
    peer_is_group_member,
    projection_member_at_cut,
    projection_member_at_cut_authoritative,
    verdict_at_cut,
)
from tests.support.sync.governed import History, RandomHistory, everybody, key

NONE, READER, MEMBER, ADMIN, OWNER = Role
UNKNOWN = OpId(b"u" * 32)
OPEN, CLOSED = Policy(), Policy(*[Access.ADMINS] * 4)


@pytest.mark.parametrize(
    ("role", "policy", "allowed"),
    [
        (NONE, OPEN, set()),
        (READER, OPEN, {Doing.REACT}),
        (MEMBER, OPEN, {Doing.REACT, Doing.WRITE, Doing.TOPIC, Doing.PIN}),
        (MEMBER, CLOSED, {Doing.REACT}),
        (ADMIN, CLOSED, set(Doing)),
        (OWNER, CLOSED, set(Doing)),
    ],
)
def test_what_a_role_may(role: Role, policy: Policy, allowed: set[Doing]) -> None:
    assert {doing for doing in Doing if may(role, policy, doing)} == allowed


def test_each_field_of_the_policy_is_about_its_own_thing() -> None:
    for field, doing in [("write", Doing.WRITE), ("topic", Doing.TOPIC), ("pins", Doing.PIN)]:
        policy = OPEN._replace(**{field: Access.ADMINS})
        assert [
            one for one in Doing if may(MEMBER, OPEN, one) and not may(MEMBER, policy, one)
        ] == [doing]


def test_a_verdict_is_about_the_cut_that_the_author_names() -> None:
    history = History("alice")
    before = history.add("alice", "bob")
    closed = history.act("alice", SetPolicy(Policy(write=Access.ADMINS)))
    after = history.remove("alice", "bob")
    governance, bob = history.governance, key("bob")

    def verdict(op: OpId, doing: Doing = Doing.WRITE) -> Verdict:
        return verdict_at_cut(governance, bob, (op,), doing)

    assert verdict(history.founded.id) is Verdict.NO
    assert verdict(before.id) is Verdict.YES
    assert verdict(closed.id) is Verdict.NO
    assert verdict(closed.id, Doing.REACT) is Verdict.YES
    assert verdict(after.id, Doing.REACT) is Verdict.NO
    assert verdict(UNKNOWN) is Verdict.UNKNOWN


def test_with_part_of_a_cut_the_grant_arm_has_no_answer() -> None:
    history = History("alice")
    added = history.add("alice", "bob")
    governance, bob, carol = history.governance, key("bob"), key("carol")
    part = (added.id, UNKNOWN)

    assert projection_member_at_cut(governance, bob, part) is True
    assert projection_member_at_cut(governance, carol, part) is False
    assert projection_member_at_cut_authoritative(governance, bob, part) is None
    assert projection_member_at_cut_authoritative(governance, carol, part) is None
    assert verdict_at_cut(governance, bob, part, Doing.WRITE) is Verdict.UNKNOWN
    assert projection_member_at_cut(governance, bob, (UNKNOWN,)) is None
    assert projection_member_at_cut_authoritative(governance, bob, (added.id,)) is True


def test_a_peer_is_judged_by_what_is_known_now() -> None:
    history = History("alice")
    history.add("alice", "bob")
    governance = history.governance

    assert peer_is_group_member(governance, key("bob"))
    assert not peer_is_group_member(governance, key("carol"))
    history.remove("alice", "bob")
    assert not peer_is_group_member(governance, key("bob"))
    assert not peer_is_group_member(Governance(governance.group), key("alice"))


def test_both_arms_and_the_definition_agree_at_every_cut() -> None:
    for seed in range(12):
        history = RandomHistory(seed, 30).history
        definition = Definition(history.ops)
        for op in history.ops:
            view = definition.acl_view_at(definition.cut([op.id]))
            for one in everybody():
                granted = projection_member_at_cut_authoritative(history.governance, one, (op.id,))
                assert granted is projection_member_at_cut(history.governance, one, (op.id,))
                assert granted is (one in view.roles)


def test_another_node_without_the_ops_says_unknown_until_they_come() -> None:
    history = History("alice")
    added = history.add("alice", "bob")
    other = Governance(history.governance.group)
    other.receive(history.founded)
    assert verdict_at_cut(other, key("bob"), (added.id,), Doing.WRITE) is Verdict.UNKNOWN
    other.receive(added)

    assert verdict_at_cut(other, key("bob"), (added.id,), Doing.WRITE) is Verdict.YES
