"""Every key of the debug pane, over a real engine in the simulator."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from chat_tui.app import ChatApp
from chat_tui.debug_pane import DebugPane
from chat_tui.marks import ASCII, UNICODE, Glyphs
from chat_tui.messages import GraphWanted
from chat_tui.pane.tabs import TABS, TERMS, Tab
from chat_tui.protocol import Order
from sync.machine import SECOND
from tests import scenes
from tests.scenes import Scene

WIDE = (140, 40)

pytestmark = pytest.mark.slow
"""Each of them plays a scene first."""


class Screen:
    """Alice's screen with the pane open."""

    def __init__(self, app: ChatApp, pilot: Pilot[None], scene: Scene) -> None:
        self.app, self.pilot, self.scene = app, pilot, scene

    @property
    def pane(self) -> DebugPane:
        return self.app.query_one(DebugPane)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()

    async def second(self) -> None:
        """Let a second pass, in the world and on the screen."""
        self.scene.world.run(SECOND)
        self.app._tick()
        await self.pilot.pause()

    def lines(self) -> list[str]:
        listing = self.pane.listing
        return [listing.render_line(y).text.rstrip() for y in range(listing.size.height)]

    def text(self) -> str:
        return "\n".join(self.lines())

    def tabs(self) -> str:
        return str(self.pane.query_one("#debug-tabs", Static).visual)

    def hint(self) -> str:
        return str(self.pane.query_one("#debug-hint", Static).visual)

    def selected(self) -> list[str]:
        return [line for line in self.lines() if line.startswith(">")]


@asynccontextmanager
async def opened(
    scene: Callable[[], Scene] = scenes.repairing,
    *keys: str,
    size: tuple[int, int] = WIDE,
    glyphs: Glyphs = UNICODE,
) -> AsyncIterator[Screen]:
    made = scene()
    app = scenes.screen_of(made, glyphs=glyphs)
    async with app.run_test(size=size) as pilot:
        screen = Screen(app, pilot, made)
        await screen.press("f2", *keys)
        yield screen


# -- opening, closing, and where the keys go -------------------------------------------------------


async def test_f2_opens_the_pane_with_the_keys_and_closes_it() -> None:
    async with opened() as screen:
        assert screen.pane.keys_here
        await screen.press("f2")

        assert not screen.pane.display
        assert screen.app.focused is screen.app.composer


async def test_what_is_being_written_stays_while_the_pane_has_the_keys() -> None:
    scene = scenes.repairing()
    app = scenes.screen_of(scene)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*"half a li", "f2", "j", "5", "tab", *"ne")

        assert app.composer.text == "half a line"
        assert app.query_one(DebugPane).display
        await pilot.press("f2")
        assert app.query_one(DebugPane).keys_here


async def test_escape_closes_what_is_open_and_the_pane_at_last() -> None:
    async with opened() as screen:
        await screen.press("j", "enter", "escape")
        assert screen.selected()
        await screen.press("question_mark", "escape")
        assert screen.lines()[0].startswith("Waiting for parents")
        await screen.press("escape")

        assert not screen.pane.display
        assert screen.app.focused is screen.app.composer


@pytest.mark.parametrize("key", ["f", "shift+f2", "f14", "alt+o"])
async def test_it_fills_the_screen_and_stands_beside_the_chat_again(key: str) -> None:
    async with opened() as screen:
        narrow = screen.pane.size.width
        await screen.press(key)
        wide = screen.pane.size.width
        await screen.press(key)

        assert (narrow < 50, wide > 130) == (True, True)
        assert screen.pane.size.width == narrow


async def test_a_closed_pane_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(scenes.repairing, "f2") as screen:
        asked: list[str] = []
        monkeypatch.setattr(DebugPane, "draw", lambda _: asked.append("draw"))
        monkeypatch.setattr(DebugPane, "show", lambda *_: asked.append("show"))
        await screen.second()

        assert asked == []


# -- tabs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 7))
async def test_a_digit_shows_its_tab(number: int) -> None:
    async with opened(scenes.repairing, str(number)) as screen:
        assert screen.pane.tab is TABS[number - 1]
        assert f"[{number}{TABS[number - 1].value}]" in screen.tabs()


async def test_left_and_right_go_round_all_tabs() -> None:
    async with opened() as screen:
        seen = []
        for _ in TABS:
            await screen.press("right")
            seen.append(screen.pane.tab)
        await screen.press("left")

        assert seen == [*TABS[1:], TABS[0]]
        assert screen.pane.tab is TABS[-1]


async def test_a_click_on_a_name_shows_its_tab_and_on_a_row_selects_it() -> None:
    async with opened() as screen:
        await screen.pilot.click("#debug-tabs", offset=(27, 0))
        assert screen.pane.tab is Tab.SYNC
        await screen.press("1")
        await screen.pilot.click("#debug-lines", offset=(4, 1))
        await screen.pilot.pause()
        assert screen.selected()
        await screen.pilot.click("#debug-lines", offset=(4, 1))
        await screen.pilot.pause()

        assert "shown anyway after" in screen.text()


