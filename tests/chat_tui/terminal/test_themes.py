"""Colours: everything written can be read, in every theme."""

import pytest
from textual.color import Color

from chat_tui.debug.list_view import SELECTED, Listing
from chat_tui.settings.colour_names import COLOUR_NAMES
from chat_tui.settings.schema import SETTINGS, THEME, THEMES
from chat_tui.terminal.themes import (
    ANSI_AUTHORS,
    AUTHORS,
    COLOURS,
    DIM,
    DIM_IN_BARS,
    RULE_CONTRAST,
    TEXT_CONTRAST,
    author_style,
    author_styles,
    contrast,
    grounds_of,
    legible_theme,
)
from chat_tui.transcript.row_layout import AUTHOR
from sync.machine import PeerId
from tests.support.chat_tui import scenes

COMPUTABLE = [theme for theme in THEMES if theme != "ansi"]


def colours_of(theme: str) -> dict[str, Color]:
    generated = legible_theme(theme).to_color_system().generate()
    return {name: Color.parse(generated[name]) for name in (*COLOURS, "foreground")}


def test_contrast_is_that_of_the_recommendation() -> None:
    black, white, grey = (Color.parse(code) for code in ("#000000", "#ffffff", "#767676"))

    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, grey) == pytest.approx(4.54, abs=0.01)
    assert contrast(grey, white) == contrast(white, grey)


@pytest.mark.parametrize("theme", COMPUTABLE)
def test_every_colour_of_text_can_be_read(theme: str) -> None:
    for ground in grounds_of(legible_theme(theme)):
        for name, colour in colours_of(theme).items():
            assert contrast(colour, ground) >= TEXT_CONTRAST, name


@pytest.mark.parametrize("theme", COMPUTABLE)
def test_dimmed_text_can_be_read_too(theme: str) -> None:
    background, surface = grounds_of(legible_theme(theme))
    foreground = colours_of(theme)["foreground"]

    assert contrast(background.blend(foreground, DIM), background) >= TEXT_CONTRAST
    assert contrast(surface.blend(foreground, DIM_IN_BARS), surface) >= TEXT_CONTRAST
    assert contrast(background.blend(foreground, DIM), background) >= RULE_CONTRAST


@pytest.mark.parametrize("theme", COMPUTABLE)
def test_the_names_of_authors_can_be_read_and_told_apart(theme: str) -> None:
    styles = author_styles(theme)

    assert len({str(style.color) for style in styles}) == len(AUTHORS)
    for style in styles:
        assert style.color is not None
        colour = Color.from_rich_color(style.color)
        for ground in grounds_of(legible_theme(theme)):
            assert contrast(colour, ground) >= TEXT_CONTRAST


def test_who_asks_for_high_contrast_gets_it() -> None:
    for colour in colours_of("high-contrast").values():
        assert contrast(colour, Color.parse("#000000")) >= 7


def test_ansi_names_only_the_terminals_own_colours() -> None:
    generated = legible_theme("ansi").to_color_system().generate()

    for name in (*COLOURS, "foreground", "background"):
        assert Color.parse(generated[name]).ansi is not None, name
    for style in author_styles("ansi"):
        assert style.color is not None
        assert style.color.number is not None
        assert style.color.number < 16


def test_an_author_has_one_colour_in_a_theme() -> None:
    ann = PeerId("0000000a" + "0" * 56)

    assert author_style(ann, "nord") == author_style(ann, "nord")
    assert author_style(ann, "nord") != author_style(PeerId("0000000b" + "0" * 56), "nord")


@pytest.mark.parametrize("theme", THEMES)
def test_a_chosen_colour_is_one_of_the_legible_ones_and_an_unknown_one_that_of_the_key(
    theme: str,
) -> None:
    ann = PeerId("0000000a" + "0" * 56)
    worn = [author_style(ann, theme, name) for name in COLOUR_NAMES]

    assert len(COLOUR_NAMES) == len(AUTHORS)
    assert set(worn) <= set(author_styles(theme))
    assert len(set(worn)) == (len(AUTHORS) if theme != "ansi" else len(ANSI_AUTHORS))
    assert author_style(ann, theme, "#000000") == author_style(ann, theme)
    assert author_style(ann, theme, "of a later version") == author_style(ann, theme)


def test_a_theme_that_can_be_read_stays_as_its_authors_made_it() -> None:
    assert legible_theme("high-contrast").primary == "#ffff00"
    assert legible_theme("rose-pine").foreground is not None


def test_names_of_authors_are_no_names_of_pieces() -> None:
    assert AUTHOR.endswith("-")
    assert not any(setting.name.startswith(AUTHOR) for setting in SETTINGS)


@pytest.mark.slow
async def test_the_selected_row_of_the_debug_pane_can_be_read_in_every_theme() -> None:
    app = scenes.screen_of(scenes.repairing())
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("f2", "j")
        listing = app.query_one(Listing)
        for theme in THEMES:
            app._chat.settings.change(THEME, theme)
            await pilot.pause()
            [line] = [
                line
                for y in range(listing.size.height)
                if (line := listing.render_line(y)).text.startswith(SELECTED)
            ]
            for segment in line:
                assert segment.style is not None
                colour, ground = segment.style.color, segment.style.bgcolor
                assert colour is not None
                assert ground is not None
                if theme == "ansi":
                    assert (colour.number, ground.number) == (0, 6)
                else:
                    pair = (Color.from_rich_color(colour), Color.from_rich_color(ground))
                    assert contrast(*pair) >= TEXT_CONTRAST, theme
