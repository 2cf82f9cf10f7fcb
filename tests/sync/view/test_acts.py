"""Acts as lines: what each does, what it came to, and what is told when ops are taken in."""

from collections.abc import Sequence

import pytest

from sync.calimero.governance import limits
from sync.calimero.governance.ops import Access, Key, Leave, Policy, Role, SetPolicy, SignedGroupOp
from sync.machine import ChannelId, PeerId
from sync.view.acts import ActLines, told_of
from sync.view.governance_infos import (
    ActInfo,
    ActKind,
    MembershipShown,
    OpShown,
    Person,
    Reason,
    RoleChange,
)
from sync.view.losses import Losses
from tests.support.sync.costs import calls_of
from tests.support.sync.governed import History, RandomHistory, everybody, joined_by_many, key

ME = PeerId(key("alice").hex())


def nick_of(peer: PeerId) -> str:
    return everybody()[Key(bytes.fromhex(peer))]


def named(name: str) -> Person:
    return Person(PeerId(key(name).hex()), name)


def info(history: History, op: SignedGroupOp) -> ActInfo:
    governance = history.governance
    channel = ChannelId(governance.group.hex())
    shown = ActLines(channel, governance, ME, nick_of).line(governance.act(op.id)).act
    assert shown is not None
    return shown


def told(history: History, *ops: SignedGroupOp) -> Sequence[OpShown | MembershipShown]:
    channel = ChannelId(history.governance.group.hex())
    return told_of(channel, history.governance, [op.id for op in ops], ME, nick_of)


OVERRULED_TWICE = 332
"""Seed of a history with an op about two people that lost to another one for each."""


@pytest.mark.parametrize("seed", [*range(12), OVERRULED_TWICE])
def test_a_loss_that_is_looked_up_is_the_one_among_all(seed: int) -> None:
    history = RandomHistory(seed, 60).history
    governance = history.governance
    state, channel = governance.now, ChannelId(governance.group.hex())

    every = governance.losses(state)
    losses = Losses(governance, state)

    found = {act.id: loss for act in governance.dag.acts if (loss := losses.of(act)) is not None}
    assert found == every
    lines = ActLines(channel, governance, ME, lambda _: "")
    assert len([lines.line(act) for act in governance.dag.acts]) == len(history.ops)


def test_some_of_these_histories_have_losses() -> None:
    lost = [RandomHistory(seed, 60).history.governance for seed in range(12)]

    reasons = {loss.reason for one in lost for loss in one.losses(one.now).values()}

    assert {Reason.SIGNER_TAKEN_OUT, Reason.CODE_ENDED, Reason.OVERRULED} <= reasons


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("crowded", [False, True])
def test_what_is_told_op_by_op_adds_up_to_what_is_so_in_the_end(
    seed: int, monkeypatch: pytest.MonkeyPatch, *, crowded: bool
) -> None:
    """Whoever heard all events shows each act as somebody who reads them all at the end."""
    if crowded:
        monkeypatch.setattr(limits, "MEMBERS_MAX", 4)
    whole = joined_by_many(seed) if crowded else RandomHistory(seed, 60).history
    growing = History("alice")
    growing.governance = type(whole.governance)(whole.governance.group)
    growing.ops = []
    shown: dict[str, ActInfo | None] = {}
    roles: dict[str, Role] = {}
    for op in whole.ops:
        growing.take(op)
        for event in told(growing, op):
            if isinstance(event, OpShown):
                assert event.again == (event.line.message_id in shown)
                shown[event.line.message_id] = event.line.act
            else:
                for change in event.changes:
                    assert roles.get(change.peer, Role.NONE) is change.before
                    roles[change.peer] = change.after

    channel = ChannelId(whole.governance.group.hex())
    lines = ActLines(channel, growing.governance, ME, nick_of)
    assert shown == {act.id.hex(): lines.info(act) for act in growing.governance.dag.acts}
    now = growing.governance.now.people
    assert {peer: role for peer, role in roles.items() if role} == {
        who.hex(): one.role for who, one in now.items() if one.member
    }


