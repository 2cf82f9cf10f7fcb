"""Contradictory entries signed by one author: kept, and put into words."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from chat_tui.text.safe_text import count
from sync.machine import PeerId
from sync.view.view import ContradictionInfo

KEPT_MAX: Final = 100
"""Contradictions that are remembered to be shown, the newest; more say nothing new of anybody."""

AUTHORS_MAX: Final = 1024
"""Authors who were told of in this run; beyond it nobody new is: keys cost nothing."""

ID_SHOWN: Final = 8
"""Characters of a message id, as everywhere."""

MEANING: Final = "a profile that was copied, or restored from a backup; or somebody with two faces"


class Contradictions:
    """The known contradictions: from the disk at the start, then as they are found."""

    def __init__(self) -> None:
        self.found: tuple[ContradictionInfo, ...] = ()
        """The newest first."""
        self._told: Counter[PeerId] = Counter()

    def load(self, found: Iterable[ContradictionInfo]) -> None:
        """Take in what the disk holds; nobody is told of it again."""
        known = {one.message_ids for one in self.found}
        older = [one for one in found if one.message_ids not in known]
        self.found = (*self.found, *reversed(older))[:KEPT_MAX]

    def note(self, found: ContradictionInfo, called: str) -> str:
        """Take note of one; returns a sentence, where its author was not told of before."""
        self.found = (found, *self.found)[:KEPT_MAX]
        if found.author not in self._told and len(self._told) >= AUTHORS_MAX:
            return ""
        self._told[found.author] += 1
        if self._told[found.author] > 1:
            return ""
        return f"{called} {said(found)}: {MEANING}. Both are kept and shown; /whois says more."


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