@pytest.mark.parametrize("number", range(1, 7))
async def test_every_term_is_explained_and_escape_goes_back(number: int) -> None:
    async with opened(scenes.repairing, str(number), "question_mark") as screen:
        listing = screen.pane.listing
        said = " ".join(line.content.plain.strip() for line in listing._lines)
        await screen.press("question_mark")

        for term, meaning in TERMS[TABS[number - 1]]:
            assert f"{term} {meaning}" in said
        assert "Terms of" not in screen.text()


# -- selecting, opening, freezing ------------------------------------------------------------------


@pytest.mark.parametrize(("down", "up"), [("j", "k"), ("down", "up")])
async def test_rows_are_selected_one_after_the_other(down: str, up: str) -> None:
    async with opened(scenes.repairing, down) as screen:
        first = screen.selected()
        await screen.press(down)
        second = screen.selected()
        await screen.press(up)

        assert first != second
        assert screen.selected() == first


async def test_every_row_of_the_buffers_opens_with_its_formula() -> None:
    wanted = ("shown anyway after max(", "T_req = now", "T_resp = now", "next resend = 5.000 s")
    async with opened() as screen:
        said = []
        for _ in range(5):
            await screen.press("j", "enter")
            said.append(" ".join(screen.text().split()))
            await screen.press("escape")

        for formula in wanted:
            assert any(formula in text for text in said), (formula, said)


async def test_an_opened_row_goes_on_counting_down_and_says_when_it_is_gone() -> None:
    async with opened(scenes.repairing, "j", "j", "enter") as screen:
        before = screen.text()
        await screen.second()
        after = screen.text()

        assert "we ask in" in " ".join(before.split())
        assert before != after
        screen.scene.world.run(700 * SECOND)
        await screen.second()
        assert "this row is gone; these are its last values" in screen.text()


async def test_space_holds_what_is_shown_and_the_engine_goes_on() -> None:
    async with opened(scenes.repairing, "space") as screen:
        held = screen.lines()
        clock = screen.scene.world.now
        for _ in range(3):
            await screen.second()
        frozen = screen.lines(), screen.hint()
        await screen.press("space")

        assert frozen == (held, "frozen 3 s · Space goes on")
        assert screen.scene.world.now == clock + 3 * SECOND
        assert screen.lines() != held
        assert "frozen" not in screen.hint()


async def test_space_holds_the_frames_too() -> None:
    async with opened(scenes.repairing, "5", "space") as screen:
        held = screen.lines()
        for _ in range(5):
            await screen.second()
        still = screen.lines()
        await screen.press("space")

        assert still == held
        assert screen.lines() != held


async def test_home_end_and_paging_reach_both_ends() -> None:
    async with opened(scenes.morning, "5", size=(140, 16)) as screen:
        top = screen.lines()
        await screen.press("end")
        bottom = screen.lines()
        await screen.press("home")
        assert screen.lines() == top
        await screen.press("pagedown")
        assert screen.lines()[0] == top[-1]
        await screen.press("pageup")

        assert screen.lines() == top != bottom


async def test_what_is_selected_stays_in_place_when_rows_come_above_it() -> None:
    async with opened(scenes.morning, "5", *["j"] * 30, size=(140, 24)) as screen:
        at, selected = screen.lines().index(screen.selected()[0]), screen.selected()
        screen.scene.say(scenes.BOB, "one more", then=SECOND)
        await screen.second()

        assert screen.selected() == selected
        assert screen.lines().index(selected[0]) == at


# -- the tabs' own keys ----------------------------------------------------------------------------


async def test_the_buffers_can_be_sorted() -> None:
    async with opened() as screen:
        orders = []
        for _ in Order:
            await screen.press("s")
            orders.append(screen.pane.buffers.order)

        assert orders == [Order.ID, Order.PERSON, Order.TIME]
        await screen.press("s")
        assert screen.lines()[0] == " sorted by id"


async def test_enter_in_the_graph_moves_the_middle_and_then_opens() -> None:
    async with opened(scenes.morning, "2", "k", "k") as screen:
        [before] = screen.selected()
        await screen.press("enter")
        [after] = screen.selected()
        assert before.split("“")[1] == after.split("“")[1]
        assert "◎" in after
        await screen.press("enter")

        assert "Lamport" in screen.text()


async def test_the_graph_shows_more_steps_or_fewer() -> None:
    async with opened(scenes.morning, "2") as screen:
        usual = len(screen.pane.causal.graph.nodes)
        await screen.press("plus")
        more = len(screen.pane.causal.graph.nodes)
        await screen.press("minus", "minus")

        assert len(screen.pane.causal.graph.nodes) < usual < more


async def test_the_graph_as_text_says_what_builds_on_what() -> None:
    async with opened(scenes.repairing, "2", "t") as screen:
        listed = screen.text()
        await screen.press("t")

        assert "builds on" in listed
        assert "named by" in listed
        assert "builds on" not in screen.text()


