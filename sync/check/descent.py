"""Down the tree of two digests that differ, to the ids only one of them has.

Rules:
1. Every answer is held against the hash above it, up to the responder's proof: a responder can
   neither hide a difference nor make one up without holding other ids than it proved.
2. Deepest first, so what is open stays below `NODES_MAX` nodes with 64 children a level.
3. A node or leaf is asked for once: however hostile, a check reads each id at most once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from sync.check.message import (
    IDS_MAX,
    NODES_MAX,
    QUESTIONS_MAX,
    Ask,
    Child,
    End,
    Ending,
    Hashes,
    Leaf,
    Leaves,
    Node,
)
from sync.errors import RemoteError
from sync.structures.ordered_set import SyncId
from sync.structures.set_digest import (
    FANOUT_BITS,
    ROOT_LEVEL,
    ROW_BYTES,
    Held,
    leaf_hash,
    node_hash,
    read_row,
    row,
    split_rows,
)
from sync.structures.sorted_run import TIMESTAMP_MAX

Question: TypeAlias = Ask | Leaves


@dataclass(slots=True)
class Found:
    """Ids that one of the two sides lacks."""

    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)

    def compare(self, ours: bytes, theirs: list[bytes]) -> None:
        """Add what differs in the rows of a leaf."""
        mine = split_rows(ours)
        in_ours, in_theirs = set(mine), set(theirs)
        self.need += (read_row(data) for data in theirs if data not in in_ours)
        self.have += (read_row(data) for data in mine if data not in in_theirs)


class Asking:
    """The initiator's half: what to ask next, and what the answers say."""

    def __init__(self, held: Held, proves: Callable[[bytes], bool]) -> None:
        """Begin at the root, which the peer's must have been proved: `proves(root)`."""
        self._held = held
        self._proves = proves
        self._nodes: dict[int, list[Child]] = {level: [] for level in range(1, ROOT_LEVEL + 1)}
        """By level: what differs there and is yet to be asked for, rising."""
        self._nodes[ROOT_LEVEL] = [Child(0, b"")]
        self._leaves: list[Child] = []
        """The leaves that differ; those the peer does not have are without a hash."""
        self._asked: list[Child] = []
        self._question: Question | None = None
        self._questions = 0

    def next_question(self) -> Question | End:
        """Return what to ask now that the last answer was taken, or why to end."""
        if not self._leaves and not any(self._nodes.values()):
            return End(Ending.SETTLED)
        if self._questions == QUESTIONS_MAX:
            return End(Ending.TOO_MANY_QUESTIONS)
        question = self._ask_leaves() if self._leaves else self._ask_nodes()
        if question is None:
            return End(Ending.LEAF_TOO_LARGE)
        self._questions += 1
        self._question = question
        return question

    def _ask_nodes(self) -> Ask:
        level = next(level for level, nodes in self._nodes.items() if nodes)
        nodes = self._nodes[level]
        self._asked, self._nodes[level] = nodes[:NODES_MAX], nodes[NODES_MAX:]
        return Ask(level, tuple(node.index for node in self._asked))

    def _ask_leaves(self) -> Leaves | None:
        """Ask for as many leaves as fit both into our frame and the peer's; None if not one."""
        fitting = ours = theirs = 0
        for leaf in self._leaves[:NODES_MAX]:
            ours += self._held.digest.leaf_count(leaf.index)
            theirs += leaf.count
            if max(ours, theirs) > IDS_MAX:
                break
            fitting += 1
        if not fitting:
            return None
        self._asked, self._leaves = self._leaves[:fitting], self._leaves[fitting:]
        return Leaves(
            tuple(Leaf(leaf.index, self._held.leaf_rows(leaf.index)) for leaf in self._asked)
        )

    def take_hashes(self, answer: Hashes) -> None:
        """Note which children differ.

        Raises:
            RemoteError: not an answer to the last question, or not what was proved before;
                nothing has changed.
        """
        question = self._question
        if not isinstance(question, Ask) or answer.level != question.level:
            raise RemoteError(f"hashes of level {answer.level} came that were not asked for")
        self._check_order([node.index for node in answer.nodes])
        for asked, node in zip(self._asked, answer.nodes, strict=True):
            self._check_node(answer.level, asked, node)
        self._question = None
        for node in answer.nodes:
            self._note(answer.level, node)

    def take_leaves(self, answer: Leaves) -> Found:
        """Return what differs in the leaves last asked for.

        Raises:
            RemoteError: not an answer to the last question, or not what was proved before;
                nothing has changed.
        """
        if not isinstance(self._question, Leaves):
            raise RemoteError("leaves came that were not asked for")
        self._check_order([leaf.index for leaf in answer.leaves])
        found = Found()
        for asked, leaf in zip(self._asked, answer.leaves, strict=True):
            rows = checked_rows(leaf, self._held)
            if len(rows) != asked.count or (rows and leaf_hash(leaf.rows) != asked.hash):
                raise RemoteError(f"the ids of leaf {leaf.index} are not those of its hash")
            found.compare(self._held.leaf_rows(leaf.index), rows)
        self._question = None
        return found

    def _check_order(self, indexes: list[int]) -> None:
        if indexes != [asked.index for asked in self._asked]:
            raise RemoteError("an answer names other nodes than the question")

    def _check_node(self, level: int, asked: Child, node: Node) -> None:
        indexes = [child.index for child in node.children]
        _check_rising(indexes)
        if any(index >> FANOUT_BITS != node.index for index in indexes):
            raise RemoteError(f"node {node.index} of level {level} has a child of another node")
        if any((child.count > 0) is not (level == 1) for child in node.children):
            raise RemoteError("the number of ids belongs to leaves, which have at least one")
        hashed = node_hash((child.index, child.hash) for child in node.children)
        if not (self._proves(hashed) if level == ROOT_LEVEL else hashed == asked.hash):
            raise RemoteError(
                f"the children of node {node.index} of level {level} have not its hash"
            )

    def _note(self, level: int, node: Node) -> None:
        """Leave open what differs below a node; what only we have needs no more hashes."""
        ours = dict(self._held.digest.children(level, node.index))
        theirs = {child.index: child for child in node.children}
        differing = self._leaves if level == 1 else self._nodes[level - 1]
        for index in sorted(ours.keys() | theirs.keys()):
            child = theirs.get(index)
            if child is None:
                leaves = self._held.digest.leaves(level - 1, index)
                self._leaves += (Child(leaf, b"") for leaf in leaves)
            elif child.hash != ours.get(index):
                differing.append(child)


