"""The Merkle tree: a function of the set, kept up entry by entry; its slow definition is here."""

import hashlib
import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.state.entry import Leaf, RegisterKey
from sync.calimero.state.tree import LEAF_ENTRIES_MAX, Tree, half_byte


def slow_root(entries: Mapping[RegisterKey, Leaf], depth: int = 0) -> bytes:
    """Return the hash of a set of entries, straight from the definition."""
    if len(entries) <= LEAF_ENTRIES_MAX:
        parts = [key + leaf for key, leaf in sorted(entries.items())]
        return hashlib.sha256(b"\x00" + b"".join(parts)).digest()
    below: dict[int, dict[RegisterKey, Leaf]] = {}
    for key, leaf in entries.items():
        below.setdefault(half_byte(key, depth), {})[key] = leaf
    hashed = [bytes([index]) + slow_root(below[index], depth + 1) for index in sorted(below)]
    return hashlib.sha256(b"\x01" + b"".join(hashed)).digest()


def made(number: int, *, alike: int = 0) -> tuple[RegisterKey, Leaf]:
    """Return a key whose first `alike` bytes are those of all others, and a leaf."""
    hashed = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return RegisterKey(bytes(alike) + hashed[alike:]), Leaf(hashlib.sha256(hashed).digest())


acts = st.lists(
    st.tuples(st.integers(0, 60), st.booleans(), st.integers(0, 2)), min_size=1, max_size=120
)


@given(acts, st.sampled_from([0, 1, 30]))
def test_the_root_is_that_of_the_definition_after_every_act(
    done: list[tuple[int, bool, int]], alike: int
) -> None:
    tree, model = Tree(), dict[RegisterKey, Leaf]()
    for number, removes, version in done:
        key, leaf = made(number, alike=alike)
        leaf = Leaf(hashlib.sha256(leaf + bytes([version])).digest())
        if removes and key in model:
            tree.remove(key)
            del model[key]
        elif not removes:
            tree.put(key, leaf)
            model[key] = leaf
        assert tree.root == slow_root(model)
        assert len(tree) == len(model)
    assert list(tree.entries()) == sorted(model.items())


def test_the_root_of_thousands_is_that_of_the_definition_in_any_order() -> None:
    entries = dict(made(number) for number in range(5_000))
    rng = random.Random(1)
    for _ in range(2):
        order = list(entries)
        rng.shuffle(order)
        tree = Tree()
        for key in order:
            tree.put(key, entries[key])
        for number in range(5_000, 7_000):
            tree.put(*made(number))
        for number in range(5_000, 7_000):
            tree.remove(made(number)[0])
        assert tree.root == slow_root(entries)
        assert tree.depth == 3


def test_what_is_not_there_cannot_be_removed_and_leaves_no_trace() -> None:
    tree = Tree()
    for number in range(40):
        tree.put(*made(number))
    root = tree.root
    with pytest.raises(KeyError):
        tree.remove(made(99)[0])
    assert tree.root == root
    assert len(tree) == 40


def test_nodes_are_found_by_their_place_and_their_children_have_the_hashes_that_they_tell() -> None:
    tree = Tree()
    for number in range(600):
        tree.put(*made(number))
    whole = tree.node(b"")
    assert whole is not None
    assert whole.hash == tree.root
    assert whole.count == 600
    for index, child_hash in whole.children:
        child = tree.node(bytes([index]))
        assert child is not None
        assert child.hash == child_hash
        assert child.count == len(list(tree.entries(bytes([index]))))
    assert tree.node(b"\x00" * 64) is None


def test_entries_below_a_place_are_given_whether_or_not_a_node_has_it() -> None:
    tree = Tree()
    entries = [made(number) for number in range(12)]
    for key, leaf in entries:
        tree.put(key, leaf)
    for index in range(16):
        expected = sorted((key, leaf) for key, leaf in entries if half_byte(key, 0) == index)
        assert list(tree.entries(bytes([index]))) == expected


def test_a_level_has_each_entry_below_exactly_one_of_its_nodes() -> None:
    tree = Tree()
    for number in range(900):
        tree.put(*made(number))
    for depth in range(4):
        level = list(tree.level(depth))
        assert [path for path, _ in level] == sorted(path for path, _ in level)
        assert sum(len(list(tree.entries(path))) for path, _ in level) == 900
        for path, node_hash in level:
            node = tree.node(path)
            assert node is not None
            assert node.hash == node_hash
