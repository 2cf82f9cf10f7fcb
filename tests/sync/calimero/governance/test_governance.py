"""Ops come in in any order, from anybody: they are taken, wait or are refused, within bounds."""

import random

import pytest
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.dag import bits
from sync.calimero.governance.governance import Governance, Known, Refused, Taken, Waits
from sync.calimero.governance.ops import Invite, Leave, OpId, Role, SetRole, SignedGroupOp
from sync.calimero.governance.refusal import Refusal
from sync.calimero.governance.signing import sign
from tests.support.sync.costs import calls_of
from tests.support.sync.governed import History, RandomHistory, genesis, key

NO_ROOM = Refused(Refusal.FULL)


def again(op: SignedGroupOp, **changed: object) -> SignedGroupOp:
    """Return an op with something else in it."""
    return sign(replace(op.signed, **changed), lambda _: bytes(64))


def test_an_op_waits_for_its_parents_and_is_taken_after_them() -> None:
    history = History("alice")
    first = history.add("alice", "bob")
    second = history.set_role("alice", "bob", Role.READER)
    governance = Governance(history.governance.group)

    assert governance.receive(second) == Waits((first.id,))
    assert governance.receive(second) == Known()
    assert governance.receive(first) == Waits((history.founded.id,))
    assert governance.waiting.wanted() == (history.founded.id,)
    taken = governance.receive(history.founded)
    assert isinstance(taken, Taken)
    assert [one.op for one in taken.ops] == [history.founded, first, second]
    assert governance.receive(first) == Known()
    assert not governance.waiting.ops
    assert not governance.waiting.size
    assert governance.waiting.wanted() == ()
    assert governance.heads == (second.id,)


def test_what_stands_on_a_refused_op_is_refused() -> None:
    history = History("alice")
    history.add("alice", "bob")
    wrong = history.made("bob", SetRole(key("bob"), Role.ADMIN))
    child = again(wrong, parents=(wrong.id,), nonce=2, lamport=9)
    grandchild = again(wrong, parents=(child.id,), nonce=3, lamport=10)
    late = again(wrong, parents=(grandchild.id,), nonce=4, lamport=11)
    history.take(grandchild)
    history.take(child)

    assert history.take(wrong) == Refused(Refusal.NOT_ADMIN)
    assert history.take(late) == Refused(Refusal.REFUSED_PARENT)
    assert history.take(grandchild) == Refused(Refusal.REFUSED_PARENT)
    assert history.take(child) == Refused(Refusal.REFUSED_PARENT)
    assert not history.governance.waiting.ops


def test_a_waiting_op_without_right_is_told_when_its_parents_come() -> None:
    history = History("alice")
    parent = history.made("alice", SetRole(key("bob"), Role.READER))
    added = history.add("alice", "bob")
    parent = history.made("alice", SetRole(key("bob"), Role.READER), [added])
    wrong = again(parent, parents=(parent.id,), signer=key("bob"), nonce=1, lamport=9)
    assert isinstance(history.take(wrong), Waits)
    taken = history.take(parent)

    assert isinstance(taken, Taken)
    assert taken.refused == ((wrong.id, Refusal.NOT_ADMIN),)


def test_counters_follow_those_of_the_ancestors() -> None:
    history = History("alice")
    history.add("alice", "bob")
    leave = history.made("bob", Leave())
    lamport = history.ops[-1].signed.lamport

    assert history.take(again(leave, lamport=lamport)) == Refused(Refusal.LAMPORT)
    assert history.take(again(leave, nonce=2)) == Refused(Refusal.NONCE)
    assert isinstance(history.take(again(leave, lamport=lamport + 1_000)), Taken)


def test_forked_nonces_are_kept_and_shown() -> None:
    history = History("alice", "trent")
    base = history.add("alice", "bob")
    one = history.set_role("alice", "bob", Role.READER, after=[base])
    other = history.set_role("alice", "bob", Role.ADMIN, after=[base])

    governance = history.governance
    assert one.signed.nonce == other.signed.nonce
    assert governance.dag.forked == {key("alice"): {one.signed.nonce}}
    assert set(governance.heads) == {one.id, other.id}
    third = history.add("alice", "carol")
    assert third.signed.nonce == one.signed.nonce + 1


