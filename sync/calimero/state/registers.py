"""The registers of a channel: of each the newest entry, of each author the newest registers.

Rules:
1. An entry stands if no other of its register has a higher rank (stamp, then leaf).
2. Of an author the `REGISTERS_OF_AUTHOR_MAX` registers of highest rank stay.
3. Of all authors the `ENTRIES_MAX` registers of highest rank stay.
4. Nothing else decides, least of all the order of arrival. A register that was pushed out stays
   out, since those above it only ever rise.

Whether an entry may come in at all, by its cut and its time, is decided before (`sync.group`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Final

from msgspec import Struct

from sync.calimero.governance.ops import Key
from sync.calimero.state.contents import StateKind
from sync.calimero.state.entry import Leaf, RegisterKey, StateEntry, register_key
from sync.calimero.state.tree import Tree

REGISTERS_OF_AUTHOR_MAX: Final = 128
"""Registers of an author: one of each kind, and over a hundred pins; 32 kB with usual values."""


STALE_MAX: Final = 64
"""Ranks that stand no more and may lie in the heap of a small channel."""

ENTRIES_MAX: Final = 65_536
"""Registers of a channel: 128 of each of 512 members. Beyond it the oldest give way, whosever they
are: members who make up keys can take the room of others, and are seen to."""


class Kept(Struct, frozen=True):
    """The entry stands; `replaced` and `pushed_out` stand no more."""

    replaced: StateEntry | None = None
    pushed_out: StateEntry | None = None


class Registers:
    """See the module docstring. The tree holds just the entries that stand."""

    def __init__(self, entries: Iterable[StateEntry] = ()) -> None:
        self.tree = Tree()
        self._entries: dict[RegisterKey, StateEntry] = {}
        self._of_author: defaultdict[Key, set[RegisterKey]] = defaultdict(set)
        self._of_kind: defaultdict[StateKind, set[RegisterKey]] = defaultdict(set)
        self._lowest: list[tuple[tuple[int, Leaf], RegisterKey]] = []
        """A heap of ranks; some stand no more."""
        for entry in entries:
            self.put(entry)

    def __len__(self) -> int:
        """Return the number of entries that stand."""
        return len(self._entries)

    def __iter__(self) -> Iterator[StateEntry]:
        """Yield the entries that stand, in the order of the tree."""
        return (self._entries[key] for key, _ in self.tree.entries())

    def get(self, key: RegisterKey) -> StateEntry | None:
        """Return the entry of a register that stands."""
        return self._entries.get(key)

    def of(self, author: Key, kind: StateKind, name: bytes = b"") -> StateEntry | None:
        """Return the entry of somebody's register that stands."""
        return self._entries.get(register_key(author, kind, name))

    def of_author(self, author: Key) -> tuple[StateEntry, ...]:
        """Return the entries of somebody, highest rank first."""
        return self._ranked(author)

    def of_kind(self, kind: StateKind) -> Mapping[RegisterKey, StateEntry]:
        """Return the entries of a kind, of all authors."""
        return {key: self._entries[key] for key in self._of_kind.get(kind, ())}

    def authors(self) -> frozenset[Key]:
        """Return everybody of whom there is an entry."""
        return frozenset(self._of_author)

    def would_keep(self, entry: StateEntry) -> bool:
        """Return whether an entry would stand: asked before its signature is verified."""
        held = self._entries.get(entry.key)
        if held is not None:
            return entry.rank > held.rank
        theirs = self._of_author.get(entry.author, set())
        if len(theirs) >= REGISTERS_OF_AUTHOR_MAX:
            return entry.rank > self._ranked(entry.author)[-1].rank
        return len(self) < ENTRIES_MAX or entry.rank > self._last().rank

    def put(self, entry: StateEntry) -> Kept | None:
        """Take an entry in; returns None if it does not stand."""
        if not self.would_keep(entry):
            return None
        replaced = self._entries.get(entry.key)
        self._set(entry)
        pushed_out = None
        if len(self._of_author[entry.author]) > REGISTERS_OF_AUTHOR_MAX:
            pushed_out = self._ranked(entry.author)[-1]
        elif len(self) > ENTRIES_MAX:
            pushed_out = self._last()
        if pushed_out is not None:
            self._take_out(pushed_out)
        return Kept(replaced, pushed_out)

    def forget(self, entry: StateEntry) -> None:
        """Take an entry that stands out."""
        self._take_out(entry)

    def drop_author(self, author: Key) -> tuple[StateEntry, ...]:
        """Take all entries of somebody out, and return them."""
        entries = self._ranked(author)
        for entry in entries:
            self._take_out(entry)
        return entries

    def _ranked(self, author: Key) -> tuple[StateEntry, ...]:
        keys = self._of_author.get(author, ())
        entries = [self._entries[key] for key in keys]
        return tuple(sorted(entries, key=lambda one: one.rank, reverse=True))

    def _last(self) -> StateEntry:
        """Return the entry of lowest rank."""
        while True:
            rank, key = self._lowest[0]
            entry = self._entries.get(key)
            if entry is not None and entry.rank == rank:
                return entry
            heappop(self._lowest)

    def _set(self, entry: StateEntry) -> None:
        self._entries[entry.key] = entry
        self._of_author[entry.author].add(entry.key)
        self._of_kind[entry.kind].add(entry.key)
        self.tree.put(entry.key, entry.leaf)
        heappush(self._lowest, (entry.rank, entry.key))
        if len(self._lowest) > 2 * len(self) + STALE_MAX:
            self._lowest = [(one.rank, one.key) for one in self._entries.values()]
            heapify(self._lowest)

    def _take_out(self, entry: StateEntry) -> None:
        del self._entries[entry.key]
        self._of_kind[entry.kind].discard(entry.key)
        theirs = self._of_author[entry.author]
        theirs.discard(entry.key)
        if not theirs:
            del self._of_author[entry.author]
        self.tree.remove(entry.key)
