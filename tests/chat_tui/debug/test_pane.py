"""The drawer with what the protocol is doing: what is painted again, and what stays in place."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.debug.list_view import Listing
from chat_tui.debug.pane import DebugPane
from chat_tui.debug.section import Row, Section
from chat_tui.debug.styled_lines import section_lines
from chat_tui.wording.glyphs import ASCII
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.paints import PaintsNoted


class Recording(Listing, PaintsNoted):
    """A list that notes what it asks to be painted."""


class Drawer(App[None]):
    """Nothing but the list, which no key goes to."""

    AUTO_FOCUS = None

    def __init__(self) -> None:
        super().__init__()
        self.animation_level = "none"
        self.pane = Recording()
        self.sections: list[Section] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def show(self, sections: list[Section]) -> None:
        self.sections = sections
        self.pane.show(section_lines(sections, self.pane.width, ASCII))

    @on(Listing.Resized)
    def _rewrap(self) -> None:
        self.show(self.sections)

    def shown(self) -> list[str]:
        return [self.pane.render_line(y).text.rstrip() for y in range(self.pane.size.height)]


@asynccontextmanager
async def drawer(sections: list[Section]) -> AsyncIterator[tuple[Drawer, Pilot[None]]]:
    """A pane of 50 cells and 12 lines, the first time painted."""
    app = Drawer()
    async with app.run_test(size=(50, 12)) as pilot:
        app.show(sections)
        await pilot.pause()
        app.pane.asked.clear()
        yield app, pilot


def counting_down(seconds: int, *, requests: int = 1, peers: int = 40) -> list[Section]:
    request = Row(
        "named by bob", "51b07d", share=seconds / 6, when="asks in", left=seconds * SECOND
    )
    people = tuple(Row(f"peer {number}") for number in range(peers))
    return [
        Section("To request", requests, (request,) * requests, "nothing is missing"),
        Section("Peers", peers, people, "nobody yet"),
    ]


async def test_a_countdown_paints_its_own_line_and_nothing_else() -> None:
    async with drawer(counting_down(4)) as (app, pilot):
        before = app.shown()
        app.show(counting_down(3))
        await pilot.pause()
        after = app.shown()

    assert before[1] == " 51b07d ####. asks in 4 s   · named by bob"
    assert after[1] == " 51b07d ###.. asks in 3 s   · named by bob"
    assert [before[:1], before[2:]] == [after[:1], after[2:]]
    assert [(region.y, region.height) for region in app.pane.regions] == [(1, 1)]
    assert app.pane.asked == app.pane.regions


async def test_the_first_row_of_a_section_moves_nothing_below() -> None:
    async with drawer(counting_down(4, requests=0)) as (app, pilot):
        before = app.shown()
        app.show(counting_down(4, requests=1))
        await pilot.pause()
        after = app.shown()

    assert before[1] == " nothing is missing"
    assert before[2:] == after[2:]


async def test_lines_more_or_less_need_no_new_layout() -> None:
    async with drawer(counting_down(4)) as (app, pilot):
        app.show(counting_down(4, peers=60))
        await pilot.pause()

        assert app.pane.max_scroll_y == 60 + 4 - 12
        assert [region.y for region in app.pane.regions] == [3]  # the title has their number
        assert app.pane.asked == app.pane.regions


async def test_who_read_further_down_than_there_is_now_sees_the_end() -> None:
    async with drawer(counting_down(4)) as (app, pilot):
        app.pane.page(9)
        await pilot.pause()
        end = app.shown()
        app.show(counting_down(4, peers=20))
        await pilot.pause()

        assert end[-1] == " peer 39"
        assert app.shown()[-1] == " peer 19"


async def test_a_page_keeps_one_line_in_sight() -> None:
    async with drawer(counting_down(4)) as (app, pilot):
        last = app.shown()[-1]
        app.pane.page(1)
        await pilot.pause()
        first = app.shown()[0]
        app.pane.page(-1)
        await pilot.pause()

        assert first == last
        assert app.shown()[-1] == last


async def test_another_width_wraps_anew() -> None:
    async with drawer(counting_down(4)) as (app, pilot):
        await pilot.resize_terminal(34, 12)
        await pilot.pause()

        assert app.shown()[1:3] == [" 51b07d ####. asks in 4 s   ·", "   named by bob"]


# -- in the whole screen, over an engine -----------------------------------------------------------


async def test_the_countdowns_of_an_engine_move_with_its_clock() -> None:
    scene = scenes.repairing()
    app = scenes.screen_of(scene)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("f2")
        await pilot.pause()
        before = pane_of(app)
        scene.world.run(SECOND)
        app.call_next(app._tick)
        await pilot.pause()
        after = pane_of(app)

    moved = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    asks = [
        tuple(int(found[1]) for text in pair if (found := re.search(r"asks in (\d+) s", text)))
        for pair in moved
    ]
    assert any(len(pair) == 2 and pair[1] == pair[0] - 1 for pair in asks), moved
    assert any("answers in 1 s" in old and "answers in 0 s" in new for old, new in moved)
    assert len(moved) < 8


async def test_the_pane_beside_the_chat_scrolls_by_key_from_the_composer() -> None:
    app = scenes.screen_of(scenes.morning())
    async with app.run_test(size=(140, 20)) as pilot:
        await pilot.press("f2", "tab", "alt+pagedown")
        await pilot.pause()
        down = pane_of(app)
        await pilot.press("alt+pageup")
        await pilot.pause()
        up = pane_of(app)

    assert up[0].startswith("Waiting for parents")
    assert not down[0].startswith("Waiting for parents")


def pane_of(app: ChatApp) -> list[str]:
    listing = app.query_one(DebugPane).listing
    return [listing.render_line(y).text.rstrip() for y in range(listing.size.height)]
