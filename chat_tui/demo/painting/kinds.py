"""Colours of kinds of frames in a theme, by the words that stand beside them.

Rules:
1. Each kind of `OWN` has a colour that no other one has, nor what is lost; those by which two
   compare what they hold (`COMPARED`) share one.
2. A theme's own colour goes first; where two of these are alike, the second kind gets the hue of
   authors that is farthest from all so far, and that no participant has.
"""

from functools import lru_cache
from math import sqrt
from typing import Final

from textual.color import Color

from chat_tui.demo.pacing.traffic import ASKS, WORDS
from chat_tui.terminal.themes import author_styles, legible_theme, text_style
from chat_tui.wording.panels import BAD, BUSY, GOOD
from sync.manager.payload_kinds import PayloadKind
from sync.sim.watch import Cause

COMPARED: Final = "compared"
"""Stands for every kind that has no colour of its own."""

AUTHORS_HUE: Final = ""

OWN: Final = {
    WORDS[Cause.NEW]: GOOD,
    ASKS: BUSY,
    WORDS[Cause.SYNC]: "$primary",
    WORDS[Cause.ANSWER]: "$accent",
    COMPARED: "$secondary",
    WORDS[Cause.TRANSFER]: AUTHORS_HUE,
    WORDS[Cause.STATE]: AUTHORS_HUE,
    WORDS[Cause.OPERATION]: AUTHORS_HUE,
    PayloadKind.PAGE.value: AUTHORS_HUE,
}
"""Wished colours: those without one take what is left."""

LIKE: Final = {
    WORDS[Cause.RESEND]: (WORDS[Cause.NEW], "italic"),
    WORDS[Cause.TYPING]: ("", "$foreground"),
}
"""Kinds that look like another one, but for this."""

ANSI: Final = {
    WORDS[Cause.NEW]: "ansi_green",
    ASKS: "ansi_magenta",
    WORDS[Cause.SYNC]: "ansi_cyan",
    WORDS[Cause.ANSWER]: "ansi_bright_green",
    COMPARED: "ansi_bright_magenta",
    WORDS[Cause.TRANSFER]: "ansi_bright_cyan",
    WORDS[Cause.STATE]: "bold ansi_cyan",
    WORDS[Cause.OPERATION]: "bold ansi_magenta",
    PayloadKind.PAGE.value: "bold ansi_green",
}
"""The terminal's own colours are too few, so some are told apart by their weight."""

PARTICIPANTS: Final = 4
"""Of a demo with a chart: their hues are the first ones."""

APART: Final = 40
"""Distance of two colours, in parts of 255, below which they are taken for each other."""


def kind_style(kind: str, theme: str) -> str:
    """Return the style of a kind of frame, by its word."""
    of, more = LIKE.get(kind, (kind, ""))
    own = "" if not of else styles_in(theme).get(of) or styles_in(theme)[COMPARED]
    return f"{own} {more}".strip()


@lru_cache
def styles_in(theme: str) -> dict[str, str]:
    """Return the styles of all kinds of `OWN` in a theme."""
    if legible_theme(theme).ansi:
        return ANSI
    generated = legible_theme(theme).to_color_system().generate()
    hues = [text_style(style) for style in author_styles(theme)[PARTICIPANTS:]]
    taken = [Color.parse(generated[BAD.removeprefix("$")])]
    found: dict[str, str] = {}
    for kind, wished in OWN.items():
        colour = Color.parse(generated[wished.removeprefix("$")]) if wished else taken[0]
        if _least(colour, taken) < APART:
            wished = max(hues, key=lambda hue: _least(Color.parse(hue), taken))  # noqa: PLW2901
            colour = Color.parse(wished)
        found[kind] = wished
        taken.append(colour)
    return found


def _least(colour: Color, others: list[Color]) -> float:
    return min(distance(colour, one) for one in others)


def distance(one: Color, other: Color) -> float:
    """Return how far two colours are apart, 765 at most, as the eye sees it ("redmean")."""
    red = (one.r + other.r) / 2
    parts = (
        (2 + red / 256) * (one.r - other.r) ** 2,
        4 * (one.g - other.g) ** 2,
        (2 + (255 - red) / 256) * (one.b - other.b) ** 2,
    )
    return sqrt(sum(parts))
