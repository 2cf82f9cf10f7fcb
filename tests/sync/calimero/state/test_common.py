"""State where one end has let go of old lines: compared over the authors whom both know."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.calimero.governance.ops import Key
from sync.calimero.state.common import Introductions, Part
from sync.calimero.state.contents import Topic
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.messages import AUTHORS_MAX, Authors, LevelData, decode, encode
from sync.calimero.state.registers import REGISTERS_OF_AUTHOR_MAX, Registers
from sync.calimero.state.session import COMMON
from sync.errors import RemoteError
from sync.group.stating import Stating
from sync.sessions.values import Outcome
from tests.support.sync.state.sessions import StateSession, key, stating
from tests.support.sync.states import entry_of, pin_of

PEOPLE = range(1, 13)
POOL = [
    *[pin_of(author, line, 5 + line) for author in PEOPLE for line in range(30)],
    *[entry_of(author, Topic(f"topic {stamp}"), stamp) for author in PEOPLE for stamp in (3, 9)],
]
FLOORS = [(7, 0), (0, 7), (7, 9)]


def of(authors: set[Key], *states: Stating) -> set[StateEntry]:
    """Return what these authors have set, by what two states had together."""
    everything = Registers([one for state in states for one in state.registers])
    return {one for one in everything if one.author in authors}


@pytest.mark.parametrize("protocol", ["state", "hash", "level"])
@given(rng=st.randoms(use_true_random=False), sizes=st.tuples(*[st.integers(0, 12)] * 2))
@settings(max_examples=25)
def test_both_end_with_the_same_of_whom_both_know_and_nothing_more(
    protocol: str, rng: random.Random, sizes: tuple[int, int]
) -> None:
    known = [{key(number) for number in rng.sample(PEOPLE, size)} for size in sizes]
    left, right = (
        stating(20 + number, rng.sample(POOL, rng.choice((4, 20, 150))), authors)
        for number, authors in enumerate(known)
    )
    both = known[0] & known[1]
    together = of(both, left, right)
    alone = [of(authors - both, one) for authors, one in zip(known, (left, right), strict=True)]
    equal = left.registers.tree.root == right.registers.tree.root
    session = StateSession(left, right, protocol, rng.choice(FLOORS))

    assert session.run() == (COMMON if not equal else "both have the same")
    assert set(left.registers) == together | alone[0]
    assert set(right.registers) == together | alone[1]
    assert session.left.finished is not None
    assert session.left.finished.outcome is (Outcome.CONVERGED if equal else Outcome.BENIGN)


@pytest.mark.parametrize("floors", FLOORS)
def test_nothing_of_somebody_unknown_travels_and_it_does_once_they_are_known(
    floors: tuple[int, int],
) -> None:
    theirs = [entry_of(1, Topic("silent for a year"), 5), entry_of(2, Topic("hello"), 6)]
    known = {key(2)}
    here, there = stating(20, theirs, {key(1), key(2)}), stating(21, theirs[1:], known)
    quiet = StateSession(here, there, floors=floors)
    quiet.run()
    before = (len(there.registers), there.aside, quiet.bodies)
    known.add(key(1))  # a message of theirs came
    told = StateSession(here, there, floors=floors)
    told.run()

    assert before == (1, 0, 0)
    assert told.bodies == 1
    assert there.registers.tree.root == here.registers.tree.root


def test_without_floors_everything_is_compared_and_no_author_told() -> None:
    here, there = stating(20, POOL[:100]), stating(21, POOL[50:150])
    session = StateSession(here, there)
    session.run()

    assert session.left.finished is not None
    assert session.left.finished.outcome is Outcome.CONVERGED
    assert not [one for one in session.sent[2:] if isinstance(decode(one), Authors)]


def test_what_changes_meanwhile_is_compared_too_or_said_to_have_moved() -> None:
    everybody = {key(number) for number in PEOPLE}
    for seed in range(12):
        rng = random.Random(seed)
        left, right = (stating(20 + n, rng.sample(POOL, 120), everybody) for n in range(2))
        session = StateSession(
            left, right, floors=(7, 0),
            between=lambda end, rng=rng: end.receive([rng.choice(POOL).content], 10**18),  # type: ignore[misc]
        )  # fmt: skip
        assert session.run() in {COMMON, "our state changed meanwhile", "both have the same"}
        assert StateSession(left, right, floors=(7, 0)).run() in {COMMON, "both have the same"}
        assert left.registers.tree.root == right.registers.tree.root


def test_a_part_follows_its_registers_also_where_entries_are_pushed_out() -> None:
    registers = Registers(pin_of(author, line, 5) for author in (1, 2) for line in range(100))
    part = Part(registers, {key(1)})
    for line in range(200, 300):
        registers.put(pin_of(1, line, 9))
        registers.put(pin_of(2, line, 9))
    part.follow({key(1), key(2)})
    alone = Registers(one for one in registers if one.author == key(1))

    assert len(part.tree) == REGISTERS_OF_AUTHOR_MAX
    assert part.tree.root == alone.tree.root


def introductions(*, opens: bool = False) -> Introductions:
    return Introductions(Registers(POOL), lambda _: True, opens=opens)


def test_what_no_honest_peer_tells_is_refused() -> None:
    with pytest.raises(RemoteError, match="not told"):
        introductions().payload(Authors((), (key(99),)))
    twice = introductions()
    twice.payload(Authors((key(1),), ()))
    with pytest.raises(RemoteError, match="told twice"):
        twice.payload(Authors((key(2),), ()))
    over = introductions(opens=True)
    over.payload(Authors((key(1),), ()))
    with pytest.raises(RemoteError, match="told twice"):
        over.payload(Authors((), ()))


def test_a_flood_of_authors_is_ended() -> None:
    flooded = introductions()
    keys = sorted(Key(number.to_bytes(32, "big")) for number in range(9 * AUTHORS_MAX))
    parts = [tuple(keys[at : at + AUTHORS_MAX]) for at in range(0, len(keys), AUTHORS_MAX)]
    for part in parts[:-1]:
        flooded.payload(Authors(part, (), more=True))
    with pytest.raises(RemoteError, match="more than 65,536 authors"):
        flooded.payload(Authors(parts[-1], (), more=True))


def test_nodes_before_the_authors_are_known_are_refused_and_authors_after_them() -> None:
    session = StateSession(stating(20, POOL[:9]), stating(21, POOL[9:20]), floors=(7, 0))
    end = session.right
    [hello] = session.left.exchange.open(0)
    end.exchange.payload(hello.payload, 0)  # type: ignore[union-attr]
    with pytest.raises(RemoteError, match="before the authors"):
        end.exchange.payload(encode(LevelData(2, ())), 0)
    plain = StateSession(stating(20, POOL[:9]), stating(21, POOL[9:20]))
    [hello] = plain.left.exchange.open(0)
    plain.right.exchange.payload(hello.payload, 0)  # type: ignore[union-attr]
    with pytest.raises(RemoteError, match="nodes are compared"):
        plain.right.exchange.payload(encode(Authors((), ())), 0)
