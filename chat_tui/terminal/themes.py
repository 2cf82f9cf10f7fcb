"""Colours: every theme made legible, two of our own, and the colours of authors in each.

Rules:
1. Text has a contrast of 4.5 to what it stands on, also where it is dimmed (WCAG 2.2, 1.4.3 AA).
2. `ansi` names only the terminal's own colours, whose contrast is the person's own choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from rich.style import Style
from textual.color import BLACK, WHITE, Color
from textual.theme import BUILTIN_THEMES, Theme

from chat_tui.settings.colour_names import COLOUR_NAMES
from sync.machine import PeerId

TEXT_CONTRAST: Final = 4.5
RULE_CONTRAST: Final = 3.0
HIGH_CONTRAST: Final = 7.0
"""WCAG 2.2, 1.4.6 AAA: what who asks for high contrast may expect."""

DIM: Final = 0.65
"""The share of the foreground in the dimmest text on the background (`$foreground 65%`)."""
DIM_IN_BARS: Final = 0.75
"""The same on the surface of bars and frames (`chat_tui.wording.panels.DIM`)."""

MARGIN: Final = 1.02
"""Loss of contrast that rounding to 8 bits, once by us and once by Textual, may cause."""

STEP: Final = 0.05
"""Of the way to black or white that a colour takes at a time until it is legible."""

COLOURS: Final = ("primary", "secondary", "warning", "error", "success", "accent")
"""Colours of text besides the foreground."""

AUTHORS: Final = (
    "#7aa2f7", "#9ece6a", "#e0af68", "#f7768e", "#bb9af7",
    "#7dcfff", "#ff9e64", "#73daca", "#d7a0e0", "#b5c46a",
)  # fmt: skip
"""Ten hues that are easy to tell apart; each theme makes them as light or dark as it needs. Their
names are `COLOUR_NAMES`, in this order."""

ANSI_AUTHORS: Final = (
    "magenta", "cyan", "green", "red",
    "bright_magenta", "bright_cyan", "bright_green", "bright_red",
)  # fmt: skip
"""Without blue and yellow, which many terminals show almost like their background."""

ANSI_OF: Final = {
    "blue": "bright_cyan", "green": "green", "amber": "bright_red", "rose": "red",
    "violet": "magenta", "sky": "bright_cyan", "orange": "bright_red", "teal": "cyan",
    "pink": "bright_magenta", "olive": "bright_green",
}  # fmt: skip
"""The nearest of these to each colour that has a name."""

OWN: Final = {
    "high-contrast": Theme(
        name="high-contrast",
        primary="#ffff00",
        secondary="#00ffff",
        warning="#ffd000",
        error="#ff9090",
        success="#60ff60",
        accent="#ffff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        boost="#000000",
        variables={
            "border-blurred": "#ffffff",
            "block-cursor-background": "#ffff00",
            "block-cursor-foreground": "#000000",
            "input-selection-background": "#0000c0",
        },
    ),
    "ansi": replace(
        BUILTIN_THEMES["ansi-dark"],
        name="ansi",
        primary="ansi_cyan",
        secondary="ansi_magenta",
        warning="ansi_magenta",
        error="ansi_red",
        success="ansi_green",
        accent="ansi_cyan",
        variables={
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "border": "ansi_cyan",
            "border-blurred": "ansi_default",
            "block-cursor-foreground": "ansi_black",
            "block-cursor-background": "ansi_cyan",
            "input-cursor-background": "ansi_default",
            "input-cursor-foreground": "ansi_default",
            "input-cursor-text-style": "reverse",
            "input-selection-background": "ansi_cyan",
            "input-selection-foreground": "ansi_black",
            "screen-selection-background": "ansi_cyan",
            "screen-selection-foreground": "ansi_black",
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
        },
    ),
}


def luminance(colour: Color) -> float:
    """Return how light a colour is, from 0 to 1 (WCAG 2.2, "relative luminance")."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004
        for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def legible(colour: Color, grounds: Sequence[Color], ratio: float, share: float = 1.0) -> Color:
    """Return `colour`, nearer to black or white if need be, to be read on each of `grounds`.

    Args:
        colour: of the text.
        grounds: what it may stand on, all of them light or all dark.
        ratio: the least contrast.
        share: how much of the colour is left where the text is dimmed.
    """
    end = WHITE if luminance(grounds[0]) < luminance(Color.parse("#808080")) else BLACK
    found, way = colour, 0.0
    while way < 1 and any(
        contrast(ground.blend(found, share), ground) < ratio * MARGIN for ground in grounds
    ):
        way += STEP
        found = colour.blend(end, min(way, 1.0))
    return found


def grounds_of(theme: Theme) -> tuple[Color, ...]:
    """Return what text stands on: the background, and the surface of bars and frames."""
    return _grounds(theme.to_color_system().generate())


def _grounds(colours: Mapping[str, str]) -> tuple[Color, ...]:
    return Color.parse(colours["background"]), Color.parse(colours["surface"])


@lru_cache
def _as_made(name: str) -> Mapping[str, str]:
    """Return the colours of a theme as whoever made it wants them."""
    return (OWN.get(name) or BUILTIN_THEMES[name]).to_color_system().generate()


@lru_cache
def legible_theme(name: str) -> Theme:
    """Return a theme of ours or of Textual's, its colours legible on its own background."""
    theme = OWN.get(name) or BUILTIN_THEMES[name]
    if theme.ansi:
        return theme
    made = _as_made(name)
    grounds = _grounds(made)
    colours = {name: Color.parse(made[name]) for name in (*COLOURS, "foreground")}
    legibles = {name: legible(colours[name], grounds, _ratio(theme.name)) for name in COLOURS}
    foreground = colours["foreground"]
    for ground, share in zip(grounds, (DIM, DIM_IN_BARS), strict=True):
        foreground = legible(foreground, (ground,), TEXT_CONTRAST, share)
    legibles["foreground"] = foreground
    changed: dict[str, Any] = {
        name: colour.hex6 for name, colour in legibles.items() if colour != colours[name]
    }
    return replace(theme, **changed)


def _ratio(name: str) -> float:
    return HIGH_CONTRAST if name == "high-contrast" else TEXT_CONTRAST


@lru_cache
def author_styles(name: str) -> tuple[Style, ...]:
    """Return the colours of authors in a theme."""
    theme = legible_theme(name)
    if theme.ansi:
        return tuple([Style(color=colour, bold=True) for colour in ANSI_AUTHORS])
    grounds = _grounds(_as_made(name))  # which are the same in the legible one
    colours = [legible(Color.parse(colour), grounds, _ratio(name)) for colour in AUTHORS]
    return tuple([Style(color=colour.hex6, bold=True) for colour in colours])


def author_style(author: PeerId, theme: str, chosen: str = "", place: int | None = None) -> Style:
    """Return the colour of an author.

    Args:
        author: whose name it is.
        theme: of the screen.
        chosen: name of the colour that they chose; one that is not known counts for none.
        place: the one they have among the colours in this profile; None: that of their key.
    """
    styles = author_styles(theme)
    if chosen not in COLOUR_NAMES:
        place = int(author[:8], 16) if place is None else place
        return styles[place % len(styles)]
    if legible_theme(theme).ansi:
        return styles[ANSI_AUTHORS.index(ANSI_OF[chosen])]
    return styles[COLOUR_NAMES.index(chosen)]


def text_style(style: Style) -> str:
    """Return the colour of a style by the name that Textual's styles know it by."""
    if style.color is None:
        return ""
    name = style.color.name
    return name if name.startswith("#") else f"ansi_{name}"
