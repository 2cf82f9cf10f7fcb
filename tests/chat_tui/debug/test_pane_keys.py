"""Every key of the debug pane, over a real engine in the simulator."""

import pytest

from chat_tui.debug.pane import DebugPane
from chat_tui.debug.state_sections import Order
from chat_tui.debug.tab_table import TABS, TERMS, Tab
from chat_tui.wording.glyphs import ASCII
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.panes import WIDE, opened
from tests.support.chat_tui.readings import command, shown

pytestmark = pytest.mark.slow
"""Each of them plays a scene first."""


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


@pytest.mark.parametrize("tab", ["5", "6"])
async def test_escape_closes_one_thing_at_a_time_and_the_last_line_says_which(tab: str) -> None:
    async with opened(scenes.repairing, tab, "slash", *"s", "enter", "j", "enter") as screen:
        said = []
        for _ in range(3):
            said.append(screen.keys().split("Esc ")[1].split("  ")[0])
            assert screen.app.focused is screen.pane.listing
            await screen.press("escape")

        assert said == ["closes the row", "closes the filter", "closes the pane"]
        assert not screen.pane.display
        assert screen.app.focused is screen.app.composer


async def test_escape_while_writing_takes_out_what_was_refused_and_then_closes_the_pane() -> None:
    async with opened(scenes.repairing, "tab") as screen:
        await command(screen.pilot, "/nonsense")
        still_open = []
        for _ in range(3):
            await screen.press("escape")
            still_open.append(screen.pane.display)

        assert still_open == [True, True, False]


async def test_the_frame_of_what_has_the_keys_glows() -> None:
    async with opened(scenes.morning) as screen:
        app = screen.app
        conversation = app.query_one("#conversation")

        def glowing() -> list[bool]:
            found = [screen.pane, conversation, app.composer]
            colours = [one.styles.border_top[1] for one in found]
            return [colours.count(colour) == 1 for colour in colours]

        in_pane = glowing()
        await screen.press("tab")
        in_composer = glowing()
        await screen.press("ctrl+t")

        assert in_pane == [True, False, False]
        assert in_composer == [False, False, True]
        assert glowing() == [False, True, False]
        assert str(screen.pane.border_title) == "PROTOCOL Buffers"
        assert str(conversation.border_title) == "#lobby"


async def test_the_last_line_shows_the_keys_of_what_has_them() -> None:
    async with opened(scenes.morning) as screen:
        pane = screen.keys()
        await screen.press("5")
        wire = screen.keys()
        await screen.press("slash")
        asking = screen.keys()
        await screen.press("escape", "tab")
        composer = screen.keys()
        await screen.press("ctrl+t")

        assert pane.startswith("Enter opens  s sorts")
        assert wire.startswith("/ filters  p pauses  r records")
        assert asking == "Esc closes this line  F1 help"
        assert composer.startswith("F1 Help  F2 Protocol")
        assert screen.keys().startswith("r reply  e edit  + react  Del delete")


async def test_a_key_in_the_last_line_can_be_clicked() -> None:
    async with opened() as screen:
        for word, tab in (("sorts", Order.ID), ("sorts", Order.PERSON)):
            await screen.click_key(word)
            assert screen.pane.buffers.order is tab
        await screen.click_key("terms")
        assert "Terms of Buffers" in screen.text()
        await screen.click_key("closes the terms")
        assert "Terms of Buffers" not in screen.text()
        await screen.click_key("write")

        assert screen.app.focused is screen.app.composer
        assert screen.pane.display


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


@pytest.mark.parametrize("number", range(8))
async def test_a_digit_shows_its_tab(number: int) -> None:
    async with opened(scenes.repairing, str(number)) as screen:
        assert screen.pane.tab is TABS[number]
        assert f"[{number}{TABS[number].value}]" in screen.tabs()


async def test_left_and_right_go_round_all_tabs() -> None:
    async with opened() as screen:
        seen = []
        for _ in TABS:
            await screen.press("right")
            seen.append(screen.pane.tab)
        await screen.press("left")

        assert seen == [*TABS[2:], *TABS[:2]]
        assert screen.pane.tab is TABS[0]


async def test_a_click_on_a_name_shows_its_tab_and_on_a_row_selects_it() -> None:
    async with opened() as screen:
        await screen.pilot.click("#debug-tabs", offset=(35, 0))
        assert screen.pane.tab is Tab.SYNC
        await screen.press("1")
        await screen.pilot.click("#debug-lines", offset=(4, 1))
        await screen.pilot.pause()
        assert screen.selected()
        await screen.pilot.click("#debug-lines", offset=(4, 1))
        await screen.pilot.pause()

        assert "shown anyway after" in screen.text()


@pytest.mark.parametrize("number", range(8))
async def test_every_term_is_explained_and_escape_goes_back(number: int) -> None:
    async with opened(scenes.repairing, str(number), "question_mark") as screen:
        listing = screen.pane.listing
        said = " ".join(line.content.plain.strip() for line in listing._lines)
        await screen.press("question_mark")

        for term, meaning in TERMS[TABS[number]]:
            assert f"{term} {meaning}" in said
        assert "Terms of" not in screen.text()


async def test_a_key_of_the_pane_is_changed_and_the_pane_says_so() -> None:
    async with opened(scenes.repairing, "tab") as screen:
        for line in ("/set keys.pane_freeze x, f12", "/set keys.pane_sort Z", "/set keys.debug f8"):
            await command(screen.pilot, line)
        left = screen.hint()
        await screen.press("f8")
        keys = screen.keys()
        before = screen.lines()
        await screen.press("Z")
        sorted_otherwise = screen.lines()
        await screen.press("space")
        still_going = screen.pane.frozen_at
        await screen.press("x")
        frozen = screen.hint()
        await screen.press("f12", "question_mark")
        said = " ".join(line.content.plain.strip() for line in screen.pane.listing._lines)

    assert left == "F8: the keys go here"
    assert keys.startswith("Enter opens  Z sorts  ? terms  x freeze  f full  Tab write")
    assert sorted_otherwise != before
    assert still_going is None
    assert frozen == "frozen 0 s · x goes on"
    assert "x, F12 freeze the display" in said
    assert "Z sort by time" in said
    assert "1, 2, 3, 4, 5, 6, 7 that tab" in said


async def test_a_key_that_the_pane_has_already_is_refused_and_one_of_the_input_is_not() -> None:
    async with opened(scenes.repairing, "tab") as screen:
        await command(screen.pilot, "/set keys.pane_sort t")
        refused = shown(screen.app)
        screen.app.composer.text = ""
        await command(screen.pilot, "/set keys.pane_sort alt+u")
        taken = shown(screen.app)

    assert "t is taken by keys.pane_list (Protocol: graph as text)" in refused
    assert "keys.pane_sort is alt+u now." in taken


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


# -- small, ASCII, commands ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 30)])
async def test_every_tab_fits_every_size(size: tuple[int, int]) -> None:
    async with opened(scenes.morning, size=size) as screen:
        for number in range(8):
            await screen.press(str(number))
            width = screen.pane.listing.width
            assert any(screen.lines()), TABS[number]
            assert all(line.content.cell_length <= width for line in screen.pane.listing._lines)


async def test_ascii_glyphs_reach_every_tab() -> None:
    async with opened(scenes.repairing, glyphs=ASCII) as screen:
        for number in range(8):
            await screen.press(str(number))
            drawn = "".join(char for char in screen.text() if not char.isascii())
            assert set(drawn) <= set("“”…·→"), (TABS[number], drawn)


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