class Answering:
    """The responder's half: checks questions and answers them."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._answered: set[tuple[int, int]] = set()
        self._questions = 0

    def hashes(self, question: Ask) -> Hashes:
        """Return the children of nodes.

        Raises:
            RemoteError: a question no honest peer asks; nothing has changed.
        """
        level = question.level
        if not 1 <= level <= ROOT_LEVEL:
            raise RemoteError(f"level {level} is not 1 to {ROOT_LEVEL}")
        digest = self._held.digest
        self._check_question(level, question.indexes)
        for index in question.indexes:
            if not digest.holds(level, index) and (level, index) != (ROOT_LEVEL, 0):
                raise RemoteError(f"there is no node {index} of level {level}")
        self._note_question(level, question.indexes)
        return Hashes(level, tuple(self._node(level, index) for index in question.indexes))

    def leaves(self, question: Leaves) -> tuple[Leaves, Found]:
        """Return our rows of the leaves, and what differs from the initiator's.

        Raises:
            RemoteError: a question no honest peer asks; nothing has changed.
        """
        indexes = tuple(leaf.index for leaf in question.leaves)
        self._check_question(0, indexes)
        counts = [self._held.digest.leaf_count(index) for index in indexes]
        theirs = sum(len(leaf.rows) // ROW_BYTES for leaf in question.leaves)
        if max(sum(counts), theirs) > IDS_MAX:
            raise RemoteError(f"leaves of over {IDS_MAX} ids are asked for at once")
        found = Found()
        answers: list[Leaf] = []
        for leaf, count in zip(question.leaves, counts, strict=True):
            rows = checked_rows(leaf, self._held)
            if not (rows or count):
                raise RemoteError(f"there is no leaf {leaf.index} on either side")
            ours = self._held.leaf_rows(leaf.index)
            found.compare(ours, rows)
            answers.append(Leaf(leaf.index, ours))
        self._note_question(0, indexes)
        return Leaves(tuple(answers)), found

    def _check_question(self, level: int, indexes: tuple[int, ...]) -> None:
        if self._questions == QUESTIONS_MAX:
            raise RemoteError(f"the check is not done after {QUESTIONS_MAX} questions")
        if not 0 < len(indexes) <= NODES_MAX:
            raise RemoteError(f"{len(indexes)} nodes are asked for, not 1 to {NODES_MAX}")
        _check_rising(indexes)
        if indexes[-1] >> FANOUT_BITS * (ROOT_LEVEL - level):
            raise RemoteError(f"level {level} has no node {indexes[-1]}")
        if any((level, index) in self._answered for index in indexes):
            raise RemoteError(f"a node of level {level} is asked for twice")

    def _note_question(self, level: int, indexes: tuple[int, ...]) -> None:
        self._questions += 1
        self._answered.update((level, index) for index in indexes)

    def _node(self, level: int, index: int) -> Node:
        digest = self._held.digest
        children = digest.children(level, index)
        counts = [digest.leaf_count(child) if level == 1 else 0 for child, _ in children]
        return Node(
            index,
            tuple(
                Child(child, hashed, count)
                for (child, hashed), count in zip(children, counts, strict=True)
            ),
        )


def checked_rows(leaf: Leaf, held: Held) -> list[bytes]:
    """Cut the rows of a leaf apart.

    Raises:
        RemoteError: not whole rows that rise strictly within the leaf, from the floor on.
    """
    if len(leaf.rows) % ROW_BYTES:
        raise RemoteError(f"leaf {leaf.index} ends within an id")
    rows = split_rows(leaf.rows)
    if any(one >= other for one, other in pairwise(rows)):
        raise RemoteError(f"the ids of leaf {leaf.index} do not rise")
    lower, upper = held.digest.bounds(leaf.index)
    if rows and not row(lower) <= rows[0] <= rows[-1] < min(row(upper), ROWS_END):
        raise RemoteError(f"leaf {leaf.index} has ids outside of it")
    return rows


ROWS_END = row(SyncId(TIMESTAMP_MAX, b""))
"""Above the rows of all messages that can be transferred."""


def _check_rising(indexes: Sequence[int]) -> None:
    if any(one >= other for one, other in pairwise(indexes)):
        raise RemoteError("nodes are not named in rising order")
