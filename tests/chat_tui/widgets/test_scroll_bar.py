"""The scroll bar beside lines that come: it is painted as far as it looks different."""

from textual.app import ComposeResult
from textual.geometry import Size
from textual.pilot import Pilot
from textual.scroll_view import ScrollView
from textual.widget import Widget

from chat_tui.widgets.scroll_bar import move_bar
from tests.support.chat_tui.paints import CellsSeen

LINES = 10


class Shelf(CellsSeen):
    """A view with a bar, and nothing in it."""

    CSS = "ScrollView { overflow-y: scroll; scrollbar-size-vertical: 1; }"

    def compose(self) -> ComposeResult:
        self.view = ScrollView()
        yield self.view


async def paint(app: Shelf, pilot: Pilot[None], lines: int, top: int) -> int:
    """Move the bar; returns how many cells were painted."""
    before, app.seen = app.seen, {}
    app.view.set_reactive(Widget.virtual_size, Size(app.view.size.width, lines))
    app.view.set_scroll(None, top)
    move_bar(app.view.vertical_scrollbar, lines, top)
    await pilot.pause()
    painted, app.seen = len(app.seen), before | app.seen
    return painted


async def test_it_looks_as_textual_draws_it_wherever_it_is() -> None:
    app = Shelf()
    async with app.run_test(size=(20, LINES)) as pilot:
        await pilot.pause()
        for lines in (5, 10, 11, 12, 15, 22, 40, 41, 100, 1_000, 100_000, 30):
            for top in {0, 1, max(0, lines - LINES) // 2, max(0, lines - LINES)}:
                await paint(app, pilot, lines, top)
                due = app.due

                assert {at: app.seen[at] for at in due} == due, (lines, top)


async def test_a_line_among_many_paints_none_of_it() -> None:
    app = Shelf()
    async with app.run_test(size=(20, LINES)) as pilot:
        await pilot.pause()
        await paint(app, pilot, 100_000, 99_990)

        assert await paint(app, pilot, 100_001, 99_991) == 0
        assert 0 < await paint(app, pilot, 100_001, 99_000) < LINES
