"""Words that are looked for in a text: those of a search, and one's own name.

Rule: case and accents do not count, as in the index that finds the messages.
"""

import re
import unicodedata
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
"""First character, and the one after the last."""

RUNS: Final = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")
"""ASCII, which needs no looking at, as far as it goes; all else one by one."""

NOTHING: Final = re.compile(r"(?!)")
"""Matches nowhere."""


def fold(text: str) -> tuple[str, list[int]]:
    """Return `text` without case and accents, and where each character of that comes from."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    letters: list[str] = []
    origins: list[int] = []
    for run in RUNS.finditer(text):
        if run[0].isascii():
            letters.append(run[0].lower())
            origins += range(run.start(), run.end())
            continue
        for letter in unicodedata.normalize("NFD", run[0]).casefold():
            if unicodedata.category(letter) != "Mn":
                letters.append(letter)
                origins.append(run.start())
    return "".join(letters), origins


def words_of(query: str) -> re.Pattern[str]:
    """Return what finds words that begin as those of `query` do, in folded text."""
    folded, _ = fold(query)
    words = {word for word in re.split(r'[\s"\0]+', folded) if any(map(str.isalnum, word))}
    if not words:
        return NOTHING
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(r"(?<![^\W_])(?:" + "|".join(map(re.escape, longest_first)) + ")")


def name_of(nick: str) -> re.Pattern[str]:
    """Return what finds a name as a word of its own, with or without an @, in folded text."""
    folded = fold(nick)[0].strip()
    return re.compile(rf"(?<!\w)@?{re.escape(folded)}(?!\w)") if folded else NOTHING


def spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    """Return where `pattern` matches in `text`, counted in the characters of `text` itself."""
    if text.isascii() and pattern.search(text.lower()) is None:
        return []
    folded, origins = fold(text)
    ends = [*origins, len(text)]
    return [
        (origins[match.start()], max(ends[match.end() - 1] + 1, ends[match.end()]))
        for match in pattern.finditer(folded)
        if match.end() > match.start()
    ]


def is_mentioned(nick: str, text: str) -> bool:
    """Return whether `text` names `nick` as a word of its own."""
    return name_of(nick).search(fold(text)[0]) is not None
