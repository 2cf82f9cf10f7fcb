"""Frames no honest peer sends: each is refused, leaves no trace, and the check goes on."""

import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from sync.check import descent
from sync.check.check import Begin, FrameReceived, Result
from sync.check.message import (
    IDS_MAX,
    NODES_MAX,
    Ask,
    Child,
    Claim,
    End,
    Ending,
    Frame,
    Hashes,
    Leaf,
    Leaves,
    Node,
    Proof,
    Verdict,
)
from sync.check.phases import ENDINGS, MAY_COME, Phase
from sync.check.wire import decode_frame
from sync.errors import RemoteError
from sync.structures.ordered_set import SyncId
from sync.structures.set_digest import FANOUT_BITS, LEAF_BITS, ROOT_LEVEL, ROW_BYTES, row
from sync.waku.message import TIMESTAMP_MAX
from sync.waku.reconcile import Role
from tests.support.sync.checks import Pair, assert_learnt, check, damaged, pair
from tests.support.sync.digests import held
from tests.support.sync.waku.sets import NOW, numbered

BUCKET = 1 << LEAF_BITS

# Buckets of three ids that are equal, different, and on one side only.
FAR = numbered(3_000, NOW + 1_000 * BUCKET)
COMMON = {FAR, *(numbered(number, NOW + number * BUCKET // 3) for number in range(300))}
GONE = {item for item in COMMON if item.timestamp >> LEAF_BITS == (NOW >> LEAF_BITS) + 50}
OURS = COMMON | {numbered(1_000, NOW + 3 * BUCKET)}
THEIRS = COMMON - GONE | {
    numbered(number, NOW + number * BUCKET // 25) for number in range(2_000, 2_050)
}

FRAMES: tuple[Frame, ...] = (
    Claim(bytes(16), 0),
    Proof(bytes(16), 0, 0, bytes(32)),
    Verdict(0, bytes(32)),
    Ask(ROOT_LEVEL, (0,)),
    Hashes(ROOT_LEVEL, ()),
    Leaves(()),
    *(End(ending) for ending in Ending),
)


def different() -> Pair:
    return pair(OURS, THEIRS)


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        (Claim, Role.RESPONDER),
        (Proof, Role.INITIATOR),
        (Verdict, Role.RESPONDER),
        (Ask, Role.RESPONDER),
        (Hashes, Role.INITIATOR),
        (Leaves, Role.RESPONDER),
        (Leaves, Role.INITIATOR),
        (End, Role.RESPONDER),
    ],
)
def test_a_frame_out_of_turn_is_the_peers_fault(kind: type[Frame], role: Role) -> None:
    both = different()
    both.run_until(kind, role)  # type: ignore[type-var]
    state = (role, both.side(role).machine.phase)

    for frame in FRAMES:
        may_come = isinstance(frame, MAY_COME[state])
        if not may_come or (isinstance(frame, End) and frame.ending not in ENDINGS[state]):
            both.refuses(frame)

    assert_learnt(both.run(), OURS, THEIRS)


@pytest.mark.parametrize("role", Role)
def test_nothing_may_come_before_the_beginning_or_after_the_end(role: Role) -> None:
    done = pair(OURS, OURS).run().side(role).machine
    unbegun = check(Role.INITIATOR, held([]))

    for frame in FRAMES:
        for machine in (done, unbegun):
            with pytest.raises(RemoteError, match="came while"):
                machine.handle(FrameReceived(frame), NOW)

    assert done.phase is Phase.FINISHED
    assert unbegun.handle(Begin(), NOW)


@pytest.mark.parametrize("floor", [TIMESTAMP_MAX + 1, 2**64 - 1])
def test_a_floor_that_is_no_time_is_refused(floor: int) -> None:
    both = different()

    both.run_until(Claim, Role.RESPONDER)
    both.refuses(Claim(b"i" * 16, floor))
    proof = both.run_until(Proof, Role.INITIATOR)
    both.refuses(replace(proof, floor=floor))

    assert_learnt(both.run(), OURS, THEIRS)


def with_node(answer: Hashes, node: Node) -> Hashes:
    """The answer with another first node."""
    return replace(answer, nodes=(node, *answer.nodes[1:]))


def with_children(answer: Hashes, *children: Child) -> Hashes:
    """The answer with other children of its first node."""
    return with_node(answer, replace(answer.nodes[0], children=children))


def with_child(answer: Hashes, child: Child) -> Hashes:
    """The answer with another first child of its first node."""
    return with_children(answer, child, *answer.nodes[0].children[1:])


def node_of(answer: Hashes) -> Node:
    return answer.nodes[0]


def child_of(answer: Hashes) -> Child:
    return answer.nodes[0].children[0]


BAD_HASHES: dict[str, Callable[[Hashes], Hashes]] = {
    "another level": lambda answer: replace(answer, level=answer.level % ROOT_LEVEL + 1),
    "a level there is not": lambda answer: replace(answer, level=2**32 - 1),
    "no node": lambda answer: replace(answer, nodes=()),
    "a node too many": lambda answer: replace(answer, nodes=(*answer.nodes, Node(2**24, ()))),
    "another node": lambda answer: with_node(
        answer, replace(node_of(answer), index=node_of(answer).index + 1)
    ),
    "a node without its children": with_children,
    "a child twice": lambda answer: with_children(
        answer, child_of(answer), *node_of(answer).children
    ),
    "a child of another node": lambda answer: with_children(
        answer,
        *node_of(answer).children,
        Child(node_of(answer).index + 1 << FANOUT_BITS, bytes(32), int(answer.level == 1)),
    ),
    "a child there is not": lambda answer: with_child(
        answer, replace(child_of(answer), index=2**32 - 1)
    ),
    "another hash": lambda answer: with_child(answer, replace(child_of(answer), hash=bytes(32))),
    "a count where there is none, or none where there is one": lambda answer: with_child(
        answer, replace(child_of(answer), count=int(answer.level != 1))
    ),
}


@pytest.mark.parametrize("name", BAD_HASHES)
@pytest.mark.parametrize("level", range(1, ROOT_LEVEL + 1))
def test_hashes_that_are_not_those_asked_for_are_refused(name: str, level: int) -> None:
    both = different()
    answer = both.run_until(Hashes, Role.INITIATOR)
    while answer.level != level:
        both.next_frame(Role.INITIATOR)
        answer = both.run_until(Hashes, Role.INITIATOR)

    both.refuses(BAD_HASHES[name](answer))

    assert_learnt(both.run(), OURS, THEIRS)


def test_children_in_falling_order_are_refused() -> None:
    both = different()
    answer = both.run_until(Hashes, Role.INITIATOR)
    while len(answer.nodes[0].children) < 2:
        both.next_frame(Role.INITIATOR)
        answer = both.run_until(Hashes, Role.INITIATOR)

    both.refuses(with_children(answer, *answer.nodes[0].children[::-1]))

    assert_learnt(both.run(), OURS, THEIRS)


def first_leaf(frame: Leaves, rows: bytes) -> Leaves:
    return Leaves((Leaf(frame.leaves[0].index, rows), *frame.leaves[1:]))


def at_leaf(frame: Leaves, position: int) -> SyncId:
    """An id in the first leaf of the frame."""
    return numbered(9_999, (frame.leaves[0].index << LEAF_BITS) + position)


BAD_LEAVES: dict[str, Callable[[Leaves], Leaves]] = {
    "half an id": lambda frame: first_leaf(frame, frame.leaves[0].rows + b"\0"),
    "an id below its leaf": lambda frame: first_leaf(frame, row(at_leaf(frame, -1))),
    "an id above its leaf": lambda frame: first_leaf(frame, row(at_leaf(frame, BUCKET))),
    "an id twice": lambda frame: first_leaf(frame, 2 * row(at_leaf(frame, 1))),
    "ids that fall": lambda frame: first_leaf(
        frame, row(at_leaf(frame, 2)) + row(at_leaf(frame, 1))
    ),
}

BAD_LEAF_ANSWERS = BAD_LEAVES | {
    "an id more": lambda frame: first_leaf(
        frame, frame.leaves[0].rows + row(at_leaf(frame, BUCKET - 1))
    ),
    "an id less": lambda frame: first_leaf(frame, frame.leaves[0].rows[:-ROW_BYTES]),
    "another id": lambda frame: first_leaf(
        frame, frame.leaves[0].rows[:-ROW_BYTES] + row(at_leaf(frame, BUCKET - 1))
    ),
    "a leaf more": lambda frame: Leaves((*frame.leaves, Leaf(2**24 - 1, b""))),
    "a leaf less": lambda frame: Leaves(frame.leaves[1:]),
    "leaves that fall": lambda frame: Leaves(frame.leaves[::-1]),
    "ids in a leaf it has not": lambda frame: Leaves(
        tuple(
            Leaf(leaf.index, leaf.rows or row(SyncId(leaf.index << LEAF_BITS, bytes(32))))
            for leaf in frame.leaves
        )
    ),
}

BAD_LEAF_QUESTIONS = BAD_LEAVES | {
    "no leaf": lambda _: Leaves(()),
    "a leaf twice": lambda frame: Leaves((frame.leaves[0], *frame.leaves)),
    "leaves that fall": lambda frame: Leaves(frame.leaves[::-1]),
    "a leaf neither has": lambda frame: Leaves((*frame.leaves, Leaf(2**24 - 1, b""))),
    "a leaf beyond all time": lambda frame: Leaves((*frame.leaves, Leaf(2**24, b""))),
    "an id beyond all messages": lambda frame: Leaves(
        (*frame.leaves, Leaf(2**23, row(SyncId(TIMESTAMP_MAX, bytes(32)))))
    ),
    "the last id of all": lambda frame: Leaves(
        (*frame.leaves, Leaf((TIMESTAMP_MAX >> LEAF_BITS), row(SyncId(TIMESTAMP_MAX, bytes(32)))))
    ),
    "too many leaves": lambda _: Leaves(tuple(Leaf(index, b"") for index in range(NODES_MAX + 1))),
}


@pytest.mark.parametrize("name", BAD_LEAF_ANSWERS)
def test_leaves_that_are_not_those_asked_for_are_refused(name: str) -> None:
    both = different()
    answer = both.run_until(Leaves, Role.INITIATOR)
    bad = BAD_LEAF_ANSWERS[name](answer)
    assert bad != answer

    both.refuses(bad)

    assert_learnt(both.run(), OURS, THEIRS)


@pytest.mark.parametrize("name", BAD_LEAF_QUESTIONS)
def test_leaves_no_honest_peer_asks_for_are_refused(name: str) -> None:
    both = different()
    question = both.run_until(Leaves, Role.RESPONDER)
    bad = BAD_LEAF_QUESTIONS[name](question)
    assert bad != question

    both.refuses(bad)

    assert_learnt(both.run(), OURS, THEIRS)


def test_a_question_with_more_ids_than_a_frame_holds_is_refused() -> None:
    both = different()
    question = both.run_until(Leaves, Role.RESPONDER)
    start = question.leaves[0].index << LEAF_BITS
    rows = b"".join(row(SyncId(start + number, bytes(32))) for number in range(IDS_MAX + 1))

    both.refuses(Leaves((Leaf(question.leaves[0].index, rows),)))
    asked = both.instead(Leaves((Leaf(question.leaves[0].index, rows[:-ROW_BYTES]),)))

    assert len(asked.need) == IDS_MAX


def test_leaves_of_which_we_have_more_than_a_frame_holds_are_not_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(descent, "IDS_MAX", 2)
    both = pair({numbered(1, NOW)}, {numbered(number, NOW + number) for number in range(2, 4)})
    question = both.run_until(Leaves, Role.RESPONDER)
    monkeypatch.setattr(descent, "IDS_MAX", 1)

    both.refuses(question)


BAD_ASKS = {
    "level 0": Ask(0, (0,)),
    "a level above the root": Ask(ROOT_LEVEL + 1, (0,)),
    "an endless level": Ask(2**32 - 1, (0,)),
    "no node": Ask(ROOT_LEVEL, ()),
    "a second root": Ask(ROOT_LEVEL, (0, 1)),
    "a node twice": Ask(3, ((NOW >> 58), (NOW >> 58))),
    "nodes that fall": Ask(3, ((NOW >> 58), 0)),
    "a node there is not": Ask(3, ((NOW >> 58) + 1,)),
    "an index of no node": Ask(1, (2**32 - 1,)),
    "too many nodes": Ask(1, tuple(range(NODES_MAX + 1))),
}


@pytest.mark.parametrize("name", BAD_ASKS)
def test_nodes_no_honest_peer_asks_for_are_refused(name: str) -> None:
    both = different()
    both.run_until(Ask, Role.RESPONDER)

    both.refuses(BAD_ASKS[name])

    assert_learnt(both.run(), OURS, THEIRS)


def test_a_node_or_leaf_is_answered_once() -> None:
    both = different()

    root = both.run_until(Ask, Role.RESPONDER)
    both.next_frame(Role.RESPONDER)
    both.run_until(Ask, Role.RESPONDER)
    both.refuses(root)
    leaves = both.run_until(Leaves, Role.RESPONDER)
    both.next_frame(Role.RESPONDER)
    both.run_until(End, Role.RESPONDER)
    both.refuses(leaves)

    assert_learnt(both.run(), OURS, THEIRS)


def test_endless_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    both = different()
    both.run_until(End, Role.RESPONDER)
    kinds = [type(decode_frame(data)) for data in both.wire]
    asked = kinds.count(Ask) + kinds.count(Leaves) // 2
    one_more = Ask(1, (FAR.timestamp >> LEAF_BITS + FANOUT_BITS,))

    monkeypatch.setattr(descent, "QUESTIONS_MAX", asked)
    both.refuses(one_more)
    monkeypatch.setattr(descent, "QUESTIONS_MAX", asked + 1)

    assert both.instead(one_more).finished is None


def test_an_end_that_shows_no_difference_is_refused() -> None:
    both = different()
    both.run_until(Ask, Role.RESPONDER)

    both.refuses(End(Ending.SETTLED))

    assert_learnt(both.run(), OURS, THEIRS)


@pytest.mark.parametrize("ending", ENDINGS[Role.RESPONDER, Phase.DESCENDING][1:])
def test_an_initiator_that_gives_up_leaves_a_failed_check(ending: Ending) -> None:
    both = different()
    both.run_until(Ask, Role.RESPONDER)

    told = both.instead(End(ending))

    assert told.finished is not None
    assert (told.finished.result, told.finished.reason) == (Result.FAILED, ending.value)


@pytest.mark.parametrize("seed", range(200))
def test_whatever_is_damaged_on_the_way_nothing_different_is_called_equal(seed: int) -> None:
    chance = random.Random(seed)
    both = different()
    refused = 0

    while (frame := both.under_way) and refused < 20:
        bad = damaged(frame, chance) if chance.random() < 0.5 else frame
        assert isinstance(bad, Frame)
        try:
            both.instead(bad)
        except RemoteError:
            refused += 1

    results = (both.initiator.result, both.responder.result)
    assert Result.EQUAL not in results, f"seed={seed}"
