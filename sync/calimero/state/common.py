"""Authors whom both ends of a session know, and the tree of their entries alone.

In an open channel an author's entries count at whoever has a message of theirs. Who fetches no old
messages may never get one of somebody who is silent, so whole trees would differ for ever. Where
either end has a floor both tell of whom they have state, and which of the other's they know; what
both know is compared (section State plane).

Who opened tells first. The answer has the other's authors, and which of ours it knows; the third
message says which of those we know, and the comparison follows at once.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from sync.calimero.governance.ops import Key
from sync.calimero.state.entry import Leaf, RegisterKey
from sync.calimero.state.messages import AUTHORS_MAX, KEY_SIZE, Authors, encode, in_parts
from sync.calimero.state.registers import ENTRIES_MAX, Registers
from sync.calimero.state.tree import Tree
from sync.errors import RemoteError

TOLD_MAX: Final = ENTRIES_MAX
"""Authors that an end may tell: each has an entry."""


class Introductions:
    """One end of the exchange about authors; see the module docstring.

    Args:
        registers: our state.
        knows: returns whether a message of somebody was ever stored here.
        opens: whether we have opened the stream.
    """

    def __init__(self, registers: Registers, knows: Callable[[Key], bool], *, opens: bool) -> None:
        self._ours = registers.authors()
        self._knows = knows
        self._opens = opens
        self._theirs: set[Key] = set()
        self._known_there: set[Key] = set()
        self._answered = False
        self.common: frozenset[Key] | None = None
        """Authors whom both know, at whom both arrive; None before that."""

    def open(self) -> Sequence[bytes]:
        """Begin: tell of whom we have state."""
        return _payloads(self._ours, ())

    def payload(self, message: Authors) -> Sequence[bytes]:
        """Take what the peer tells; returns what to answer.

        Raises:
            RemoteError: no honest peer says that now.
        """
        if self.common is not None:
            raise RemoteError("authors told twice")
        if self._answered and message.held:
            raise RemoteError("authors told twice")
        self._theirs.update(message.held)
        self._known_there.update(message.known)
        if len(self._theirs) > TOLD_MAX:
            raise RemoteError(f"state of more than {TOLD_MAX:,} authors")
        if not self._known_there <= self._ours:
            raise RemoteError("it knows authors who were not told")
        if message.more:
            return []
        known_here = {author for author in self._theirs if self._knows(author)}
        if self._opens:
            self.common = frozenset(known_here | self._known_there)
            return _payloads((), known_here)
        if not self._answered:
            self._answered = True
            return _payloads(self._ours, known_here)
        self.common = frozenset(known_here | self._known_there)
        return []


class Part:
    """The tree of some authors' entries; it follows the registers when it is told to."""

    def __init__(self, registers: Registers, authors: Collection[Key]) -> None:
        self.tree = Tree()
        self._registers = registers
        self._of: dict[Key, dict[RegisterKey, Leaf]] = {author: {} for author in authors}
        self.follow(authors)

    def follow(self, authors: Iterable[Key] | None = None) -> None:
        """Take over what changed of these authors, of all without any."""
        for author in self._of if authors is None else authors:
            held = self._of.get(author)
            if held is None:
                continue
            now = {one.key: one.leaf for one in self._registers.of_author(author)}
            for key in held.keys() - now.keys():
                self.tree.remove(key)
            for key, leaf in now.items():
                if held.get(key) != leaf:
                    self.tree.put(key, leaf)
            self._of[author] = now


def _payloads(held: Iterable[Key], known: Iterable[Key]) -> list[bytes]:
    told = [(True, key) for key in sorted(held)] + [(False, key) for key in sorted(known)]
    if not told:
        return [encode(Authors((), ()))]
    return [
        encode(
            Authors(
                tuple([key for ours, key in part if ours]),
                tuple([key for ours, key in part if not ours]),
                more,
            )
        )
        for part, more in in_parts(tuple(told), lambda _: KEY_SIZE, AUTHORS_MAX)
    ]