def test_a_join_costs_the_same_however_many_found_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody with a code joins with thousands of keys."""
    monkeypatch.setattr(limits, "MEMBERS_MAX", 4)
    history = History("alice")
    code = history.invite("alice", "code")

    def joins(number: int) -> None:
        told(history, history.join(f"guest {number}", code, "code"))

    calls = [calls_of(lambda number=number: joins(number)) for number in range(60)]  # type: ignore[misc]

    assert max(calls[40:]) <= max(calls[10:20]) + 10


def test_a_batch_tells_each_act_once_in_the_order_of_the_transcript() -> None:
    history = History("alice")
    ops = [history.add("alice", "bob"), history.set_role("alice", "bob", Role.ADMIN)]

    events = told(history, *reversed(ops))

    acts = [event.line.act for event in events if isinstance(event, OpShown)]
    assert [act.kind for act in acts if act] == [ActKind.ADDED, ActKind.ROLE]
    assert events[-1] == MembershipShown(
        ChannelId(history.governance.group.hex()),
        (RoleChange(*named("bob"), Role.NONE, Role.ADMIN),),
    )


def test_nothing_is_told_of_no_ops() -> None:
    assert told(History("alice")) == []


def test_an_op_that_undoes_another_tells_of_both() -> None:
    history = History("alice")
    history.add("alice", "bob", Role.ADMIN)
    before = [history.ops[-1]]
    added = history.add("bob", "carol", after=before)

    removed = history.remove("alice", "bob", after=before)

    first, again, changed = told(history, removed)
    assert isinstance(first, OpShown)
    assert isinstance(again, OpShown)
    assert isinstance(changed, MembershipShown)
    assert (first.line.message_id, first.again) == (removed.id.hex(), False)
    assert (again.line.message_id, again.again) == (added.id.hex(), True)
    assert again.line.act is not None
    assert again.line.act.loss is not None
    assert again.line.act.loss.reason is Reason.SIGNER_TAKEN_OUT
    assert again.line.act.loss.because is not None
    assert again.line.act.loss.because.people == (named("bob"),)
    assert {one.nick: one.after for one in changed.changes} == {
        "bob": Role.NONE,
        "carol": Role.NONE,
    }


def test_an_act_tells_whom_it_is_about_and_what_it_gives() -> None:
    history = History("alice")
    code = history.invite("alice", "code", Role.READER)
    joined = history.join("carol", code, "code")
    changed = history.act("alice", SetPolicy(Policy(pins=Access.ADMINS)))
    raised = history.set_role("alice", "carol", Role.MEMBER)
    lowered = history.set_role("alice", "carol", Role.READER)
    rotated = history.act("alice", history.rotation())
    left = history.act("carol", Leave())

    assert info(history, history.founded) == ActInfo(ActKind.FOUNDED, name="friends")
    assert info(history, code) == ActInfo(ActKind.INVITED, role=Role.READER)
    assert info(history, joined) == ActInfo(ActKind.JOINED, (named("alice"),), Role.READER)
    assert info(history, changed) == ActInfo(ActKind.POLICY, policy=(("pins", Access.ADMINS),))
    assert info(history, raised) == ActInfo(ActKind.ROLE, (named("carol"),), Role.MEMBER)
    assert info(history, lowered).lowers
    assert info(history, rotated) == ActInfo(ActKind.ROTATED, epoch=1)
    assert info(history, left) == ActInfo(ActKind.LEFT)


def test_a_join_of_somebody_removed_is_told_as_a_question() -> None:
    history = History("alice")
    history.add("alice", "bob")
    history.remove("alice", "bob")
    code = history.invite("alice", "code")

    asked = history.join("bob", code, "code")

    assert info(history, asked).kind is ActKind.ASKED
