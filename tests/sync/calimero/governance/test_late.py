"""A removed person's older entries come in everywhere, and are marked the same everywhere."""

from msgspec.structs import replace

from sync.calimero.governance.dag import Act
from sync.calimero.governance.late import (
    Lateness,
    cut_goes_back,
    lateness,
    removals_since,
)
from sync.calimero.governance.ops import OpId, Remove, Role, Seal, SignedGroupOp
from tests.support.sync.governed import History, key

BOB = key("bob")
SEALED = b"s" * 32


def sealed_removal(history: History) -> SignedGroupOp:
    removal = history.removal("bob")
    return history.act("alice", replace(removal, seals=(Seal(BOB, 1, 5, SEALED),)))


def removals(history: History, *heads: OpId) -> list[Act]:
    return removals_since(history.governance, history.governance.now, BOB, heads)


def late(
    history: History,
    cut: OpId,
    *,
    parents: tuple[OpId, ...] = (),
    ancestors_of: bytes = b"",
) -> Lateness:
    """Return how late an entry is, whose parents name these cuts; `ancestors_of` is after it."""
    dag = history.governance.dag
    return lateness(
        removals(history, cut),
        BOB,
        [dag.closure([parent]) or 0 for parent in parents],
        lambda sealed: sealed == ancestors_of,
    )


def test_an_older_cut_is_within_the_seal_or_beyond_it() -> None:
    history = History("alice")
    added = history.add("alice", "bob")
    assert late(history, added.id) is Lateness.IN_TIME
    removed = sealed_removal(history)

    assert late(history, added.id, ancestors_of=SEALED) is Lateness.SEALED
    assert late(history, added.id) is Lateness.BEYOND
    assert late(history, added.id, parents=(added.id,)) is Lateness.BEYOND
    assert late(history, added.id, parents=(added.id, removed.id)) is Lateness.FOLDED
    assert late(history, removed.id) is Lateness.IN_TIME


def test_a_removal_that_came_to_nothing_marks_nothing() -> None:
    history = History("alice")
    history.add("alice", "carol", Role.ADMIN)
    base = history.add("alice", "bob")
    history.remove("alice", "carol", after=[base])
    history.remove("carol", "bob", after=[base])

    assert history.roles()["bob"] is Role.MEMBER
    assert late(history, base.id) is Lateness.IN_TIME


def test_a_removal_that_lost_against_a_promotion_marks_nothing() -> None:
    history = History("alice")
    history.add("alice", "carol", Role.ADMIN)
    base = history.add("alice", "bob")
    promoted = history.set_role("alice", "bob", Role.ADMIN, after=[base])
    removed = history.remove("carol", "bob", after=[base])

    assert history.roles()["bob"] is Role.ADMIN
    assert late(history, base.id) is Lateness.IN_TIME
    history.set_role("alice", "bob", Role.MEMBER, after=[promoted, removed])
    assert late(history, base.id) is Lateness.IN_TIME, "what comes later makes it no removal"


def test_a_removal_marks_though_somebody_was_let_in_again() -> None:
    history = History("alice")
    base = history.add("alice", "bob")
    history.remove("alice", "bob")
    history.add("alice", "bob")

    assert late(history, base.id) is Lateness.BEYOND


def test_each_removal_seals_for_itself() -> None:
    history = History("alice", "trent")
    base = history.add("alice", "bob")
    sealed_removal(history)
    history.remove("trent", "bob", after=[base])

    assert len(removals(history, base.id)) == 2
    assert late(history, base.id, ancestors_of=SEALED) is Lateness.BEYOND
    assert isinstance(removals(history, base.id)[0].op, Remove)


def test_a_cut_that_goes_back_is_seen() -> None:
    history = History("alice")
    first = history.add("alice", "bob")
    second = history.add("alice", "carol")
    governance = history.governance

    assert cut_goes_back(governance, (second.id,), (first.id,)) is True
    assert cut_goes_back(governance, (first.id,), (second.id,)) is False
    assert cut_goes_back(governance, (first.id,), (first.id,)) is False
    assert cut_goes_back(governance, (first.id,), (OpId(bytes(32)),)) is None
