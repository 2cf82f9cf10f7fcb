"""Text of peers, made safe and cut to fit the terminal; and times and spans for people.

Rules:
1. Nothing a peer wrote reaches the terminal without `clean_text` or `clean_nick`.
2. Widths are terminal cells, never characters.
"""

import re
import unicodedata
from datetime import UTC, datetime
from typing import Final

from rich.cells import cell_len, chop_cells, split_graphemes

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos

COMBINING_MAX: Final = 4
"""Marks stacked on one character; Vietnamese needs 2, a text that spills over its line uses 50."""

NICK_CELLS_MAX: Final = 32
"""A longer name would push the text it belongs to off the screen."""

LINES_MAX: Final = 300
"""Lines shown of one message: the longest text allowed fills 270 lines of the 56 cells that a
terminal of 80 columns leaves for it, so that only floods of newlines are cut."""

NAMELESS: Final = "(no name)"

_ANSI_SEQUENCE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_HARMLESS: Final = re.compile(r"[\n -~]*")

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Control (C0, C1), format (bidirectional overrides, zero-width, tags), private use, half
characters and separators: no cell of their own, or no agreement on it."""

_INVISIBLE_LETTERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
    "\U000e0100-\U000e01ef]"
)
"""Fillers, variation selectors and tones of skin, which the categories count as letters, marks or
signs. Terminals do not agree on how wide a character is with a selector or a tone (tmux 3.3 gives
a tone two cells of its own, which pushed our mark off the line); without it they do."""

_YEAR_9999: Final[Nanos] = 253_000_000_000 * SECOND
"""Near the end of what a calendar date can say; an author may claim any 64-bit time."""

DAY: Final[Nanos] = 24 * HOUR
KILOBYTE: Final = 1000


def clean_text(text: str) -> str:
    """Return `text` without anything that could steer a terminal or hide itself.

    Newlines stay, a tab becomes four spaces, half a surrogate pair becomes a question mark.
    """
    if _HARMLESS.fullmatch(text):
        return text
    text = _ANSI_SEQUENCE.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    return _visible(_INVISIBLE_LETTERS.sub("", text))


def _visible(text: str) -> str:
    kept: list[str] = []
    combining = 0
    for character in text:
        if character.isascii():
            if character == "\n" or character.isprintable():
                kept.append(character)
                combining = 0
            continue
        category = unicodedata.category(character)
        if category in _INVISIBLE_CATEGORIES:
            continue
        combining = combining + 1 if category in {"Mn", "Me"} else 0
        if combining <= COMBINING_MAX:
            kept.append(character)
    return "".join(kept)


def clean_nick(nick: str) -> str:
    """Return `nick` as one short line of visible characters, `NAMELESS` if none is left."""
    words = clean_text(nick).split()
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
        width: cells, at least 2, so that every character fits
        most: lines; None for all there are
    """
    lines: list[str] = []
    paragraphs = [paragraph.rstrip(" ") for paragraph in text.rstrip().split("\n")]
    for paragraph in paragraphs:
        lines += _wrap_ascii(paragraph, width) if paragraph.isascii() else _wrap(paragraph, width)
    if most is not None and len(lines) > most:
        more = len(lines) - (most - 1)
        lines[most - 1 :] = [clip_cells(f"… {more} more lines", width)]
    return lines


def _wrap_ascii(paragraph: str, width: int) -> list[str]:
    """Wrap where one character is one cell, which needs no measuring."""
    lines: list[str] = []
    start = 0
    while len(paragraph) - start > width:
        space = paragraph.rfind(" ", start, start + width + 1)
        end = space if space >= start else start + width
        lines.append(paragraph[start:end])
        start = end + 1 if space >= start else end
    lines.append(paragraph[start:])
    return lines


def _wrap(paragraph: str, width: int) -> list[str]:
    if cell_len(paragraph) <= width:
        return [paragraph]
    lines: list[str] = []
    line, used = "", 0
    for number, word in enumerate(paragraph.split(" ")):
        cells = cell_len(word)
        if number and used + 1 + cells <= width:
            line, used = f"{line} {word}", used + 1 + cells
            continue
        if number:
            lines.append(line)
        *full, line = chop_cells(word, width) or [word]
        lines += full
        used = cell_len(line)
    lines.append(line)
    return lines


def _local(when: Nanos) -> datetime:
    clamped = min(max(when, 0), _YEAR_9999)
    return datetime.fromtimestamp(clamped // SECOND, tz=UTC).astimezone()


def time_of_day(when: Nanos) -> str:
    """Return hours and minutes on this computer's clock, as `09:15`."""
    return f"{_local(when):%H:%M}"


def twelve_hours(when: Nanos) -> str:
    """Return hours and minutes in the halves of the day, as `5:15pm`."""
    local = _local(when)
    return f"{local.hour % 12 or 12}:{local:%M}{'am' if local.hour < 12 else 'pm'}"  # noqa: PLR2004


def minute_of_day(when: Nanos) -> int:
    """Return how many minutes of the local day have passed."""
    local = _local(when)
    return local.hour * 60 + local.minute


def day_of(when: Nanos) -> str:
    """Return the local day, as `Friday, 21 November 2025`."""
    local = _local(when)
    return f"{local:%A}, {local.day} {local:%B %Y}"


def span(length: Nanos) -> str:
    """Return a length of time in its largest whole unit, as `12 s`; less than nothing is `0 s`."""
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if length >= unit:
            return f"{length // unit} {name}"
    return f"{max(length, 0) // SECOND} s"


def milliseconds(length: Nanos) -> str:
    """Return a short length of time, as `2 ms`, or `0.4 ms` below ten."""
    exact = length / MILLISECOND
    return f"{exact:.1f} ms" if abs(exact) < 10 else f"{exact:.0f} ms"  # noqa: PLR2004


def size(length: int) -> str:
    """Return a number of bytes, as `188 B`, `34.8 kB` or `1.2 MB`."""
    if length < KILOBYTE:
        return f"{length:,} B"
    kilobytes = length / KILOBYTE
    return f"{kilobytes:.1f} kB" if kilobytes < KILOBYTE else f"{kilobytes / KILOBYTE:,.1f} MB"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return `number` with its noun, as `1 message` or `3 messages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def times(number: int) -> str:
    """Return how often, as `once`, `twice` or `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
