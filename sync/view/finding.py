"""The wish of a search, and the test of a line against it."""

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from sync.machine import ChannelId, Nanos, PeerId

if TYPE_CHECKING:
    from sync.view.view import Line

LINK: Final = r"(?i)https?://[^\s<>\"`]"

WORDS_MAX: Final = 32
"""Words of a search; each costs a look-up in the index, and nobody remembers more of a message."""

BETWEEN: Final = r"[\W_]+"
"""Signs between two words of the index."""


class Wanted(Struct, frozen=True):
    """Lines that a search asks for; what is empty or None says nothing."""

    channels: tuple[ChannelId, ...]
    words: str = ""
    """Text or nick has, for every word of these, a word that begins so; case and accents do not
    count, and nothing in them is an operator. An act has the names of all it is about, and its
    reason."""
    authors: frozenset[PeerId] = frozenset()
    nicks: frozenset[str] = frozenset()
    """Names that `authors` have used; a line under one of them is wanted too, whoever wrote it."""
    since: Nanos | None = None
    """The earliest time of writing."""
    before: Nanos | None = None
    """The first time of writing that is too late."""
    links: bool = False
    """True if a line has to have an http or https address."""
    naming: str = ""
    """A name that others wrote, or might have: all its words are in the text, anywhere."""

    @property
    def is_of_people(self) -> bool:
        """True if only lines of some people are wanted."""
        return bool(self.authors or self.nicks)

    @property
    def is_of_texts(self) -> bool:
        """True if no act of governance can be wanted."""
        return bool(not words_in(self.words) or self.is_of_people or self.links or self.naming)

    def is_in_time(self, written: Nanos) -> bool:
        """Return whether what was written at a moment can be wanted."""
        early = self.since is not None and written < self.since
        return not early and (self.before is None or written < self.before)

    def fits(self, line: "Line") -> bool:
        """Return whether a line of one of the channels, no act, is wanted."""
        if line.deleted or (self.naming and line.own) or not self.is_in_time(line.created_ns):
            return False
        if self.is_of_people and line.author not in self.authors:
            nick = same_name(line.nick)
            if not any(nick == same_name(one) for one in self.nicks):
                return False
        if self.links and re.search(LINK, line.text) is None:
            return False
        if self.naming and not _has(self.naming, folded(line.text), whole=True):
            return False
        return not self.words or _has(self.words, folded(f"{line.nick}\n{line.text}"))


def words_in(query: str) -> list[str]:
    """Return the words of a query that have a letter or a digit."""
    words = re.split(r'[\s"\0\ud800-\udfff]+', query)
    return [word for word in words if any(map(str.isalnum, word))][:WORDS_MAX]


def folded(text: str) -> str:
    """Return a text without case and accents, as the index has it."""
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFD", text).casefold()
    return "".join(one for one in letters if unicodedata.category(one) != "Mn")


@lru_cache(maxsize=256)
def same_name(nick: str) -> str:
    """Return what two names share that are the same to a search."""
    return " ".join(folded(nick).split())


def _has(query: str, text: str, *, whole: bool = False) -> bool:
    patterns = _patterns(query, whole)
    return bool(patterns) and all(one.search(text) for one in patterns)


@lru_cache(maxsize=64)
def _patterns(query: str, whole: bool) -> tuple[re.Pattern[str], ...]:  # noqa: FBT001  # cached
    """Return what finds each word of a query in a folded text; `whole`: to its end."""
    patterns = []
    for word in words_in(folded(query)):
        parts = [re.escape(part) for part in re.split(BETWEEN, word) if part]
        end = r"(?![^\W_])" if whole else ""
        patterns.append(re.compile(r"(?<![^\W_])" + BETWEEN.join(parts) + end))
    return tuple(patterns)
