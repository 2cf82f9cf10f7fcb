"""State is a function of the set of ops: any order, op by op or anew, by the slow definition."""

import random
from itertools import permutations
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sync.calimero.governance import limits
from sync.calimero.governance.acl_view import Definition
from sync.calimero.governance.dag import bits
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Add, Key, OpId, Policy, Role
from sync.calimero.governance.projection import Projection, Reason, State
from tests.support.sync.costs import calls_of
from tests.support.sync.governed import (
    History,
    RandomHistory,
    everybody,
    joined_by_many,
    key,
    named_roles,
    noise,
)

OPS: Final = 28

View = tuple[dict[Key, Role], Policy, frozenset[OpId]]


def view(projection: Projection, state: State) -> View:
    """Return what the definition says of a cut, as the projection has it."""
    acts = projection.dag.acts
    return (
        {one: standing.role for one, standing in state.people.items() if standing.member},
        state.policy,
        frozenset(acts[number].id for number in bits(state.counting)),
    )


def told(governance: Governance) -> object:
    """Return all a node says of its state, in terms that do not depend on numbers of ops."""
    acts, state = governance.dag.acts, governance.now
    people = {
        one: (standing.role, acts[standing.act].id, acts[standing.since].id)
        for one, standing in state.people.items()
    }
    losses = {
        op: (loss.reason, None if loss.because is None else acts[loss.because].id)
        for op, loss in governance.losses(state).items()
    }
    return people, losses, state.policy, acts[state.epoch].id, governance.asking(state)


def test_a_removal_of_two_that_two_ops_overrule_names_the_same_one_in_any_order() -> None:
    history = History("alice")
    history.add("alice", "walter", Role.ADMIN)
    history.add("alice", "bob")
    base = history.add("alice", "carol")
    removed = history.remove("walter", "bob", "carol", after=[base])
    up = [history.set_role("alice", name, Role.ADMIN, after=[base]) for name in ("bob", "carol")]
    because = set()
    for order in permutations([removed, *up]):
        governance = Governance(history.governance.group)
        for op in [*history.ops[:4], *order]:
            governance.receive(op)
        loss = governance.losses(governance.now)[removed.id]
        assert loss.because is not None
        because.add(governance.dag.acts[loss.because].id)

    assert because == {min(up, key=lambda op: (op.signed.lamport, op.id)).id}


@settings(max_examples=80)
@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
@example(1061, random.Random(1))
def test_state_does_not_depend_on_the_order_of_arrival(seed: int, order: object) -> None:
    history = RandomHistory(seed, OPS).history
    ops = list(history.ops)
    order.shuffle(ops)  # type: ignore[attr-defined]
    other = Governance(history.governance.group)
    for op in ops:
        other.receive(op)

    assert told(other) == told(history.governance)
    assert other.heads == history.governance.heads


