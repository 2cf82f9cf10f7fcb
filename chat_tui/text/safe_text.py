"""Text of peers, made safe and cut to fit the terminal; and times and spans for people.

Rules:
1. Nothing a peer wrote reaches the terminal without `clean_text` or `clean_nick`.
2. Widths are terminal cells, never characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, chop_cells, split_graphemes

from chat_tui.text.emoji_sequences import kept_in
from chat_tui.text.word_match import Span

COMBINING_MAX: Final = 4
"""Marks stacked on one character; Vietnamese needs 2, a text that spills over its line uses 50."""

NICK_CELLS_MAX: Final = 32
"""A longer name would push the text it belongs to off the screen."""

LINES_MAX: Final = 300
"""Lines shown of one message: the longest text allowed fills 270 lines of the 56 cells that a
terminal of 80 columns leaves for it, so that only floods of newlines are cut."""

NARROWEST: Final = 2
"""Cells of the narrowest line: every character has room there, so each line takes some of a text.

Windows and panes may be narrower, even of no width at all; what is too wide there is cut off."""

NAMELESS: Final = "(no name)"

NICKS_KEPT: Final = 256
"""Names whose short line is kept: each message has one, and a channel has few."""

_ANSI_SEQUENCE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_HARMLESS: Final = re.compile(r"[\n -~]*")
_OTHERS: Final = re.compile(r"[^\n -~]+")

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Control (C0, C1), format (bidirectional overrides, zero-width, tags), private use, half
characters and separators: no cell of their own, or no agreement on it."""

_INVISIBLE_LETTERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
    "\U000e0100-\U000e01ef]"
)
"""Fillers, variation selectors and tones of skin, which the categories count as letters, marks or
signs. Terminals do not agree on how wide a character is with a selector or a tone (tmux 3.3 gives
a tone two cells of its own, which pushed our mark off the line); without it they do. Where this one
has been asked and agrees with us, see `chat_tui.text.emoji_sequences`, those of emoji stay."""


_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""C0 and C1 but newline and tab, and all that say in which direction letters run."""


def clean_text(text: str) -> str:
    """Return `text` without anything that could steer a terminal or hide itself.

    Newlines stay, a tab becomes four spaces, half a surrogate pair becomes a question mark.
    """
    if _HARMLESS.fullmatch(text):
        return text
    text = _with_newlines(text).replace("\t", "    ")
    cleaned: list[str] = []
    at = 0
    for start, end in kept_in(text):
        cleaned += (_without_joints(text[at:start]), text[start:end])
        at = end
    return "".join([*cleaned, _without_joints(text[at:])])


def without_controls(text: str) -> str:
    """Return a text of our own without what would steer the terminal it is written in.

    Joints of letters and emoji stay, unlike in `clean_text`: others may be able to show them.
    """
    return _CONTROLS.sub("", _with_newlines(text))


def _with_newlines(text: str) -> str:
    """Return a text without sequences for a terminal, whose lines all end in the same way."""
    text = _ANSI_SEQUENCE.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\u2028", "\n").replace("\u2029", "\n")


def _without_joints(text: str) -> str:
    """Return a text in which each character stands for itself."""
    return _visible(_INVISIBLE_LETTERS.sub("", text))


def _visible(text: str) -> str:
    kept: list[str] = []
    at = 0
    for others in _OTHERS.finditer(text):
        kept += (text[at : others.start()], *_visible_of(others[0]))
        at = others.end()
    return "".join([*kept, text[at:]])


def _visible_of(others: str) -> Iterator[str]:
    """Yield those of some characters that are visible; the first follows a harmless one."""
    combining = 0
    for character in others:
        category = unicodedata.category(character)
        if category in _INVISIBLE_CATEGORIES:
            continue
        combining = combining + 1 if category in {"Mn", "Me"} else 0
        if combining <= COMBINING_MAX:
            yield character


@lru_cache(NICKS_KEPT)
def clean_nick(nick: str) -> str:
    """Return `nick` as one short line of visible characters, `NAMELESS` if none is left."""
    words = _without_joints(clean_text(nick)).split()  # names must not differ in what hides
    return clip_cells(" ".join(words), NICK_CELLS_MAX) or NAMELESS


def same_nick_key(nick: str) -> str:
    """Return what two names share that a reader would take for the same."""
    return unicodedata.normalize("NFKC", nick).casefold()


def clip_cells(text: str, width: int) -> str:
    """Return `text` in at most `width` cells; what was cut shows as an ellipsis."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    if text.isascii():
        return text[: width - 1] + "…"
    spans, _ = split_graphemes(text)
    end, used = 0, 0
    for _, span_end, cells in spans:
        if used + cells > width - 1:
            break
        end, used = span_end, used + cells
    return text[:end] + "…"


def wrap(text: str, width: int, most: int | None = LINES_MAX) -> list[str]:
    """Break `text` at spaces into lines of at most `width` cells, words that are longer anywhere.

    Newlines break too; spaces and newlines at the end make no lines. At least one line, possibly
    empty; beyond `most` the last line says how many are not shown.

    Args:
        text: clean text
        width: cells; fewer than `NARROWEST` are as many, so that every character fits
        most: lines; None for all there are
    """
    lines: list[str] = []
    paragraphs = [paragraph.rstrip(" ") for paragraph in text.rstrip().split("\n")]
    for paragraph in paragraphs:
        lines += [paragraph[start:end] for start, end in line_spans(paragraph, width)]
    if most is not None and len(lines) > most:
        more = len(lines) - (most - 1)
        lines[most - 1 :] = [clip_cells(f"… {more} more lines", max(NARROWEST, width))]
    return lines


def line_spans(paragraph: str, width: int) -> list[Span]:
    """Return where the lines stand that a text without newlines is broken into, see `wrap`."""
    width = max(NARROWEST, width)
    if paragraph.isascii():
        return _ascii_spans(paragraph, width)
    if cell_len(paragraph) <= width:
        return [(0, len(paragraph))]
    spans: list[Span] = []
    start, at, used = 0, 0, 0
    for number, word in enumerate(paragraph.split(" ")):
        cells = cell_len(word)
        if number and used + 1 + cells <= width:
            used += 1 + cells
        else:
            if number:
                spans.append((start, at - 1))
            start = at
            *full, rest = chop_cells(word, width) or [word]
            for part in full:
                spans.append((start, start + len(part)))
                start += len(part)
            used = cell_len(rest)
        at += len(word) + 1
    spans.append((start, len(paragraph)))
    return spans


def chopped_spans(paragraph: str, width: int) -> list[Span]:
    """Return where lines stand that are broken wherever they are full, as code is."""
    width = max(NARROWEST, width)
    if paragraph.isascii():
        return [
            (at, min(at + width, len(paragraph))) for at in range(0, len(paragraph) or 1, width)
        ]
    spans: list[Span] = []
    at = 0
    for part in chop_cells(paragraph, width):
        spans.append((at, at + len(part)))
        at += len(part)
    return spans or [(0, len(paragraph))]  # marks alone fill no cell


def _ascii_spans(paragraph: str, width: int) -> list[Span]:
    """Break where one character is one cell, which needs no measuring."""
    spans: list[Span] = []
    start = 0
    while len(paragraph) - start > width:
        space = paragraph.rfind(" ", start, start + width + 1)
        end = space if space >= start else start + width
        spans.append((start, end))
        start = end + 1 if space >= start else end
    spans.append((start, len(paragraph)))
    return spans
