"""Every key of the demo, on its screen; and the demo over the chat."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from textual.app import App
from textual.pilot import Pilot

from chat_tui.debug.list_view import Listing
from chat_tui.demo.acts import Power, Write
from chat_tui.demo.app import DemoApp
from chat_tui.demo.recording import Recording, load
from chat_tui.demo.screen import DemoScreen
from chat_tui.wording.glyphs import ASCII
from sync.machine import SECOND
from sync.sim.world import World
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import SEED, lines, on_screen, ready
from tests.support.chat_tui.live_screens import until

pytestmark = pytest.mark.usefixtures("in_utc")


async def test_stepping_forward_and_back_gives_the_same_screen() -> None:
    async with on_screen(3) as (pilot, screen, _):
        seen = []
        for _ in range(9):
            await pilot.press(".")
            seen.append(lines(screen))
        for before in reversed(seen[:-1]):
            await pilot.press(",")
            assert lines(screen)[2:] == before[2:]
        for after in seen[1:]:
            await pilot.press(".")
            assert lines(screen)[2:] == after[2:]
        assert lines(screen) == seen[-1]


async def test_the_beginning_and_the_end_say_so() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await pilot.press(",")
        assert "This is the beginning." in "\n".join(lines(screen))
        while not stage.over:
            stage.forward()
        await pilot.press(".")
        assert "This is the end" in "\n".join(lines(screen))


async def test_space_lets_it_run_and_stops_it() -> None:
    async with on_screen(1) as (pilot, screen, stage):
        began = stage.shot.now
        await pilot.press("+", "+", "+", "space")
        assert "playing" in lines(screen)[1]
        while stage.shot.now < began + SECOND:
            await pilot.pause(0.02)
        await pilot.press("space")
        assert "paused" in lines(screen)[1]
        stopped = stage.shot.now
        await pilot.pause(0.2)
        assert stage.shot.now == stopped


async def test_a_run_ends_with_its_promises() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        while not stage.over:
            stage.advance(SECOND)
        screen.paint()
        await pilot.pause()
        text = "\n".join(lines(screen))
        assert text.count("✓") == 4
        assert "Every promise holds." in text


async def test_a_promise_that_fails_says_why() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await pilot.press("tab", "o")
        while not stage.over:
            stage.advance(10 * SECOND)
        screen.paint()
        await pilot.pause()
        text = "\n".join(lines(screen))
        assert "✗ FAILS: same order everywhere" in text
        assert "bob off" in text


async def test_speed_goes_from_slow_motion_to_fast() -> None:
    async with on_screen(1) as (pilot, screen, _):
        await pilot.press("-", "-")
        assert "x1/4" in lines(screen)[1]
        await pilot.press("-", "-", "-", "-")
        assert "x1/4" in lines(screen)[1]
        await pilot.press(*["+"] * 9)
        assert "x16" in lines(screen)[1]


async def test_the_other_register_has_formulas_with_their_values() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        while "holds" not in (stage.shot.said[-1].plain if stage.shot.said else ""):
            stage.forward()
        await pilot.press("e")
        told = " ".join(lines(screen)).replace("│", " ").split()
        assert "T_req = now + T_min + H(carol," in " ".join(told)
        await pilot.press("e")
        assert "T_req" not in "\n".join(lines(screen))


async def test_the_selected_ones_protocol_opens_and_closes() -> None:
    async with on_screen(3, size=(140, 40)) as (pilot, screen, stage):
        while "holds" not in (stage.shot.said[-1].plain if stage.shot.said else ""):
            stage.forward()
        await pilot.press("tab", "tab")
        for key in ("d", "f2"):
            await pilot.press(key)
            await pilot.pause()
            drawer = screen.query_one("#debug")
            assert drawer.display
            rows = [one.content.plain for one in drawer.query_one(Listing)._lines]
            assert any("asks in" in row for row in rows)
            assert drawer.border_title == "carol"
            region = drawer.region
            assert (region.right, region.y, region.height) == (140, 0, 40)
            assert max(map(len, lines(screen))) <= region.x
            await pilot.press("pagedown", "pageup", "escape")
            assert not drawer.display


@pytest.mark.parametrize("key", ["d", "f2"])
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (115, 30)])
async def test_on_a_narrow_screen_the_protocol_has_all_of_it_until_its_key(
    size: tuple[int, int], key: str
) -> None:
    async with on_screen(3, size=size) as (pilot, screen, _):
        await pilot.press("tab", key)
        await pilot.pause()
        drawer = screen.query_one("#debug")
        assert drawer.region == screen.region
        assert "closes" in str(drawer.border_subtitle)
        await pilot.press("tab")
        assert drawer.border_title == "carol"
        await pilot.press(key)
        assert not drawer.display


@pytest.mark.parametrize("number", [3, 7])
@pytest.mark.parametrize("columns", [116, 130, 171])
async def test_in_a_window_that_grows_the_protocol_moves_aside(number: int, columns: int) -> None:
    async with on_screen(number, size=(115, 24)) as (pilot, screen, _):
        await pilot.press("d")
        await pilot.resize_terminal(columns, 24)
        await pilot.pause()
        drawer = screen.query_one("#debug")

        assert drawer.region.right == columns
        assert max(map(len, lines(screen))) <= drawer.region.x


async def test_a_line_is_written_as_the_selected_one() -> None:
    async with on_screen(2) as (pilot, screen, stage):
        for _ in range(2):
            await pilot.press("tab", "w", *"tea?", "enter")
            await pilot.press(".")
        assert stage.acts[0].act == Write(1, "tea?")
        assert stage.acts[1].act == Write(2, "tea?")
        await pilot.press("enter", *"never", "escape")
        assert len(stage.acts) == 2
        assert "tea?" in "\n".join(lines(screen))


async def test_the_next_message_to_the_selected_one_is_lost() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await pilot.press("tab", "l")
        assert "to be lost" in "\n".join(lines(screen))
        while '" of alice is lost on its way to bob' not in "\n".join(lines(screen)):
            await pilot.press(".")
        assert not stage.run.watch.dooms


async def test_a_link_is_cut_and_mended() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await pilot.press("x")
        assert "cut alice-bob" in "\n".join(lines(screen))
        assert stage.run.world.network.cuts == {(0, 1)}
        await pilot.press("x")
        assert not stage.run.world.network.cuts


async def test_the_network_falls_in_two_and_heals() -> None:
    async with on_screen(4) as (pilot, screen, _):
        await pilot.press("p")
        assert "alice and bob | carol and dave" in "\n".join(lines(screen))
        await pilot.press("p")
        assert "partition off" in "\n".join(lines(screen))


async def test_a_computer_goes_off_and_on() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        await pilot.press("tab", "o")
        assert "bob (off)" in lines(screen)[2]
        await pilot.press("w", *"hello", "enter")
        assert "bob is off" in "\n".join(lines(screen))
        await pilot.press("o")
        assert stage.shot.people[1].up


async def test_frames_are_lost_by_percent() -> None:
    async with on_screen(3) as (pilot, screen, _):
        for percent in (10, 20, 40, 0):
            await pilot.press("L")
            assert f"loss {percent}%" in "\n".join(lines(screen))


async def test_frames_take_longer() -> None:
    async with on_screen(3) as (pilot, screen, _):
        for milliseconds in (200, 1000, 40):
            await pilot.press("D")
            assert f"delay {milliseconds} ms" in "\n".join(lines(screen))


async def test_frames_arrive_twice_by_percent() -> None:
    async with on_screen(3) as (pilot, screen, _):
        for percent in (10, 40):
            await pilot.press("U")
            assert f"duplicate {percent}%" in "\n".join(lines(screen))
        await pilot.press("U")
        assert "duplicate" not in "\n".join(lines(screen))


async def test_scenarios_are_chosen_by_number_or_one_after_the_other() -> None:
    async with on_screen(6) as (pilot, screen, _):
        await pilot.press("3")
        await ready(pilot)
        assert "DEMO  3/14" in lines(screen)[0]
        await pilot.press("n")
        await ready(pilot)
        assert "DEMO  4/14" in lines(screen)[0]
        await pilot.press("0")
        await ready(pilot)
        assert "DEMO  10/14" in lines(screen)[0]
        await pilot.press(".", "r")
        await ready(pilot)
        assert screen.stage is not None
        assert screen.stage.step_number == 0


async def test_meddling_in_the_past_plays_again_and_goes_on() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        for _ in range(12):
            await pilot.press(".")
        await pilot.press(*[","] * 6)
        assert "in the past" in lines(screen)[1]
        await pilot.press("tab", "o")
        await ready(pilot)
        assert stage.acts[-1].act == Power(1, on=False)
        assert "bob (off)" in lines(screen)[2]


async def click_on(pilot: Pilot[Any], screen: DemoScreen, word: str) -> None:
    """Click on a word of the last lines."""
    rows = list(enumerate(lines(screen)))[-2:]
    [(y, line)] = [(y, line) for y, line in rows if word in line]
    await pilot.click("#canvas", offset=(line.find(word), y))
    await pilot.pause()


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (140, 40)])
async def test_each_key_in_the_last_lines_can_be_clicked(size: tuple[int, int]) -> None:
    async with on_screen(3, size=size) as (pilot, screen, stage):
        began = stage.step_number
        await click_on(pilot, screen, "\u2192")
        forward = stage.step_number
        await click_on(pilot, screen, "\u2190")
        ran = []
        for word in ("pause", "Space"):
            await click_on(pilot, screen, word)
            ran.append(screen.showing.running)
        await click_on(pilot, screen, "scenario")
        assert "DEMO  3/14" in lines(screen)[0]
        await click_on(pilot, screen, "all keys")
        assert pilot.app.screen is not screen
        await pilot.press("escape")
        await click_on(pilot, screen, "Esc")
        await pilot.pause()
        assert not pilot.app.is_running or pilot.app._exit

    assert forward == began + 1
    assert ran == [True, False]


async def test_what_can_be_clicked_looks_as_other_keys_do() -> None:
    async with on_screen(3) as (pilot, _, _):
        strips = pilot.app.screen._compositor.render_strips()
        styles = [part.style for part in strips[-2] if part.style is not None and part.text.strip()]

    assert not any(style.underline for style in styles)
    assert len({style.color for style in styles if style.bold}) == 1


async def test_keys_are_explained_and_the_demo_is_left() -> None:
    async with on_screen(3) as (pilot, screen, _):
        await pilot.press("f1")
        await pilot.pause()
        assert pilot.app.screen is not screen
        await pilot.press("escape")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await pilot.pause()
        assert not pilot.app.is_running or pilot.app._exit


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 30), (140, 40)])
@pytest.mark.parametrize("number", [1, 4])
async def test_no_line_is_longer_than_the_screen(number: int, size: tuple[int, int]) -> None:
    async with on_screen(number, size=size) as (pilot, screen, stage):
        while not stage.over:
            stage.forward()
            if stage.step_number % 7 == 0 or stage.over:
                screen.paint()
                shown = lines(screen)
                assert len(shown) <= size[1]
                assert max(len(line) for line in shown) <= size[0]
        await pilot.pause()


@pytest.mark.parametrize("size", [(59, 15), (20, 10)])
async def test_too_small_a_window_says_so(size: tuple[int, int]) -> None:
    async with on_screen(1, size=size) as (_, screen, _):
        shown = [line.rstrip() for line in lines(screen)]

    assert "enlarge the window to 60 columns and 16 lines." in " ".join(shown)
    assert max(len(line) for line in shown) <= size[0]


async def test_ascii_draws_nothing_else() -> None:
    async with on_screen(4, glyphs=ASCII) as (_, screen, stage):
        for _ in range(30):
            stage.forward()
        screen.paint()
        odd = {sign for line in lines(screen) for sign in line if not sign.isascii()}
        assert odd <= {"·", "…"}  # in sentences, as elsewhere


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "ctrl+q"])
async def test_a_recording_is_written_when_it_is_left(key: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.demo"
    screen = DemoScreen(played=Recording(3, SEED), record=file)
    async with DemoApp(screen).run_test() as pilot:
        await ready(pilot)
        await pilot.press(".", "tab", "w", *"tea?", "enter", ".", key)
        await pilot.pause()

    recorded = load(file, file.read_text())

    assert (recorded.number, recorded.seed, len(recorded.acts)) == (3, SEED, 1)
    assert not recorded.digest


@pytest.mark.parametrize("key", ["f4", "alt+d"])
async def test_the_demo_opens_over_the_chat_and_closes(key: str) -> None:
    app = scenes.screen_of(scenes.empty())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await ready(pilot)
        assert isinstance(app.screen, DemoScreen)
        assert "DEMO  1/14" in lines(app.screen)[0]
        await pilot.press(key)
        await pilot.pause()
        assert not isinstance(app.screen, DemoScreen)


def world_of(app: App[Any]) -> "ref[World]":
    """The simulated network of the demo on a screen."""
    assert isinstance(app.screen, DemoScreen)
    assert app.screen.stage is not None
    return ref(app.screen.stage.run.world)


@pytest.fixture
def collected_by_hand() -> Iterator[None]:
    """As in the chat, where garbage of long standing is hardly ever looked for."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("collected_by_hand")
async def test_what_was_played_is_freed_by_the_next_scenario_and_by_leaving() -> None:
    app = scenes.screen_of(scenes.empty())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f4")
        await ready(pilot)
        first = world_of(app)
        await pilot.press("n")
        await ready(pilot)
        second = world_of(app)
        assert first() is None
        assert second() is not None
        await pilot.press("f4")
        await until(pilot, lambda: second() is None)


async def test_the_command_opens_a_scenario() -> None:
    app = scenes.screen_of(scenes.empty())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"/demo 4", "enter")
        await ready(pilot)
        assert isinstance(app.screen, DemoScreen)
        assert "DEMO  4/14" in lines(app.screen)[0]
