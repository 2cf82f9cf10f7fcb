"""A removal changes the secret for those who stay; what went wrong with it is seen and mended."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from msgspec.structs import replace

from sync.calimero.governance.epochs import (
    Wanted,
    epochs_before,
    next_number,
    rotation_wanted,
    staying,
)
from sync.calimero.governance.keys import EpochName, begin_epoch, open_epoch, open_older, tag_of
from sync.calimero.governance.ops import (
    WRAPPED_SIZE,
    Epoch,
    OpId,
    Remove,
    Role,
    Rotate,
    SignedGroupOp,
    Wrap,
    Wraps,
)
from tests.support.sync.governed import History, key, noise, person

EPHEMERAL = X25519PrivateKey.from_private_bytes(b"e" * 32)


def epoch(
    history: History, name: str, *gone: str, after: list[SignedGroupOp] | None = None
) -> Epoch:
    """Return the next epoch, wrapped for all who stay."""
    governance = history.governance
    heads = governance.heads if after is None else tuple(op.id for op in after)
    state = governance.projection.at(heads)
    assert state is not None
    number = next_number(governance, state)
    older = [secret_of(act.id) for act in epochs_before(governance, state.cut)]
    people = staying(governance, state, frozenset(map(key, gone)))
    bound = EpochName(governance.group, key(name), number)
    return begin_epoch(bound, b"%32d" % number, EPHEMERAL, people, older)


def secret_of(op: OpId) -> bytes:
    """Return the secret that this test gives the epoch of an op."""
    return op


def wanted(history: History) -> Wanted | None:
    return rotation_wanted(history.governance, history.governance.now)


def channel() -> History:
    history = History("alice", "trent")
    history.add("alice", "bob", Role.ADMIN)
    history.add("alice", "carol")
    history.add("alice", "mallory")
    return history


def remove(
    history: History, name: str, who: str, after: list[SignedGroupOp] | None = None
) -> SignedGroupOp:
    return history.act(name, Remove((key(who),), epoch(history, name, who, after=after)), after)


def rotate(history: History, name: str, after: list[SignedGroupOp] | None = None) -> SignedGroupOp:
    return history.act(name, Rotate(epoch(history, name, after=after)), after)


def test_after_a_removal_nothing_more_is_wanted() -> None:
    history = channel()
    assert wanted(history) is None
    removed = remove(history, "bob", "mallory")

    assert wanted(history) is None
    governance = history.governance
    [last] = epochs_before(governance, governance.now.cut)
    assert last.id == removed.id
    assert next_number(governance, governance.now) == 2
    op = removed.op
    assert isinstance(op, Remove)
    bound = EpochName(governance.group, key("bob"), 1)
    opened = {
        name: open_epoch(bound, op.epoch, key(name), person(name).noise_key)
        for name in ("alice", "trent", "bob", "carol", "mallory")
    }
    assert opened.pop("mallory") is None
    assert set(opened.values()) == {b"%32d" % 1}
    assert open_older(bound, op.epoch, b"%32d" % 1) == (history.founded.id,)


def test_who_stays_gets_it_by_the_noise_key_they_came_with() -> None:
    history = channel()
    governance = history.governance
    people = staying(governance, governance.now, frozenset({key("mallory")}))

    assert {one.key: one.noise for one in people} == {
        key(name): noise(name) for name in ("alice", "trent", "bob", "carol")
    }
    assert [one.key for one in people] == sorted(one.key for one in people)


def test_two_rotations_at_once_heal_by_a_third() -> None:
    history = channel()
    base = [history.ops[-1]]
    one = rotate(history, "alice", base)
    other = rotate(history, "bob", base)

    governance = history.governance
    assert wanted(history) is Wanted.TWO_ENDS
    newest = max([one, other], key=lambda op: op.id)
    assert governance.dag.acts[governance.now.epoch].id == newest.id
    assert {act.id for act in epochs_before(governance, governance.now.cut)} == {one.id, other.id}
    third = rotate(history, "trent")
    assert wanted(history) is None
    assert isinstance(third.op, Rotate)
    assert len(third.op.epoch.previous) == 2
    assert governance.dag.acts[governance.now.epoch].id == third.id


def test_a_secret_wrapped_for_somebody_removed_at_once_is_changed() -> None:
    history = channel()
    base = [history.ops[-1]]
    first = rotate(history, "alice", base)
    history.act(
        "bob", Remove((key("mallory"),), epoch(history, "bob", "mallory", after=base)), base
    )
    assert wanted(history) is Wanted.TWO_ENDS
    rotate(history, "trent")
    assert wanted(history) is None
    assert first.id != history.founded.id


def test_a_secret_that_somebody_removed_has_is_changed() -> None:
    """Its signer wrapped it for the person whom they removed."""
    history = channel()
    history.act("bob", Remove((key("mallory"),), epoch(history, "bob")))

    assert wanted(history) is Wanted.FOR_ONE_REMOVED
    rotate(history, "alice")
    assert wanted(history) is None


def test_a_missing_wrap_is_seen() -> None:
    history = channel()
    history.act("bob", Remove((key("mallory"),), epoch(history, "bob", "mallory", "carol")))

    assert wanted(history) is Wanted.WRAP_MISSING
    rotate(history, "alice")
    assert wanted(history) is None


def test_who_comes_later_needs_no_wrap() -> None:
    history = channel()
    rotate(history, "alice")
    history.add("alice", "dave")

    assert wanted(history) is None


def test_a_void_ops_epoch_is_never_the_newest_but_is_passed_on() -> None:
    history = channel()
    base = [history.ops[-1]]
    removed = remove(history, "alice", "bob", base)
    first = rotate(history, "bob", base)
    second = rotate(history, "bob", [first])

    governance = history.governance
    assert governance.act(second.id).epoch == Epoch(2, EPHEMERAL.public_key().public_bytes_raw())
    assert governance.dag.acts[governance.now.epoch].id == removed.id
    assert next_number(governance, governance.now) == 2
    assert {act.id for act in epochs_before(governance, governance.now.cut)} == {
        removed.id,
        second.id,
    }
    assert wanted(history) is None, "otherwise somebody removed has it rotated for ever"


def test_who_has_a_wrap_is_known_of_each_epoch_also_of_people_who_come_later() -> None:
    history = channel()
    early = remove(history, "alice", "mallory")
    tags = [tag_of(key(name)) for name in ("alice", "trent", "bob", "carol")]
    stranger = Wrap(tag_of(key("walter")), bytes(WRAPPED_SIZE))
    known = epoch(history, "alice")
    raw = sorted([*known.wrapped, stranger])
    late = history.act("alice", Rotate(replace(known, wrapped=Wraps.of(raw))))
    history.add("alice", "walter")
    remove(history, "alice", "walter")

    dag = history.again().governance.dag
    assert dag.tags_of(dag.acts[dag.numbers[early.id]]) == set(tags)
    assert dag.tags_of(dag.acts[dag.numbers[late.id]]) == {*tags, stranger.tag}
    assert dag.tags_of(dag.acts[-1]) == set(tags)
