"""Keys in one burst: each reaches what the one before it has opened, left or moved."""

import asyncio

import pytest
from textual.widgets import Input

from chat_tui.app.app import ChatApp
from chat_tui.debug.pane import DebugPane
from chat_tui.debug.tab_table import Tab
from chat_tui.demo.drawer import Drawer
from chat_tui.demo.scenario import SEED
from chat_tui.demo.scenarios import scenario
from chat_tui.demo.screen import DemoScreen
from chat_tui.demo.stage import Stage
from chat_tui.screens.palette import Palette
from chat_tui.screens.peers import PeersScreen
from chat_tui.terminal import key_order, signals
from tests.support.chat_tui.bursts import (
    ALT_K,
    BACKSPACE,
    CTRL_F,
    CTRL_P,
    CTRL_T,
    ENTER,
    ESC,
    F2,
    F3,
    F4,
    F6,
    LEFT,
    TAB,
    WINDOW_LEFT,
    burst,
    click,
)
from tests.support.chat_tui.demos import ready
from tests.support.chat_tui.readings import reading, selected, short_talk, shown, until

WIDE = (140, 40)
LETTERS = 160


def tab_of(app: ChatApp) -> Tab | None:
    panes = list(app.query(DebugPane))
    return panes[0].tab if panes else None


def typed(app: ChatApp) -> str:
    """Return the text in the front screen's first input field, empty if it has none."""
    fields = list(app.screen.query(Input))
    return fields[0].value if fields else ""


async def test_what_comes_with_f2_is_the_panes() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        burst(app, *"half a ", F2, "4")
        await until(pilot, lambda: tab_of(app) is Tab.SYNC)

        assert app.composer.text == "half a "


async def test_the_pane_hears_all_of_a_burst_and_what_follows_it_is_written() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        burst(app, F2, "5", "/", *"3x", LEFT, "2", ENTER, TAB, *"hi", F2, "2")
        await until(pilot, lambda: tab_of(app) is Tab.CAUSAL and app.composer.text == "hi")

        assert app.query_one(DebugPane).wire.words == "32x"


async def test_a_text_that_comes_as_keys_leaves_the_loop_to_others() -> None:
    async with reading(short_talk()) as (app, pilot):
        lengths: set[int] = set()

        def look() -> None:
            lengths.add(len(app.composer.text))
            if len(app.composer.text) < LETTERS:
                asyncio.get_running_loop().call_soon(look)

        look()
        burst(app, *"x" * LETTERS)
        await until(pilot, lambda: len(app.composer.text) == LETTERS)

        assert len(lengths) > LETTERS // (2 * key_order.KEYS_A_TURN)


async def test_a_cursor_key_moves_before_the_next_letter_is_written() -> None:
    async with reading(short_talk()) as (app, pilot):
        burst(app, *"ac", LEFT, "b", LEFT, LEFT, *"01")
        await until(pilot, lambda: len(app.composer.text) == 5)

        assert app.composer.text == "01abc"


async def test_words_to_search_for_do_not_go_to_the_input() -> None:
    async with reading(short_talk()) as (app, pilot):
        burst(app, CTRL_F, *"cable", ENTER)
        await until(pilot, lambda: "cable: hit 1 of" in shown(app))

        assert app.composer.text == ""


@pytest.mark.parametrize("letters", [0, 20_000])
async def test_who_is_asked_to_leave_does_not_wait_for_a_long_text_that_came_as_keys(
    monkeypatch: pytest.MonkeyPatch, letters: int
) -> None:
    monkeypatch.setattr(signals, "HEARD_FOR_S", 0.1)
    async with reading(short_talk()) as (app, _):
        left = asyncio.Event()
        monkeypatch.setattr(app, "exit", left.set)
        burst(app, *"hi", *"x" * letters)
        signals.leave(app)
        async with asyncio.timeout(3.0):
            await left.wait()
        heard = app.composer.text

    assert len(heard) < 10_000


async def test_a_message_is_selected_before_the_letters_about_it_come() -> None:
    async with reading(short_talk()) as (app, pilot):
        burst(app, CTRL_T, "k", "k", "q")
        await until(pilot, lambda: app.composer.text)

        assert app.composer.text.startswith("> bob: see https")
        assert selected(app) == ""


