"""A panel lays the screen out again where its size follows from its text, and nowhere else."""

import pytest
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen

from chat_tui.widgets.panel import Panel
from chat_tui.widgets.status_line import StatusLine
from tests.support.chat_tui.paints import CellsSeen

TYPES = "dave is typing"


class Counting(Screen[None]):
    """A screen that counts how often it is laid out."""

    layouts = 0

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self.layouts += 1
        super()._refresh_layout(size, scroll)


class Shelf(CellsSeen):
    """A line of status above panels whose sizes are given, or follow from the text."""

    CSS = """
    StatusLine { height: auto; }
    #status, #fixed { width: 1fr; height: 1; }
    #status.notice { height: auto; }
    #tall { width: 1fr; height: auto; }
    #chip { width: auto; }
    """

    def get_default_screen(self) -> Counting:
        return Counting()

    def compose(self) -> ComposeResult:
        self.status = StatusLine()
        yield self.status
        yield Panel(id="fixed")
        yield Panel(id="tall")

    @property
    def layouts(self) -> int:
        assert isinstance(self.screen, Counting)
        return self.screen.layouts


async def test_who_types_comes_and_goes_without_a_layout() -> None:
    app = Shelf()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        before = app.layouts
        for sentence in (TYPES, "", "carol and dave are typing", "in sync", ""):
            app.status.show(sentence)
            await pilot.pause()
            due = app.due
            assert {at: app.seen[at] for at in due} == due, sentence
        assert app.layouts == before


async def test_a_sentence_that_wraps_is_given_its_lines() -> None:
    app = Shelf()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        for sentence, lines in ((TYPES, 1), ("a word " * 12, 3), (TYPES, 1)):
            app.status.show(sentence)
            await pilot.pause()
            await pilot.pause()
            assert app.status.size.height == lines


@pytest.mark.parametrize(
    ("name", "text", "lays_out"),
    [
        ("fixed", "hello", False),
        ("fixed", "hello\nand more", False),
        ("tall", "hello", False),
        ("tall", "hello\nand more", True),
        ("tall", "a word " * 12, True),
        ("chip", "2 new", True),
    ],
)
async def test_a_panel_whose_size_follows_from_its_text_lays_the_screen_out(
    name: str, text: str, lays_out: bool
) -> None:
    app = Shelf()
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        before = app.layouts
        app.query_one(f"#{name}", Panel).show(Content(text))
        await pilot.pause()
        assert (app.layouts > before) == lays_out
        due = app.due
        assert {at: app.seen[at] for at in due} == due
