"""Styles of the input: worked out when the look changes, and not at every key."""

import pytest
from textual._text_area_theme import TextAreaTheme
from textual.app import App, ComposeResult
from textual.widgets import TextArea

from chat_tui.widgets.styled_once import StyledOnce


class Desk(App[None]):
    """An input of ours, and one as Textual has it."""

    CSS = "TextArea { height: 5; background: $surface; } TextArea:focus { background: $panel; }"

    def compose(self) -> ComposeResult:
        self.ours, self.other = StyledOnce("what is written"), TextArea("other")
        yield self.ours
        yield self.other


async def test_a_key_works_out_no_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[TextArea] = []
    apply_css = TextAreaTheme.apply_css

    def noted(theme: TextAreaTheme, text_area: TextArea) -> None:
        worked_out.append(text_area)
        apply_css(theme, text_area)

    monkeypatch.setattr(TextAreaTheme, "apply_css", noted)
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("x")
        await pilot.pause()
        worked_out.clear()
        await pilot.press("a", "b", "c")
        await pilot.pause()

    assert app.ours not in worked_out


async def test_it_looks_like_textuals_in_every_theme_with_and_without_the_keys() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for theme in ("textual-dark", "nord", "textual-light", "ansi-dark", "nord"):
            app.theme = theme
            for focused in (app.other, app.ours):
                focused.focus()
                await pilot.press("x")
                await pilot.pause()
                area = app.ours.size.region
                shown = app.ours.render_lines(area)
                for cache in (app.ours._styles_cache, app.ours._line_cache):
                    cache.clear()

                assert shown == TextArea.render_lines(app.ours, area), (theme, focused)


@pytest.mark.parametrize("width", range(6))
async def test_a_frame_without_room_for_a_placeholder_has_blank_lines(width: int) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.ours.text, app.ours.placeholder = "", "words that need room"
        app.ours.styles.padding = (0, 1)
        app.ours.styles.width = width
        await pilot.pause()
        lines = app.ours.render_lines(app.ours.size.region)

    assert not any(strip.cell_length > width for strip in lines)
