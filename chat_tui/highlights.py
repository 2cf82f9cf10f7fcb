"""Words that are looked for, found in what is on the screen: hits of a search, and one's own name.

Rule: case and accents do not count, as in the index that finds the messages.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Span: TypeAlias = tuple[int, int]
"""First character, and the one after the last."""

NOTHING: Final = re.compile(r"(?!)")
"""Matches nowhere."""


def fold(text: str) -> tuple[str, list[int]]:
    """Return `text` without case and accents, and where each character of that comes from."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    letters: list[str] = []
    origins: list[int] = []
    for at, character in enumerate(text):
        for letter in unicodedata.normalize("NFD", character).casefold():
            if unicodedata.category(letter) != "Mn":
                letters.append(letter)
                origins.append(at)
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
    """Whether `text` names `nick` as a word of its own."""
    return name_of(nick).search(fold(text)[0]) is not None


def cells_of(found: Iterable[Span], text: str) -> list[Span]:
    """Return spans of characters as spans of cells."""
    return [(cell_len(text[:start]), cell_len(text[:end])) for start, end in found]


def painted_over(strip: Strip, cells: Sequence[Span], style: Style) -> Strip:
    """Return `strip` with some spans of its cells in another style; its width stays."""
    cuts = sorted({0, strip.cell_length, *(at for span in cells for at in span)})
    inside = {at for start, end in cells for at in cuts if start <= at < end}
    parts = [
        over(strip.crop(start, end), style) if start in inside else strip.crop(start, end)
        for start, end in pairwise(cuts)
        if end <= strip.cell_length
    ]
    return Strip.join(parts)


def over(strip: Strip, style: Style) -> Strip:
    """Return `strip` in another style, whatever its own is."""
    return Strip(Segment.apply_style(strip, post_style=style), strip.cell_length)


def starts_of(lines: Sequence[str], text: str) -> list[int]:
    """Return where each of the lines that `text` was wrapped into begins in it; -1 for others."""
    starts: list[int] = []
    at = 0
    for line in lines:
        start = text.find(line, at)
        between = text[at:start] if start >= 0 else "-"
        if between.strip():  # wrapping leaves out spaces and newlines alone
            starts.append(-1)
        else:
            starts.append(start)
            at = start + len(line)
    return starts


def index_at(text: str, cell: int) -> int:
    """Return the character of a line that stands at `cell`, its length if it ends before."""
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if cell < used:
            return index
    return len(text)
