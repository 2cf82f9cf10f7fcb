"""Merkle tree of a channel's state: its shape and its root are functions of the set of entries.

A 16-ary trie over the keys of registers, by half-bytes. Up to 16 entries are one leaf node; more
have children. So no order of arrival, and nothing that was there once, changes a hash. Hashes are
worked out when somebody asks for them, of the nodes that have changed since.

Hash of a leaf node: SHA-256(0, then key and leaf of each entry, by rising key). Of an inner one:
SHA-256(1, then index and hash of each child, by rising index).
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from sync.calimero.state.entry import Leaf, RegisterKey

FAN_OUT: Final = 16
LEAF_ENTRIES_MAX: Final = 16
DEPTH_MAX: Final = 64
"""Half-bytes of a key."""

LEAF_NODE: Final = b"\x00"
INNER_NODE: Final = b"\x01"

Path = bytes
"""Place of a node: the indexes on the way to it from the root, a byte each."""


class _Node:
    """A node; `children` is None in a leaf node."""

    __slots__ = ("children", "count", "entries", "hash")

    def __init__(self) -> None:
        self.count = 0
        self.entries: dict[RegisterKey, Leaf] = {}
        self.children: list[_Node | None] | None = None
        self.hash: bytes | None = None


class NodeView(Struct, frozen=True):
    """A node as others see it.

    Attributes:
        hash: 32 bytes.
        count: entries in it and below.
        children: index and hash of each child, rising; empty in a leaf node.
    """

    hash: bytes
    count: int
    children: tuple[tuple[int, bytes], ...]


def half_byte(key: bytes, depth: int) -> int:
    """Return the index that a key has at a depth."""
    byte = key[depth >> 1]
    return byte & 15 if depth & 1 else byte >> 4


class Tree:
    """See the module docstring."""

    def __init__(self) -> None:
        self._root = _Node()

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._root.count

    @property
    def root(self) -> bytes:
        """The hash of all, 32 bytes."""
        return _hash_of(self._root)

    @property
    def depth(self) -> int:
        """The greatest number of steps from the root to a node."""
        return _depth_of(self._root)

    def get(self, key: RegisterKey) -> Leaf | None:
        """Return the leaf of a register; None if it has none."""
        node = self._root
        for depth in range(DEPTH_MAX):
            if node.children is None:
                break
            child = node.children[half_byte(key, depth)]
            if child is None:
                return None
            node = child
        return node.entries.get(key)

    def put(self, key: RegisterKey, leaf: Leaf) -> None:
        """Set the leaf of a register."""
        node, way = self._descend(key)
        added = key not in node.entries
        node.entries[key] = leaf
        for one in way:
            one.hash = None
            one.count += added
        if node.count > LEAF_ENTRIES_MAX:
            _split(node, len(way) - 1)

    def remove(self, key: RegisterKey) -> None:
        """Take a register out.

        Raises:
            KeyError: it is not there.
        """
        if self.get(key) is None:
            raise KeyError(key)
        node, way = self._descend(key)
        del node.entries[key]
        for depth, one in enumerate(way):
            one.hash = None
            one.count -= 1
            if one.children is not None:
                if one.count <= LEAF_ENTRIES_MAX:
                    one.entries = dict(_entries(one))
                    one.children = None
                    return
                index = half_byte(key, depth)
                child = one.children[index]
                if child is not None and child.count == 1:
                    one.children[index] = None
                    return

    def node(self, path: Path) -> NodeView | None:
        """Return a node by its place; None where there is none."""
        found = self._find(path)
        if found is None:
            return None
        children = () if found.children is None else tuple(_hashed_children(found))
        return NodeView(_hash_of(found), found.count, children)

    def hash_below(self, path: Path) -> bytes | None:
        """Return the hash of all entries below a place, as if it had a node; None if none are."""
        found = self._find(path)
        if found is not None:
            return _hash_of(found)
        few = list(self.entries(path))  # those of one leaf node above
        return _leaf_hash(few) if few else None

    def entries(self, path: Path = b"") -> Iterator[tuple[RegisterKey, Leaf]]:
        """Yield the entries below a place, by rising key; also where no node has that place."""
        node = self._root
        for depth, index in enumerate(path):
            if node.children is None:
                under = tuple(path)
                yield from (
                    (key, leaf)
                    for key, leaf in sorted(node.entries.items())
                    if all(half_byte(key, at) == under[at] for at in range(depth, len(path)))
                )
                return
            child = node.children[index]
            if child is None:
                return
            node = child
        yield from _entries(node)

    def level(self, depth: int) -> Iterator[tuple[Path, bytes]]:
        """Yield place and hash of each node at a depth, and of leaf nodes above it, in order."""
        yield from _level(self._root, b"", depth)

    def _find(self, path: Path) -> _Node | None:
        node = self._root
        for index in path:
            if node.children is None:
                return None
            child = node.children[index]
            if child is None:
                return None
            node = child
        return node

    def _descend(self, key: RegisterKey) -> tuple[_Node, list[_Node]]:
        """Return the leaf node for a key, made if there is none, and all nodes on the way to it."""
        node, way = self._root, [self._root]
        depth = 0
        while node.children is not None:
            index = half_byte(key, depth)
            child = node.children[index]
            if child is None:
                child = node.children[index] = _Node()
            node = child
            way.append(node)
            depth += 1
        return node, way


def _split(node: _Node, depth: int) -> None:
    """Make a leaf node with too many entries an inner one."""
    while node.children is None and node.count > LEAF_ENTRIES_MAX and depth < DEPTH_MAX:
        children: list[_Node | None] = [None] * FAN_OUT
        for key, leaf in node.entries.items():
            index = half_byte(key, depth)
            child = children[index]
            if child is None:
                child = children[index] = _Node()
            child.entries[key] = leaf
            child.count += 1
        node.entries, node.children = {}, children
        fullest = max((one for one in children if one is not None), key=lambda one: one.count)
        node, depth = fullest, depth + 1


def _entries(node: _Node) -> Iterator[tuple[RegisterKey, Leaf]]:
    if node.children is None:
        yield from sorted(node.entries.items())
        return
    for child in node.children:
        if child is not None:
            yield from _entries(child)


def _hashed_children(node: _Node) -> Iterator[tuple[int, bytes]]:
    assert node.children is not None
    for index, child in enumerate(node.children):
        if child is not None:
            yield index, _hash_of(child)


def _hash_of(node: _Node) -> bytes:
    if node.hash is None:
        if node.children is None:
            node.hash = _leaf_hash(sorted(node.entries.items()))
        else:
            below = [bytes([index]) + one for index, one in _hashed_children(node)]
            node.hash = hashlib.sha256(INNER_NODE + b"".join(below)).digest()
    return node.hash


def _leaf_hash(entries: Sequence[tuple[RegisterKey, Leaf]]) -> bytes:
    listed = b"".join([key + leaf for key, leaf in entries])
    return hashlib.sha256(LEAF_NODE + listed).digest()


def _depth_of(node: _Node) -> int:
    if node.children is None:
        return 0
    return 1 + max(_depth_of(child) for child in node.children if child is not None)


def _level(node: _Node, path: Path, depth: int) -> Iterator[tuple[Path, bytes]]:
    if node.children is None or len(path) == depth:
        yield path, _hash_of(node)
        return
    for index, child in enumerate(node.children):
        if child is not None:
            yield from _level(child, path + bytes([index]), depth)
