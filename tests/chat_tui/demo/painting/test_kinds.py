"""Colours of kinds of frames: each its own in every theme, and legible wherever it stands."""

from itertools import combinations

import pytest
from textual.color import Color

from chat_tui.demo.painting.field import STYLES as CELLS
from chat_tui.demo.painting.kinds import ANSI, COMPARED, OWN, distance, kind_style, styles_in
from chat_tui.settings.schema import THEMES
from chat_tui.terminal.themes import TEXT_CONTRAST, contrast, grounds_of, legible_theme

COMPUTABLE = [theme for theme in THEMES if theme != "ansi"]
CLOSE = 20
"""Distance of two colours that most people still tell apart, beside each other."""


def colours_of(theme: str) -> dict[str, Color]:
    generated = legible_theme(theme).to_color_system().generate()
    found = {"lost": Color.parse(generated["error"])}
    for kind, style in styles_in(theme).items():
        found[kind] = Color.parse(generated[style[1:]] if style.startswith("$") else style)
    return found


@pytest.mark.parametrize("theme", COMPUTABLE)
def test_no_two_kinds_look_alike(theme: str) -> None:
    colours = colours_of(theme)

    assert set(colours) == {*OWN, "lost"}
    for one, other in combinations(colours, 2):
        assert distance(colours[one], colours[other]) >= CLOSE, (one, other)


@pytest.mark.parametrize("theme", COMPUTABLE)
def test_every_kind_can_be_read(theme: str) -> None:
    for ground in grounds_of(legible_theme(theme)):
        for kind, colour in colours_of(theme).items():
            assert contrast(colour, ground) >= TEXT_CONTRAST, kind


def test_the_terminals_own_colours_tell_them_apart_by_weight_too() -> None:
    assert styles_in("ansi") is ANSI
    assert set(ANSI) == set(OWN)
    assert len(set(ANSI.values())) == len(ANSI)
    assert all(style.split()[-1].startswith("ansi_") for style in ANSI.values())
    assert "ansi_red" not in ANSI.values()  # what is lost


@pytest.mark.parametrize("theme", THEMES)
def test_kinds_without_a_colour_are_like_those_that_compare(theme: str) -> None:
    for kind in ("ranges", "handshake", "hashes", "filter", "logs", "check", "root", "heads"):
        assert kind_style(kind, theme) == styles_in(theme)[COMPARED]
    assert kind_style("again", theme) == f"{styles_in(theme)['message']} italic"
    assert kind_style("typing", theme) == "$foreground"


def test_cells_of_a_crowd_take_only_colours_that_every_theme_makes_legible() -> None:
    named = {"$primary", "$success", "$warning", "$foreground 75%"}  # see the tests of themes

    assert {style.removeprefix("bold ") for style in CELLS.values()} == named