@pytest.mark.parametrize(("opens", "title"), [(CTRL_P, "Theme"), (ALT_K, "lobby")])
async def test_the_palette_has_the_letters_that_come_with_its_key(opens: str, title: str) -> None:
    async with reading(short_talk()) as (app, pilot):
        burst(app, opens, *title.casefold()[:4])
        await until(pilot, lambda: typed(app) == title.casefold()[:4])

        assert isinstance(app.screen, Palette)
        assert app.composer.text == ""


async def test_a_setting_is_typed_in_the_same_burst_as_the_settings_are_opened() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        burst(app, F6, TAB, LEFT, ESC, "!")
        await until(pilot, lambda: app.composer.text)

        assert app.composer.text == "!"
        assert app.theme != "tokyo-night"


async def test_an_address_is_typed_in_the_same_burst_as_the_people_are_shown() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        burst(app, F3, "c", *"h:1", LEFT, "2")
        await until(pilot, lambda: typed(app) == "h:21")

        assert isinstance(app.screen_stack[1], PeersScreen)


async def test_the_demo_takes_the_steps_that_come_before_it_is_ready() -> None:
    stage = Stage(scenario(1), SEED)
    stage.forward()
    stage.forward()
    async with reading(short_talk(), WIDE) as (app, pilot):
        burst(app, F4, ".", ".", "e")
        await until(pilot, lambda: isinstance(app.screen, DemoScreen))
        await ready(pilot)
        demo = app.screen
        assert isinstance(demo, DemoScreen)
        assert demo.stage is not None

        assert demo.stage.step_number == stage.step_number
        assert demo.stage.shot.said == stage.shot.said
        assert app.composer.text == ""


async def test_what_is_wanted_of_the_demo_before_it_is_ready_is_done_in_order() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        app.action_demo(1)
        await until(pilot, lambda: isinstance(app.screen, DemoScreen))
        demo = app.screen
        assert isinstance(demo, DemoScreen)
        await ready(pilot)
        burst(app, "n", "n", TAB, "o", "d")
        await until(pilot, lambda: demo.query_one(Drawer).display)
        await ready(pilot)
        assert demo.stage is not None

        assert demo.stage.scenario is scenario(3)
        assert [person.up for person in demo.stage.shot.people] == [True, False, True]


async def test_a_click_comes_after_the_keys_before_it() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        x, y = app.composer.region.offset
        burst(app, CTRL_F, *"cable", ENTER, click(x + 1, y), *"hi")
        await until(pilot, lambda: "hi" in app.composer.text)

        assert app.composer.text == "hi"
        assert "Selected: malice?" in shown(app)


async def test_what_is_typed_after_a_click_goes_where_it_went() -> None:
    async with reading(short_talk(), WIDE) as (app, pilot):
        x, y = app.composer.region.offset
        burst(app, F2, click(x + 1, y), *"4", F2)
        await until(pilot, lambda: app.composer.text)

        assert app.composer.text == "4"


async def test_a_window_that_is_left_was_left_after_the_keys_before() -> None:
    async with reading(short_talk()) as (app, pilot):
        burst(app, *"abc", BACKSPACE, LEFT, BACKSPACE, WINDOW_LEFT)
        await until(pilot, lambda: not app.app_focus)

        assert app.composer.text == "b"


async def test_what_hangs_does_not_hold_keys_for_ever() -> None:
    async with reading(short_talk()) as (app, pilot):
        app._settling = True  # as if the last key had an effect that does not end
        burst(app, *"ab", *["c"] * 10)
        await until(pilot, lambda: len(app._held) == 12)
        held, waits = app.composer.text, app._patience
        app.call_later(app._settled, app._number)  # what its timer does after `HELD_FOR_S`
        await until(pilot, lambda: app.composer.text)

    assert held == ""
    assert waits is not None
    assert app.composer.text == "ab" + 10 * "c"


async def test_only_so_many_keys_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_order, "HELD_MAX", 3)
    async with reading(short_talk()) as (app, pilot):
        app._settling = True
        burst(app, *"abcdef")
        await until(pilot, lambda: len(app._held) == 3)
        app.call_later(app._settled, app._number)
        await until(pilot, lambda: app.composer.text)

    assert app.composer.text == "abc"