@settings(max_examples=80)
@given(st.integers(0, 2**32))
def test_state_is_that_of_the_definition_at_every_cut(seed: int) -> None:
    history = RandomHistory(seed, OPS).history
    projection = history.governance.projection
    definition = Definition(history.ops)
    for op in history.ops:
        act = history.governance.act(op.id)
        cut = act.before | act.bit
        expected = definition.acl_view_at(definition.cut([op.id]))
        assert view(projection, projection.state(cut)) == expected
        assert view(projection, projection._anew(cut)) == expected
    whole = definition.acl_view_at(definition.cut(history.governance.heads))
    assert view(projection, history.governance.now) == whole


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_op_by_op_is_as_anew(seed: int) -> None:
    """Grow the set in numbers' order, and in that of two halves: known states are led on."""
    history = RandomHistory(seed, OPS).history
    governance = history.again().governance
    projection = governance.projection
    cut = 1
    for number in range(1, len(governance.dag)):
        cut |= 1 << number
        assert projection.state(cut) == projection._anew(cut)
    rng = RandomHistory(seed, 0).rng
    again = history.again().governance.projection
    cut = 1
    left = set(range(1, len(governance.dag)))
    while left:
        ready = [number for number in sorted(left) if not again.dag.acts[number].before & ~cut]
        number = rng.choice(ready)
        left.discard(number)
        cut |= 1 << number
        assert again.state(cut) == again._anew(cut)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_a_verdict_at_a_cut_never_changes(seed: int) -> None:
    drawn = RandomHistory(seed, OPS // 2)
    governance = drawn.history.governance
    cuts = [(op.id,) for op in drawn.history.ops]
    before = {cut: view(governance.projection, known(governance, cut)) for cut in cuts}
    drawn.grow(OPS)
    governance.projection._states.clear()
    governance.projection._named.clear()

    for cut, roles in before.items():
        assert view(governance.projection, known(governance, cut)) == roles


def known(governance: Governance, heads: tuple[OpId, ...]) -> State:
    state = governance.projection.at(heads)
    assert state is not None
    return state


def test_a_restored_node_says_what_it_said() -> None:
    for seed in range(20):
        history = RandomHistory(seed, OPS).history

        assert told(history.again().governance) == told(history.governance)


def test_an_act_at_the_end_makes_no_state_anew() -> None:
    history = History("alice")
    assert history.governance.now.room.size == 1
    made = history.governance.projection.anew
    for name in list(everybody().values())[1:]:
        history.add("alice", name)
        history.set_role("alice", name, Role.READER)

    assert history.governance.projection.anew == made


def test_nothing_is_known_of_a_cut_that_is_not_here() -> None:
    history = History("alice")

    assert history.governance.projection.at((OpId(bytes(32)),)) is None
    assert history.governance.projection.at(()) is None


def test_kept_states_and_folds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FOLDS_CACHED", 16)
    history = RandomHistory(3, 200).history
    projection = history.governance.projection

    assert len(history.ops) > limits.STATES_CACHED
    assert len(projection._states) == limits.STATES_CACHED
    assert len(projection._named) <= limits.STATES_CACHED
    assert len(projection.folds._known) <= 16


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(3, 12))
def test_who_has_room_is_the_same_op_by_op_and_anew(seed: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(limits, "MEMBERS_MAX", most)
        history = joined_by_many(seed)
        projection, definition = history.governance.projection, Definition(history.ops)
        for op in history.ops:
            act = history.governance.act(op.id)
            cut = act.before | act.bit
            led, anew = projection.state(cut), projection._anew(cut)
            assert led.room == anew.room
            assert view(projection, led) == definition.acl_view_at(definition.cut([op.id]))


def test_who_joins_last_finds_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of a cut let somebody in by a code; together they are one too many."""
    monkeypatch.setattr(limits, "MEMBERS_MAX", 3)
    history = History("alice")
    code = history.invite("alice", "code")
    first = history.join("bob", code, "code", after=[code])
    filler = history.set_role("alice", "bob", Role.READER, after=[first])
    history.join("carol", code, "code", after=[filler])
    second = history.join("dave", code, "code", after=[code])

    governance = history.governance
    assert set(named_roles(governance)) == {"alice", "bob", "dave"}
    loss = governance.losses(governance.now)
    assert {one.reason for one in loss.values()} == {Reason.CROWDED}
    assert [one.key for one in governance.asking(governance.now)] == [key("carol")]
    definition = Definition(history.ops)
    whole = definition.acl_view_at(definition.cut(governance.heads))
    assert view(governance.projection, governance.now)[0] == whole.roles
    assert second.id in governance.heads
    adding = Add(key("erin"), noise("erin"), Role.MEMBER)
    history.take(history.made("alice", adding))
    assert "erin" not in history.roles()
    history.remove("alice", "bob")
    assert set(history.roles()) == {"alice", "dave", "carol"}


def test_what_the_definition_costs_grows_with_acts_about_one_person_no_faster_than_they() -> None:
    """An admin signs thousands about somebody, and the definition rests between people alone."""
    calls = []
    for count in (40, 160):
        history = History("alice")
        history.add("alice", "bob")
        for number in range(count):
            history.set_role("alice", "bob", Role.MEMBER if number % 2 else Role.READER)
        definition = Definition(history.ops)
        for number in range(len(history.ops)):
            definition.facts(number)
        definition._views.clear()
        cut = definition.cut(history.governance.heads)
        calls.append(calls_of(lambda of=definition, at=cut: of.acl_view_at(at)))  # type: ignore[misc]

    assert calls[1] < 5 * calls[0]