async def test_the_graph_shows_what_is_missing_and_who_waits_for_it() -> None:
    async with opened() as screen:
        [info] = screen.scene.snapshot().channels
        screen.app.post_message(GraphWanted(info.waiting[0].message_id))
        await screen.pilot.pause()
        await screen.press("plus")

        assert screen.pane.tab is Tab.CAUSAL
        assert "waiting (" in screen.text()
        assert "MISSING" in screen.text()
        await screen.press("n")
        assert screen.pane.causal.centre is None


async def test_an_id_can_be_tested_by_its_beginning() -> None:
    async with opened(scenes.repairing, "3", "slash") as screen:
        [info] = screen.scene.snapshot().channels
        prefix = info.holders[-1].message_id[:8]
        await screen.press(*prefix, "enter")
        here = screen.text()
        await screen.press("slash", *"dead", "enter")
        absent = screen.text()
        await screen.press("home", "j", "j", "j", "j", "enter")

        assert "maybe, and it is here" in here
        assert "no: surely not in the filter" in absent
        assert "position n = " in screen.text()


async def test_the_filter_opens_with_its_formula() -> None:
    async with opened(scenes.repairing, "3", "j", "enter") as screen:
        said = " ".join(screen.text().split())

        assert "(1 - e^(-k·n/m))^k" in said
        assert "(1 - e^(-10·5/15,000))^10" in said


async def test_a_payload_opens_with_its_ranges() -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    app = scenes.screen_of(scene)
    async with app.run_test(size=WIDE) as pilot:
        screen = Screen(app, pilot, scene)
        await screen.press("f2", "4")
        rows = [line.key for line in screen.pane.listing._lines if "/rt 2/" in line.key]
        screen.pane.listing.select(rows[0])
        await screen.press("enter")

        said = " ".join(screen.text().split())
        assert "bytes before delta coding" in said
        assert "fingerprint" in said
        assert "theirs" in said


async def test_frames_are_filtered_paused_and_opened() -> None:
    async with opened(scenes.repairing, "5", "slash", *"dave sync", "enter") as screen:
        chosen = [line for line in screen.lines()[2:] if line]
        await screen.press("j", "enter")
        decoded = screen.text()
        await screen.press("escape", "p")
        for _ in range(5):
            await screen.second()

        assert chosen
        assert all("dave" in line and "SYNC" in line for line in chosen)
        assert "SDS message, sync" in decoded
        assert "paused, " in " ".join(screen.lines()[:3])
        await screen.press("p", "slash", "ctrl+u", "enter")
        assert screen.pane.wire.words == ""


async def test_frames_are_recorded_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(scenes.repairing, "5", "r", "enter") as screen:
        path = tmp_path / "chat-tui-wire.jsonl"
        for _ in range(10):
            await screen.second()
        recording = " ".join(screen.lines()[:4])
        await screen.press("r")

        assert "recording to" in recording
        assert path.read_text().count('"hex"') > 0
        assert path.stat().st_mode & 0o777 == 0o600
        assert "recorded to" in str(screen.app.query_one("#status", Static).visual)


async def test_a_recording_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    async with opened(scenes.repairing, "5", "r", "ctrl+u") as screen:
        await screen.press(*f"{tmp_path}/none/x", "enter")

        assert "name another file" in str(screen.app.query_one("#status", Static).visual)


async def test_steps_are_filtered() -> None:
    async with opened(scenes.repairing, "6", "slash", *"missing", "enter") as screen:
        steps = screen.text().split("newest first")[1]

        assert "Missing" in steps
        assert "Deliver " not in steps


async def test_escape_leaves_the_line_that_is_typed_into() -> None:
    async with opened(scenes.repairing, "5", "slash", "x", "escape") as screen:
        assert screen.pane.display
        assert screen.pane.wire.words == ""
        assert screen.app.focused is screen.pane.listing


# -- small, ASCII, commands ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 30)])
async def test_every_tab_fits_every_size(size: tuple[int, int]) -> None:
    async with opened(scenes.morning, size=size) as screen:
        for number in range(1, 7):
            await screen.press(str(number))
            width = screen.pane.listing.width
            assert any(screen.lines()), TABS[number - 1]
            assert all(line.content.cell_length <= width for line in screen.pane.listing._lines)


async def test_ascii_glyphs_reach_every_tab() -> None:
    async with opened(scenes.repairing, glyphs=ASCII) as screen:
        for number in range(1, 7):
            await screen.press(str(number))
            drawn = "".join(char for char in screen.text() if not char.isascii())
            assert set(drawn) <= set("“”…·→"), (TABS[number - 1], drawn)


@pytest.mark.parametrize(
    ("line", "tab"),
    [
        ("/buffers", Tab.BUFFERS),
        ("/graph", Tab.CAUSAL),
        ("/bloom", Tab.BLOOM),
        ("/sessions", Tab.SYNC),
        ("/wire sync", Tab.WIRE),
        ("/trace", Tab.TRACE),
    ],
)
async def test_commands_open_their_tab(line: str, tab: Tab) -> None:
    scene = scenes.repairing()
    app = scenes.screen_of(scene)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*line, "enter")
        for _ in range(50):
            await pilot.pause()
            if app.query_one(DebugPane).display:
                break

        assert app.query_one(DebugPane).display
        assert app.query_one(DebugPane).tab is tab
