"""Light markup of messages: which characters are code, emphasis, quotes, lists and links.

Rules:
1. Markup colours characters where they stand. None is taken away, added or moved: `rm *.o*` must
   not read as `rm .o`, and what is copied, searched and counted is what was written.
2. Each character is looked at a few times, whatever was written: nothing nests, and no pattern goes
   back further than to the sign before.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from chat_tui.text.word_match import Span

CODE: Final = 128
"""In the byte of a character: code; its low bits are a `Word` then (`chat_tui.text.word_kinds`)."""
LINK: Final = 64
STRANGE: Final = 32
"""Of a link: its host has letters that may look like others."""
BULLET: Final = 16
QUOTE: Final = 8
SIGN: Final = 4
"""Of a sign that marks up what is beside it."""
STRONG: Final = 2
EMPHASIS: Final = 1


@cache
def _with(bits: int) -> bytes:
    """Return the table that adds `bits` to bytes; most of the 256 are never asked for."""
    return bytes([byte | bits for byte in range(256)])


HANG_MAX: Final = 8
"""Cells that the further lines of an item or a quote are indented by, at the most."""

FENCE: Final = r" {0,3}```[ ]*([\w+#.\-]{0,20})[ ]*"
FENCE_END: Final = r" {0,3}```[ ]*"
QUOTED: Final = r">[> ]* (?=\S)"
ITEM: Final = r" {0,8}(?:[-*+\u2022]|[0-9]{1,3}[.)]) +(?=\S)"

INLINE: Final = (
    r"(?i)(?P<link>https?://[^\s<>\"`\\]+)"
    r"|(?P<code>(?<!`)(?P<run>`{1,3})(?!`)[^`]+(?P=run)(?!`))"
    r"|(?P<strong>(?<![\w*])\*\*(?![\s*])[^*]*[^*\s]\*\*(?![\w*]))"
    r"|(?P<em>(?<![\w*])\*(?![\s*])(?:[^*]*[^*\s])?\*(?![\w*])"
    r"|(?<![\w_])_(?![\s_])(?:[^_]*[^_\s])?_(?![\w_]))"
)
"""Within one line. From each sign the pattern looks no further than to the next one like it."""

MARKED: Final = re.compile(r"[`*_]|://|^[ ]{0,8}(?:[-+>\u2022]|[0-9]{1,3}[.)] )", re.MULTILINE)
"""Found in all texts in which anything is marked up; most have nothing of it."""

JOINING: Final = "(?s)(?:\u200d.?|[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff])+"
"""Characters that are drawn as one with the one before."""

_pattern = cache(re.compile)
"""Those above are compiled once there is a text that is marked up: a first paint may do without."""


class Block(NamedTuple):
    """One line of a text as it was written, without its end."""

    start: int
    text: str
    hang: int
    """Characters at its beginning that stand for themselves: a bullet, the signs of a quote."""
    is_code: bool
    language: str
    """Of the code, if this is the fence before it."""
    is_fence: bool


def is_marked(text: str) -> bool:
    """Return whether anything in a text may be marked up."""
    return MARKED.search(text) is not None


def blocks(text: str, *, first: int = 0) -> Iterator[Block]:
    """Yield the lines of a text; those before the character `first` are plain."""
    at, in_code = 0, False
    for line in text.split("\n"):
        fence = None if at < first else _pattern(FENCE_END if in_code else FENCE).fullmatch(line)
        if fence is not None:
            in_code = not in_code
            language = fence[1] if in_code else ""
            yield Block(at, line, 0, is_code=False, language=language, is_fence=True)
        elif in_code:
            yield Block(at, line, 0, is_code=True, language="", is_fence=False)
        else:
            begun = None if at < first else _begun(line)
            hang = 0 if begun is None else min(begun.end(), HANG_MAX)
            yield Block(at, line, hang, is_code=False, language="", is_fence=False)
        at += len(line) + 1


def _begun(line: str) -> re.Match[str] | None:
    """Return what an item or a quote begins with, if the line is one."""
    return _pattern(QUOTED).match(line) or _pattern(ITEM).match(line)


def kinds_of(text: str, written: Sequence[Block], links: Sequence[Span]) -> bytearray:
    """Return a byte for each character of a text, of the bits above.

    Args:
        text: clean text.
        written: its lines, or the first of them, as `blocks` yields them; of the others, and where
            there are none, only links are marked.
        links: where links stand in it.
    """
    kinds = bytearray(len(text))
    language, code_from = "", 0
    for block in written:
        end = block.start + len(block.text)
        if block.is_fence:
            _colour(kinds, text, code_from, block.start, language)
            add(kinds, block.start, end, SIGN)
            language, code_from = block.language, end + 1
        elif block.is_code:
            add(kinds, block.start, end, CODE)
        else:
            _mark_line(kinds, block)
    if written and language:
        _colour(kinds, text, code_from, written[-1].start + len(written[-1].text), language)
    for start, end in links:
        add(kinds, start, end, LINK | (0 if text[start:end].isascii() else STRANGE))
    for match in _pattern(JOINING).finditer(text):
        at = match.start()
        if at:  # what shares a cell has one colour
            kinds[at : match.end()] = kinds[at - 1 : at] * (match.end() - at)
    return kinds


def add(kinds: bytearray, start: int, end: int, bits: int) -> None:
    """Add bits to some characters."""
    kinds[start:end] = kinds[start:end].translate(_with(bits))


def _colour(kinds: bytearray, text: str, start: int, end: int, language: str) -> None:
    if language:
        from chat_tui.text.code_words import coloured  # noqa: PLC0415  # rare in a first paint

        for first, last, word in coloured(text[start:end], language):
            add(kinds, start + first, start + last, word)


def _mark_line(kinds: bytearray, block: Block) -> None:
    """Mark up a line that is no code."""
    line, start = block.text, block.start
    begun = _begun(line) if block.hang else None
    if begun is not None:
        is_quote = line.startswith(">")
        add(kinds, start, start + begun.end(), SIGN if is_quote else BULLET)
        if is_quote:
            add(kinds, start + begun.end(), start + len(line), QUOTE)
    for match in _pattern(INLINE).finditer(line, 0 if begun is None else begun.end()):
        first, last = start + match.start(), start + match.end()
        if match.lastgroup == "link":
            continue
        if match["code"] is not None:
            bits, signs = CODE, len(match["run"])
        else:
            bits, signs = (STRONG, 2) if match["strong"] is not None else (EMPHASIS, 1)
        if bits == CODE:
            kinds[first + signs : last - signs] = bytes([CODE]) * (last - first - 2 * signs)
        else:
            add(kinds, first + signs, last - signs, bits)
        add(kinds, first, first + signs, SIGN)
        add(kinds, last - signs, last, SIGN)
