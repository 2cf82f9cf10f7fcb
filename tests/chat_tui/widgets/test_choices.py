"""A list to choose from, which always has one chosen: paging goes no further than there is one."""

import pytest
from textual.app import App, ComposeResult
from textual.widgets.option_list import Option

from chat_tui.widgets.choices import Choices

HEADINGS_AT = (0, 5, 19)


class Desk(App[None]):
    """A list of twenty with headings, also at both ends."""

    CSS = "Choices { height: 6; border: none; }"

    def compose(self) -> ComposeResult:
        self.choices = Choices(
            *(Option(f"row {at}", disabled=at in HEADINGS_AT) for at in range(20))
        )
        yield self.choices


@pytest.mark.parametrize(
    ("begin", "key", "end"),
    [(4, "pageup", 1), (1, "pageup", 1), (15, "pagedown", 18), (18, "pagedown", 18)],
)
async def test_a_page_that_would_end_at_an_outer_heading_ends_beside_it(
    begin: int, key: str, end: int
) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.choices.highlighted = begin
        await pilot.press(key)

        assert app.choices.highlighted == end


async def test_a_page_within_the_list_is_as_long_as_it_was() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.choices.highlighted = 2
        await pilot.press("pagedown")

        assert app.choices.highlighted == 8


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_a_list_of_headings_alone_has_no_page(key: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.choices.clear_options()
        app.choices.add_option(Option("nothing", disabled=True))
        await pilot.press(key)

        assert app.choices.highlighted is None


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_without_lines_a_page_moves_nothing(key: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.choices.highlighted = 2
        app.choices.styles.height = 0
        await pilot.pause()
        await pilot.press(key)

        assert app.choices.highlighted == 2
