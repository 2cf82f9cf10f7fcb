"""A session that brings the state of a channel to agreement: hash comparison, or level-wise.

Rules:
1. Ends take turns (`sync.calimero.state.messages`). Who opened begins.
2. Each turn brings the entries that the other lacks for certain or has asked for, and tells of the
   nodes that were found to differ, one depth further.
3. Who has nothing left to tell or to want says what it has now: `Outcome`. When both have, the
   session is over, and it agreed if the roots are equal. Nothing else counts as agreement.

Hash comparison begins with the first-level nodes that the handshakes found to differ; level-wise
with all nodes of a level, or at once with the ids of all entries.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from sync.calimero.state.comparing import (
    Difference,
    LevelComparison,
    compare_node,
    compare_spread,
    tell,
    tell_all_below,
)
from sync.calimero.state.entry import RegisterKey
from sync.calimero.state.messages import (
    CUT,
    ENTRIES_MAX,
    NODES_MAX,
    Authors,
    Children,
    Entries,
    HashNodes,
    LevelData,
    Message,
    Outcome,
    Want,
    decode,
    encode,
    in_parts,
    node_size,
)
from sync.calimero.state.tree import DEPTH_MAX, FAN_OUT, Path, Tree
from sync.errors import RemoteError

START_LEVEL: Final = 2
"""Level that level-wise begins with where the ids of all entries would be too much."""

IDS_AT_ONCE: Final = 40_000
"""Bytes of ids up to which level-wise begins with those of all entries."""

TURNS_MAX: Final = DEPTH_MAX + 8
"""Turns of one end: one a depth, and those that begin and end."""

BROUGHT_MAX: Final = 131_072
"""Entries that a session may bring: twice what 512 people have at most."""


class Comparison(Enum):
    """Protocol of a session over state."""

    HASH = "hash"
    LEVEL = "level"


class Send(Struct, frozen=True):
    """Effect: send a payload."""

    payload: bytes


class Brings(Struct, frozen=True):
    """Effect: the peer sent these entries; the group checks and stores them."""

    contents: tuple[bytes, ...]


class GoOn(Struct, frozen=True):
    """Effect: call `StateExchange.go_on`, once what was brought is judged."""


class Result(Enum):
    """End of a session over state."""

    CONVERGED = "converged"
    MOVED = "our state changed meanwhile"
    BENIGN = "they differ by what waits on one side"
    NOT_CONVERGED = "not converged"


class Finished(Struct, frozen=True):
    """Effect, the last one: both have said what they have."""

    result: Result


Effect: TypeAlias = Send | Brings | GoOn | Finished


class Compared(Protocol):
    """A state that is compared: all registers, or those of some authors."""

    @property
    def tree(self) -> Tree:
        """The tree of the entries that stand now."""


class StateExchange:
    """One session; see the module docstring.

    Args:
        registers: our state, which may change between turns.
        content_of: returns the bytes of an entry that stands; None if it stands no more.
        aside: returns how many entries that came here wait, out of the tree.
    """

    def __init__(
        self,
        registers: Compared,
        content_of: Callable[[RegisterKey], bytes | None],
        aside: Callable[[], int] = lambda: 0,
    ) -> None:
        self._registers = registers
        self._content_of = content_of
        self._aside = aside
        self._found = Difference()
        self._level: LevelComparison | None = None
        self._told_ids: dict[bytes, RegisterKey] = {}
        """Entries whose ids we have told: the peer may want these."""
        self._may_want = 0
        """Ids that the peer may yet want: it is told some of them again where our state changes."""
        self._nodes_due = FAN_OUT + 1
        """Nodes that the peer may tell in its turn: the children of those that we told."""
        self._last: Path | None = None
        """Place of the last node of the peer's turn."""
        self._turns = 0
        self._brought = 0
        self._pushed: set[RegisterKey] = set()
        self._moved = False
        """True if our state changed by something else than this session."""
        self._root_then: bytes | None = None
        """Our root when we said our outcome."""
        self._theirs: Outcome | None = None
        self._over = False

    # --- Inputs --------------------------------------------------------------------------------

    def open(self, comparison: Comparison, spread: bytes | None) -> Sequence[Effect]:
        """Begin: we have opened the stream; `spread` is the peer's, None if it is of more."""
        tree = self._registers.tree
        if comparison is Comparison.HASH:
            if spread is None:
                tell(tree, b"", self._found)
            else:
                compare_spread(tree, spread, self._found)
            return self._turn()
        if len(tree) * CUT <= IDS_AT_ONCE:
            tell_all_below(tree, b"", self._found)
            return self._turn()
        nodes = tuple((path, one[:CUT]) for path, one in tree.level(START_LEVEL))
        self._nodes_due = len(nodes) + FAN_OUT**START_LEVEL
        parts = in_parts(nodes, lambda _: 2 + CUT, NODES_MAX)
        return [Send(encode(LevelData(START_LEVEL, part, more))) for part, more in parts]

    def payload(self, payload: bytes) -> Sequence[Effect]:
        """Take a payload of the peer.

        Raises:
            RemoteError: malformed, or not what an honest peer sends now.
        """
        if self._over:
            raise RemoteError("a message after the end of a session")
        message, more = decode(payload), False
        match message:
            case Entries(contents):
                self._brought += len(contents)
                if self._brought > BROUGHT_MAX:
                    raise RemoteError(f"more than {BROUGHT_MAX} state entries in one session")
                return [Brings(contents)]
            case HashNodes(nodes, wanted, more):
                self._rising(tuple(node.path for node in nodes))
                for node in nodes:
                    compare_node(self._registers.tree, node, self._found)
                self._wanted(wanted)
            case LevelData(depth, placed, more):
                self._on_level(depth, placed, more=more)
            case Want(wanted, more):
                self._wanted(wanted)
            case Outcome():
                self._theirs = message
            case Authors():
                raise RemoteError("authors told where nodes are compared")
        if more:
            return []
        self._last = None
        self._turns += 1
        if self._turns > TURNS_MAX:
            raise RemoteError("a comparison of state without end")
        return [GoOn()]

    def moved(self) -> None:
        """Our state changed by something else than this session."""
        self._moved = True

    def go_on(self) -> Sequence[Effect]:
        """Take our turn: all that the peer brought has been judged."""
        if self._theirs is not None and self._root_then is not None:
            return [self._finished(self._theirs)]
        effects = list(self._turn())
        if self._theirs is not None and self._root_then is not None:
            effects.append(self._finished(self._theirs))
        return effects

    # --- Turns ---------------------------------------------------------------------------------

    def _turn(self) -> Sequence[Effect]:
        found, self._found = self._found, Difference()
        sent: list[Message] = list(self._entries(found))
        if found.tell or found.want:
            sent += self._nodes(found)
        else:
            tree = self._registers.tree
            self._root_then = tree.root
            sent.append(Outcome(tree.root, len(tree), self._aside(), self._moved))
        return [Send(encode(message)) for message in sent]

    def _entries(self, found: Difference) -> Iterator[Entries]:
        """Yield what the peer lacks, each entry once a session."""
        keys = [key for key in found.push if key not in self._pushed]
        self._pushed.update(keys)
        contents = tuple([one for key in keys if (one := self._content_of(key)) is not None])
        if contents:
            for part, _ in in_parts(contents, len, ENTRIES_MAX):
                yield Entries(part)

    def _nodes(self, found: Difference) -> Iterator[Message]:
        """Yield nodes to tell and ids to want; the last message ends the turn."""
        found.tell.sort(key=lambda node: node.path)
        self._told_ids |= found.told
        self._may_want += len(found.told)
        self._nodes_due = sum(len(one.hashes) for one in found.tell if isinstance(one, Children))
        wanted = list(in_parts(tuple(sorted(found.want)), lambda _: CUT, ENTRIES_MAX))
        if not found.tell:
            for part, more in wanted:
                yield Want(part, more)
            return
        for ids, _ in wanted[:-1]:
            yield Want(ids, more=True)
        last = wanted[-1][0]
        for nodes, more in in_parts(tuple(found.tell), node_size, NODES_MAX):
            yield HashNodes(nodes, () if more else last, more)

    # --- What came -----------------------------------------------------------------------------

    def _rising(self, paths: Sequence[Path]) -> None:
        """Refuse nodes out of order, and more of them than we have told of.

        Raises:
            RemoteError: no honest peer does that.
        """
        for path in paths:
            if self._last is not None and path <= self._last:
                raise RemoteError("nodes of a tree out of order")
            self._last = path
        self._nodes_due -= len(paths)
        if self._nodes_due < 0:
            raise RemoteError("more nodes of a tree than were told of")

    def _on_level(self, depth: int, placed: tuple[tuple[Path, bytes], ...], *, more: bool) -> None:
        if self._turns or depth != START_LEVEL:
            raise RemoteError("a level of a tree that is not compared now")
        if self._level is None:
            self._level = LevelComparison(self._registers.tree, depth)
            self._nodes_due = FAN_OUT**START_LEVEL
        self._rising(tuple(path for path, _ in placed))
        self._level.part(placed, self._found)
        if not more:
            self._level.end(self._found)
            self._level = None

    def _wanted(self, ids: tuple[bytes, ...]) -> None:
        """Note entries to send: those whose ids we told.

        Raises:
            RemoteError: it wants what was not told.
        """
        self._may_want -= len(ids)
        if self._may_want < 0 or not self._told_ids.keys() >= set(ids):
            raise RemoteError("it wants a state entry that was not told")
        self._found.push.update(dict.fromkeys(self._told_ids[one] for one in ids))

    def _finished(self, theirs: Outcome) -> Finished:
        self._over = True
        if theirs.root == self._root_then:
            return Finished(Result.CONVERGED)
        if self._moved or theirs.moved:
            return Finished(Result.MOVED)
        if theirs.aside or self._aside():
            return Finished(Result.BENIGN)
        return Finished(Result.NOT_CONVERGED)
