"""Composing from front to back: the cells are Textual's, the work is not."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static, TextArea

from chat_tui.terminal.front_to_back import FrontModal, FrontScreen, FrontToBack
from tests.support.chat_tui.paints import CellsSeen, as_textual, cells

SIZE = (60, 18)
WIDE = "漢字 🙂 e\u0301te\u0301 plain words, 二階 and more of them "


class Counting(Widget):
    """Lines of text that note which of them were rendered."""

    def __init__(self, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rendered: list[int] = []
        self.text = id

    def render_line(self, y: int) -> Strip:
        self.rendered.append(y)
        return Strip([Segment(f"{self.text} {y}".ljust(self.size.width))], self.size.width)


class Layers(App[None]):
    """Widgets beside, in and over each other, one of them wholly covered."""

    CSS = """
    Screen { layers: base over; }
    #row { height: 1fr; }
    #side { width: 15; border: round red; }
    #scrolled { width: 1fr; border: heavy green; border-title-color: blue; }
    #lines { width: 12; height: 1fr; }
    #input { height: 4; }
    #floating, #cover { layer: over; position: absolute; }
    #floating { width: 30; height: 6; offset: 8 3; border: double yellow; }
    #cover { width: 12; height: 18; offset: 48 0; }
    #cover.-gone { display: none; }
    """

    def get_default_screen(self) -> Screen[None]:
        return FrontScreen(id="_default")

    def compose(self) -> ComposeResult:
        self.lines, self.cover = Counting("lines"), Counting("cover")
        with Horizontal(id="row"):
            yield Static(WIDE * 3, id="side")
            with VerticalScroll(id="scrolled"):
                for number in range(9):
                    yield Static(f"{number} {WIDE}")
            yield self.lines
        yield TextArea("what is written 漢", id="input")
        yield Static(WIDE * 2, id="floating")
        yield self.cover


@asynccontextmanager
async def layers() -> AsyncIterator[tuple[Layers, Pilot[None]]]:
    app = Layers()
    async with app.run_test(size=SIZE) as pilot:
        yield app, pilot


def compositor_of(app: App[None]) -> FrontToBack:
    compositor = app.screen._compositor
    assert isinstance(compositor, FrontToBack)
    return compositor


async def test_the_whole_screen_is_as_textual_paints_it() -> None:
    async with layers() as (app, _):
        ours = cells(app, compositor_of(app).render_full_update())
        theirs = cells(app, as_textual(app).render_full_update())

    assert len(ours) == SIZE[0] * SIZE[1]
    assert ours == theirs


@pytest.mark.parametrize("seed", range(5))
async def test_parts_of_the_screen_are_as_textual_paints_them(seed: int) -> None:
    draw = random.Random(seed)
    async with layers() as (app, _):
        ours, theirs = compositor_of(app), as_textual(app)
        for _ in range(40):
            corners = [(draw.randrange(SIZE[0]), draw.randrange(SIZE[1])) for _ in range(3)]
            changed = [
                Region(x, y, draw.randint(1, SIZE[0] - x), draw.randint(1, SIZE[1] - y))
                for x, y in corners
            ]
            for compositor in (ours, theirs):
                compositor._dirty_regions.clear()
                compositor._dirty_regions.update(changed)
            part = cells(app, ours.render_partial_update())

            assert part == cells(app, theirs.render_partial_update()), changed


@pytest.mark.parametrize("height", [3, 7])
async def test_widgets_of_another_size_are_laid_out_once(height: int) -> None:
    """Textual does so twice: each tells the screen that its size is another one."""
    async with layers() as (app, pilot):
        layouts: list[object] = []
        app.screen.screen_layout_refresh_signal.subscribe(app, layouts.append)
        app.query_one("#input").styles.height = height
        await pilot.pause()
        await pilot.pause()

        assert len(layouts) == 1
        ours = cells(app, compositor_of(app).render_full_update())
        assert ours == cells(app, as_textual(app).render_full_update())


async def test_a_scroll_bar_comes_with_the_size_that_needs_it() -> None:
    async with layers() as (app, pilot):
        scrolled = app.query_one("#scrolled")
        for lines, needed in ((60, False), (SIZE[1], True), (60, False)):
            await pilot.resize_terminal(SIZE[0], lines)
            await pilot.pause()

            assert scrolled.show_vertical_scrollbar is needed


class Plain(CellsSeen):
    """A screen of which nothing changes but its size."""

    def get_default_screen(self) -> Screen[None]:
        return FrontScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield Static(WIDE * 9)


async def test_a_window_of_another_size_while_paints_are_held_is_painted_after_them() -> None:
    """Textual paints while they are held too, which nobody sees, and takes it for done."""
    app = Plain()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        with app.batch_update():
            await pilot.resize_terminal(SIZE[0] - 20, SIZE[1] - 6)
            app.seen.clear()  # a terminal may keep nothing of what it had
            await pilot.pause()
            assert not app.seen
        await pilot.pause()
        await pilot.pause()

        assert app.seen == app.due


async def test_what_changed_outside_the_screen_is_not_painted() -> None:
    async with layers() as (app, _):
        compositor = compositor_of(app)
        compositor._dirty_regions.add(Region(0, SIZE[1], 10, 3))

        assert compositor.render_partial_update() is None


async def test_what_is_covered_is_not_rendered() -> None:
    async with layers() as (app, pilot):
        app.lines.rendered.clear()
        app.lines.text = "changed"
        app.lines.refresh()
        await pilot.pause()

        assert app.lines.rendered == []


async def test_what_changed_while_it_was_covered_is_there_when_it_comes_into_sight() -> None:
    async with layers() as (app, pilot):
        app.lines.text = "changed"
        app.lines.refresh()
        await pilot.pause()
        app.cover.add_class("-gone")
        await pilot.pause()
        shown = [strip.text for strip in compositor_of(app).render_strips()]

    assert "changed 0" in shown[0]
    assert "changed 3" in shown[3]


async def test_one_line_that_changed_costs_one_line() -> None:
    async with layers() as (app, pilot):
        app.cover.rendered.clear()
        app.cover.refresh(Region(0, 5, 12, 1))
        await pilot.pause()

        assert app.cover.rendered == [5]


class Above(FrontModal[None]):
    """A screen over another."""

    CSS = """
    Above { align: center middle; background: $background 60%; }
    Above Static { width: 20; height: 3; background: $surface; }
    Above.-clear { background: transparent; }
    """

    def compose(self) -> ComposeResult:
        yield Static(f"above {WIDE}")


@pytest.mark.parametrize("clear", [True, False])
async def test_a_screen_below_another_shines_through_as_in_textual(clear: bool) -> None:
    class Seen(Layers, CellsSeen):
        pass

    app = Seen()
    async with app.run_test(size=SIZE) as pilot:
        above = Above()
        above.set_class(clear, "-clear")
        await app.push_screen(above)
        await pilot.pause()
        app.cover.text = "changed"
        app.cover.refresh()
        await pilot.pause()
        above._set_dirty()
        due = app.due

    assert {at: app.seen[at] for at in due} == due


async def test_what_is_below_is_not_rendered_for_what_changes_above() -> None:
    async with layers() as (app, pilot):
        await app.push_screen(Above())
        await pilot.pause()
        app.cover.text = "changed"
        app.cover.rendered.clear()
        app.screen.query_one(Static).update("changed")
        await pilot.pause()

        assert app.cover.rendered == []
