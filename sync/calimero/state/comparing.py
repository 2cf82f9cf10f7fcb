"""Compares nodes that a peer tells with our tree: what to tell of ours, to push, and to want.

Where both have a node and the hashes differ, the one who is told tells its own of the next depth.
A node with few entries tells their ids instead; with that, nothing is left to ask there. Where one
side has nothing, all of the other's entries there go over at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sync.calimero.state.entry import RegisterKey
from sync.calimero.state.messages import CUT, Children, Leaves, Node
from sync.calimero.state.tree import FAN_OUT, Path, Tree

SPREAD_HASH: Final = 8
"""Bytes of each first-level hash in a handshake's `spread`."""

NOTHING_THERE: Final = bytes(SPREAD_HASH)


@dataclass(slots=True)
class Difference:
    """Results of comparing: nodes of ours to tell, registers to push, ids that we lack."""

    tell: list[Node] = field(default_factory=list)
    told: dict[bytes, RegisterKey] = field(default_factory=dict)
    """Registers of the ids among them: what the peer may want then."""
    push: dict[RegisterKey, None] = field(default_factory=dict)
    want: dict[bytes, None] = field(default_factory=dict)


def spread_of(tree: Tree) -> bytes:
    """Return the hashes of the 16 first-level nodes, 8 bytes each; zeros where there is none."""
    return b"".join([_spread_hash(tree, index) for index in range(FAN_OUT)])


def differing(tree: Tree, spread: bytes) -> tuple[int, ...]:
    """Return the indexes of first-level nodes that differ from those of a peer."""
    return tuple(
        index
        for index in range(FAN_OUT)
        if _spread_hash(tree, index) != spread[index * SPREAD_HASH : (index + 1) * SPREAD_HASH]
    )


def compare_spread(tree: Tree, spread: bytes, found: Difference) -> None:
    """Tell of the first-level nodes that differ; the first step of a hash comparison."""
    for index in differing(tree, spread):
        path = bytes([index])
        theirs = spread[index * SPREAD_HASH : (index + 1) * SPREAD_HASH]
        if theirs == NOTHING_THERE:
            _push_below(tree, path, found)
        else:
            tell(tree, path, found)


def compare_node(tree: Tree, node: Node, found: Difference) -> None:
    """Compare one node that a peer tells."""
    match node:
        case Leaves(path, ids):
            held = dict(_ids_below(tree, path))
            told = set(ids)
            found.want.update(dict.fromkeys(one for one in ids if one not in held))
            found.push.update(dict.fromkeys(key for one, key in held.items() if one not in told))
        case Children(path, hashes):
            mine = tree.node(path)
            if mine is None or not mine.children:
                tell_all_below(tree, path, found)
                return
            theirs = dict(hashes)
            held_hashes = {index: node_hash[:CUT] for index, node_hash in mine.children}
            for index in range(FAN_OUT):
                _compare_child(
                    tree, path + bytes([index]), theirs.get(index), held_hashes.get(index), found
                )


class LevelComparison:
    """Compares a whole level that comes in parts, in one pass over ours."""

    def __init__(self, tree: Tree, depth: int) -> None:
        self.depth = depth
        self._tree = tree
        self._ours: Iterator[tuple[Path, bytes]] = iter(
            [(path, node_hash[:CUT]) for path, node_hash in tree.level(depth)]
        )
        self._next = next(self._ours, None)
        self._covered: Path | None = None
        """A leaf node of ours whose place theirs lie below."""

    def part(self, nodes: tuple[tuple[Path, bytes], ...], found: Difference) -> None:
        """Compare the next nodes of the peer, by rising place."""
        for path, node_hash in nodes:
            if self._covered is not None and path.startswith(self._covered):
                continue
            self._before(path, found)
            mine = self._next
            if mine is not None and path.startswith(mine[0]):
                self._next = next(self._ours, None)
                if mine[0] != path:
                    self._covered = mine[0]
                    tell_all_below(self._tree, mine[0], found)
                elif mine[1] != node_hash:
                    tell(self._tree, path, found)
                continue
            # They have a leaf node where ours has children, or where we have nothing.
            tell(self._tree, path, found)
            while self._next is not None and self._next[0].startswith(path):
                self._next = next(self._ours, None)

    def end(self, found: Difference) -> None:
        """The peer has told its last node: what is left of ours it lacks."""
        while self._next is not None:
            _push_below(self._tree, self._next[0], found)
            self._next = next(self._ours, None)

    def _before(self, path: Path, found: Difference) -> None:
        """Push what lies before a place, where the peer has nothing."""
        while (
            self._next is not None and self._next[0] < path and not path.startswith(self._next[0])
        ):
            _push_below(self._tree, self._next[0], found)
            self._next = next(self._ours, None)


def tell(tree: Tree, path: Path, found: Difference) -> None:
    """Tell our node at a place: its children, or the ids of its entries."""
    node = tree.node(path)
    if node is None or not node.children:
        tell_all_below(tree, path, found)
    else:
        children = tuple([(index, one[:CUT]) for index, one in node.children])
        found.tell.append(Children(path, children))


def tell_all_below(tree: Tree, path: Path, found: Difference) -> None:
    """Tell the ids of all our entries below a place."""
    ids = dict(_ids_below(tree, path))
    found.told.update(ids)
    found.tell.append(Leaves(path, tuple(sorted(ids))))


def _compare_child(
    tree: Tree, path: Path, theirs: bytes | None, mine: bytes | None, found: Difference
) -> None:
    if theirs == mine:
        return
    if theirs is None:
        _push_below(tree, path, found)
    elif mine is None:
        found.tell.append(Leaves(path, ()))
    else:
        tell(tree, path, found)


def _ids_below(tree: Tree, path: Path) -> Iterator[tuple[bytes, RegisterKey]]:
    return ((leaf[:CUT], key) for key, leaf in tree.entries(path))


def _push_below(tree: Tree, path: Path, found: Difference) -> None:
    found.push.update(dict.fromkeys(key for key, _ in tree.entries(path)))


def _spread_hash(tree: Tree, index: int) -> bytes:
    below = tree.hash_below(bytes([index]))
    return NOTHING_THERE if below is None else below[:SPREAD_HASH]