def test_a_genesis_founds_its_own_channel_alone() -> None:
    history = History("alice")
    with pytest.raises(AssertionError):
        history.governance.receive(genesis("bob"))


def unknown_parent(rng: random.Random) -> tuple[OpId, ...]:
    return (OpId(rng.randbytes(32)),)


def test_a_flood_of_waiting_ops_drives_out_none_but_its_own() -> None:
    history = History("alice")
    history.add("alice", "bob")
    governance = history.governance
    rng = random.Random(1)
    honest = again(history.made("bob", Leave()), parents=unknown_parent(rng))
    history.take(honest)
    for number in range(limits.WAITING_MAX + 200):
        op = again(honest, signer=key("mallory"), nonce=number + 1, parents=unknown_parent(rng))
        history.take(op)

    waiting = governance.waiting
    assert len(waiting.ops) == limits.WAITING_MAX
    assert waiting.forgotten == 201
    assert honest.id in waiting.ops
    assert len(waiting.wanted()) == limits.WAITING_MAX
    assert waiting.size == sum(len(op.content) for op in waiting.ops.values())


def test_waiting_ops_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WAITING_SIZE_MAX", 4_000)
    history = History("alice")
    rng = random.Random(1)
    for _ in range(100):
        history.take(again(history.made("alice", Leave()), parents=unknown_parent(rng)))

    assert 3_000 < history.governance.waiting.size <= 4_000


def test_ids_of_refused_ops_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REFUSED_REMEMBERED_MAX", 8)
    history = History("alice")
    for nonce in range(2, 40):
        history.take(again(history.made("mallory", Leave()), nonce=nonce))

    assert len(history.governance.refused.reasons) == 8


def test_a_member_has_room_for_some_ops_and_an_owner_for_all() -> None:
    history = History("alice")
    base = history.add("alice", "bob")
    for number in range(limits.OPS_OF_A_MEMBER_MAX):
        history.invite("bob", f"code {number}", after=[base])
    dag = history.governance.dag

    assert len(dag.by_signer[key("bob")]) == limits.OPS_OF_A_MEMBER_MAX
    more = history.made("bob", history.ops[-1].op, [history.ops[-1]])
    assert history.take(more) == Refused(Refusal.QUOTA)
    assert history.take(more) == Refused(Refusal.QUOTA), "not remembered: there may be room"
    for number in range(limits.OPS_OF_A_MEMBER_MAX):
        history.invite("alice", f"owner's code {number}", after=[base])
    assert len(dag.by_signer[key("alice")]) > limits.OPS_OF_A_MEMBER_MAX


def test_ancestors_of_others_ops_are_taken_beyond_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OPS_OF_A_MEMBER_MAX", 3)
    history = History("alice")
    base = history.add("alice", "bob")
    for number in range(3):
        history.invite("bob", f"code {number}", after=[base])
    over = history.made("bob", history.ops[-1].op, [history.ops[-1]])
    assert history.take(over) == Refused(Refusal.QUOTA)
    seen = again(
        history.made("alice", SetRole(key("bob"), Role.READER)), parents=(over.id,), lamport=99
    )
    assert isinstance(history.take(seen), Waits)
    nonce = history.governance.dag.next_nonce(key("alice"), (1 << 6) - 1)

    assert seen.signed.nonce == nonce
    taken = history.take(over)
    assert isinstance(taken, Taken)
    assert [one.op for one in taken.ops] == [over, seen]


def test_a_full_channel_has_room_for_owners_until_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OPS_MAX", 12)
    monkeypatch.setattr(limits, "OPS_FOR_ADMINS", 4)
    history = History("alice")
    history.add("alice", "bob")
    for number in range(6):
        history.invite("bob", f"code {number}")
    invite = history.ops[-1].op

    assert history.take(history.made("bob", invite)) == Refused(Refusal.FULL)
    for number in range(4):
        history.invite("alice", f"owner's code {number}")
    assert history.take(history.made("alice", invite)) == Refused(Refusal.FULL)
    assert len(history.governance.dag) == 12


