"""Keys of the demo and of the first questions, changed: over the chat, and without one."""

from pathlib import Path

import pytest

from chat_tui.demo.app import DemoApp
from chat_tui.demo.recording import Recording
from chat_tui.demo.screen import DemoScreen
from chat_tui.screens.first_run import FirstRun
from chat_tui.settings.preferences import Preferences, Wishes
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import SEED, lines, ready
from tests.support.chat_tui.first_runs import SUGGESTED, anything
from tests.support.chat_tui.readings import change_keys, press, reading, shown

pytestmark = pytest.mark.usefixtures("in_utc")


async def test_the_demo_over_the_chat_follows_changed_keys() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        change_keys(
            app,
            demo="f12",
            help="f8",
            debug="f10",
            demo_formulas="v",
            demo_forward="greater_than_sign",
        )
        await press(pilot, "f12")
        await ready(pilot)
        screen = app.screen
        assert isinstance(screen, DemoScreen)
        last = "".join(lines(screen)[-2:])
        await press(pilot, ".", "right", "e")
        begun, sentences = screen.player is not None and not screen.player.shot.said, lines(screen)
        await press(pilot, ">", "v")
        said, formulas = screen.player is not None and screen.player.shot.said, lines(screen)
        await press(pilot, "f10")
        drawer = screen.query_one("#debug").display
        await press(pilot, "f8")
        helped = shown(app)
        await press(pilot, "f8", "f10", "f4")
        stays = app.screen is screen
        await press(pilot, "f12")

        assert " ← > step " in last
        assert " v formulas " in last
        assert begun
        assert said
        assert sentences != formulas
        assert drawer
        assert "d or F10" in helped
        assert "Esc, F12" in helped
        assert stays
        assert not isinstance(app.screen, DemoScreen)


async def test_a_demo_without_a_chat_follows_the_persons_own_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\ndemo_person = "a"\nclose = "f8"\nquit = "f12"\n')
    screen = DemoScreen(played=Recording(3, SEED))
    app = DemoApp(screen, Preferences(None, Wishes(file)))
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        last = "\n".join(lines(screen)[-2:])
        await pilot.press("tab")
        first = screen._selected
        await pilot.press("a")
        second = screen._selected
        await pilot.press("escape", "ctrl+q")
        runs = app.is_running
        await pilot.press("f12")
        await pilot.pause()

    assert " a person " in last
    assert last.endswith(" F8 leave")
    assert (first, second) == (0, 1)
    assert runs
    assert app._exit


async def test_the_first_questions_follow_the_persons_own_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\nclose = "f8"\nquit = "f12"\n')
    app = FirstRun(SUGGESTED, anything, Preferences(None, Wishes(file)))
    async with app.run_test(size=(80, 24)) as pilot:
        says = shown(app)
        await pilot.press("escape", "ctrl+q")
        asking = not app._exit
        await pilot.press("f8")

    assert "Enter starts, Tab goes to the next field, F8 leaves" in says
    assert asking
    assert app._exit
