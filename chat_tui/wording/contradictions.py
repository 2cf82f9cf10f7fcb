"""Contradictory entries signed by one author: kept, and put into words."""

from collections.abc import Callable, Iterable
from typing import Final

from chat_tui.text.times import count
from sync.machine import PeerId
from sync.view.view import ContradictionInfo

KEPT_MAX: Final = 100
"""Contradictions that are remembered to be shown, the newest; more say nothing new of anybody."""

AUTHORS_MAX: Final = 1024
"""Authors who were told of in this run; beyond it nobody new is."""

STRANGERS_MAX: Final = 16
"""Of them those whom nothing speaks for: keys cost nothing, and a fork two messages."""

ID_SHOWN: Final = 8
"""Characters of a message id, as everywhere."""

MEANING: Final = "a profile that was copied, or restored from a backup; or somebody with two faces"

OF_OURS: Final = "your profile was copied, or restored from a backup"


class Contradictions:
    """The known contradictions: from the disk at the start, then as they are found.

    `is_known` tells people who are verified, or were met in earlier days, from keys that somebody
    may have made up; `me` is whom they are told to.
    """

    def __init__(self, is_known: Callable[[PeerId], bool], me: PeerId) -> None:
        self._is_known = is_known
        self._me = me
        self.found: tuple[ContradictionInfo, ...] = ()
        """The newest first."""
        self._told: set[PeerId] = set()

    def load(self, found: Iterable[ContradictionInfo]) -> None:
        """Take in what the disk holds; nobody is told of it again."""
        known = {one.message_ids for one in self.found}
        older = [one for one in found if one.message_ids not in known]
        self._keep((*self.found, *reversed(older)))

    def _keep(self, found: tuple[ContradictionInfo, ...]) -> None:
        """Keep the newest, those of people who are known before others."""
        if len(found) > KEPT_MAX:
            places = sorted(range(len(found)), key=lambda at: not self._is_known(found[at].author))
            found = tuple([found[at] for at in sorted(places[:KEPT_MAX])])
        self.found = found

    def note_found(self, found: ContradictionInfo, called: Callable[[PeerId], str]) -> str:
        """Take note of one; returns a sentence, where its author was not told of before.

        `called` returns the author's name, which is asked for in that case alone.
        """
        self._keep((found, *self.found))
        most = AUTHORS_MAX if self._is_known(found.author) else STRANGERS_MAX
        if found.author in self._told or len(self._told) >= most:
            return ""
        self._told.add(found.author)
        if found.author == self._me:
            return f"You {said(found)}: {OF_OURS}. Both are kept and shown."
        name = called(found.author)
        return f"{name} {said(found)}: {MEANING}. Both are kept and shown; /whois says more."


def said(found: ContradictionInfo) -> str:
    """Return what somebody did, as the rest of a sentence."""
    one, other = (message_id[:ID_SHOWN] for message_id in found.message_ids)
    if found.what == "fork":
        return f"signed two messages as number {found.seq} of one log ({one} and {other})"
    return f"signed message {one} as if {other} came before it in its log, which it does not"


def of_author(found: Iterable[ContradictionInfo], author: PeerId) -> str:
    """Return what there is against somebody, in a line; empty where there is nothing."""
    own = [one for one in found if one.author == author]
    if not own:
        return ""
    more = f"; {count(len(own) - 1, 'more')}" if len(own) > 1 else ""
    return f"{said(own[0])}{more}: {MEANING}"