def test_an_admin_who_takes_all_the_room_there_is_can_be_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "OPS_MAX", 12)
    monkeypatch.setattr(limits, "OPS_FOR_ADMINS", 6)
    monkeypatch.setattr(limits, "OPS_FOR_OWNERS", 3)
    history = History("alice")
    history.add("alice", "bob", Role.ADMIN)
    while (taken := history.take(history.made("bob", history.rotation()))) != NO_ROOM:
        assert isinstance(taken, Taken)

    history.remove("alice", "bob")

    assert len(history.governance.dag) == 10
    assert history.roles() == {"alice": Role.OWNER}


def test_an_admin_who_was_removed_has_room_as_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OPS_OF_A_MEMBER_MAX", 2)
    history = History("alice")
    base = history.add("alice", "bob", Role.ADMIN)
    history.remove("alice", "bob")
    history.invite("bob", "one", after=[base])
    history.invite("bob", "two", after=[base])
    third = history.made("bob", history.ops[-1].op, [history.ops[-1]])

    assert history.take(third) == Refused(Refusal.QUOTA)


def test_strangers_and_whoever_has_no_room_cost_no_state() -> None:
    """States at old cuts cost milliseconds, and are made for nobody without a share in them."""
    drawn = RandomHistory(4, 120)
    history = drawn.history
    for number in range(limits.OPS_OF_A_MEMBER_MAX):
        history.invite("alice", f"code {number}")
    base = history.add("alice", "erin 2")
    for number in range(limits.OPS_OF_A_MEMBER_MAX):
        history.invite("erin 2", f"more {number}", after=[base])
    governance = history.governance
    flood = [
        history.made(name, Leave(), [op])
        for op in history.ops[1:100]
        for name in ("a stranger", "erin 2")
    ]
    assert governance.now.room.size
    made = governance.projection.anew
    refused = {repr(governance.receive(op)) for op in flood}

    assert refused == {repr(Refused(Refusal.NOT_A_MEMBER)), repr(Refused(Refusal.QUOTA))}
    assert governance.projection.anew == made


def test_an_op_costs_no_more_for_thousands_that_nothing_has_seen() -> None:
    """An admin may sign as many at one cut: taking them in, and each start, took minutes."""
    history = History("alice")
    base = history.add("alice", "bob")
    governance = history.governance

    def cost_of(number: int) -> int:
        """Return the calls that another op takes; the search for its place takes a few more."""
        made = history.made("alice", Invite(number.to_bytes(32, "big"), Role.READER), [base])
        return calls_of(lambda: governance.receive(made))

    costs = [cost_of(number) for number in range(500)]

    assert len(governance.heads) == 500
    assert costs[-1] <= costs[10] + 10


def test_an_op_about_somebody_costs_no_square_of_those_at_once_with_it() -> None:
    """Five hundred signed by one admin at one cut took 17 s, a thousand over two minutes."""
    history = History("alice")
    base = history.add("alice", "bob")
    governance = history.governance
    down = history.set_role("alice", "bob", Role.READER)

    def cost_of(number: int) -> int:
        """Return the calls that another op takes: bob is lowered, and raised from there."""
        role, cut = [(Role.READER, base), (Role.MEMBER, down)][number % 2]
        made = again(history.made("alice", SetRole(key("bob"), role), [cut]), created_ns=number)
        return calls_of(lambda: governance.receive(made))

    costs = [cost_of(number) for number in range(240)]

    assert max(costs[-2:]) <= 4 * max(costs[58:60])
    assert governance.now.role(key("bob")) is Role.READER
    acts = [governance.act(op) for op in governance.heads]
    assert set(governance.losses(governance.now)) == {act.id for act in acts if not act.negative}


def test_ancestors_are_those_that_parents_name() -> None:
    history = RandomHistory(5, 60).history
    dag = history.governance.dag
    for op in history.ops:
        act = history.governance.act(op.id)
        seen: set[OpId] = set()
        stack = list(op.signed.parents)
        by_id = {one.id: one for one in history.ops}
        while stack:
            top = stack.pop()
            if top not in seen:
                seen.add(top)
                stack += by_id[top].signed.parents
        assert {dag.acts[number].id for number in bits(act.before)} == seen
        assert {one.id for one in dag.acts if act.knew(one.number)} == seen
