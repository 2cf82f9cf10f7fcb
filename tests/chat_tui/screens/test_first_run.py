"""The first-run screen: three prefilled questions."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from chat_tui.cli import first_start
from chat_tui.screens.first_run import Answers, FirstRun
from sync.errors import LocalError
from tests.support.chat_tui.first_runs import SUGGESTED, anything
from tests.support.chat_tui.readings import shown, until


def no_spaces(answers: Answers) -> None:
    if " " in answers.name:
        raise LocalError("A name has no spaces. Take them out.")


async def test_enter_takes_what_is_suggested() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")

    assert app.return_value == SUGGESTED


async def test_each_field_can_be_changed() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "2", "tab", *"code", "tab", "tab", "tab", "enter")
        await pilot.press("end", "/", "x", "tab", "enter")

    assert app.return_value == Answers("alice2", "code", SUGGESTED.data_dir / "x")


async def test_an_unusable_answer_is_said_and_can_be_mended() -> None:
    app = FirstRun(SUGGESTED, no_spaces)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "space", "b", "enter")
        said = str(app.query_one("#wrong").render())
        still_asking = app.return_value is None
        await pilot.press("backspace", "backspace", "enter")

    assert said == "A name has no spaces. Take them out."
    assert still_asking
    assert app.return_value == SUGGESTED


async def test_an_empty_place_means_the_suggested_one() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab", "tab", "tab", "tab", "enter", "ctrl+u", "enter")

    assert app.return_value == SUGGESTED


@pytest.mark.parametrize("key", ["escape", "ctrl+q"])
async def test_leaving_answers_nothing(key: str) -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)

    assert app.return_value is None


async def test_all_of_it_fits_a_small_terminal() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        questions = app.query_one("#questions")

        assert questions.max_scroll_y == 0


async def test_the_demo_leaves_the_questions_for_later() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab", "tab", "tab", "enter")

    assert app.return_value == replace(SUGGESTED, demo=True)


async def test_where_data_is_kept_is_said_and_asked_only_on_request() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        said = str(app.query_one("#kept").render())
        shown = app.query_one("#data-dir").region.area
        await pilot.click("#change-place")
        await pilot.pause()
        asked = app.query_one("#data-dir").region.area

    assert str(SUGGESTED.data_dir) in said
    assert not shown
    assert asked


async def test_a_question_fits_a_terminal_that_is_hardly_large_enough() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(60, 16)) as pilot:
        await pilot.pause()
        for field in ("#name", "#invite", "#start"):
            app.query_one(field).focus()
            await pilot.pause()
            assert app.screen.region.contains_region(app.query_one(field).region)


@pytest.mark.parametrize("width", [60, 66, 77, 78])
async def test_no_button_is_cut(width: int) -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(width, 16)) as pilot:
        await pilot.pause()
        app.query_one("#change-place").focus()
        words = ("Start", "See the demo", "Change where data is kept")
        await until(pilot, lambda: all(word in shown(app) for word in words))


async def test_what_was_answered_is_still_there_after_the_demo() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "2", "tab", *"#tea", "tab", "tab", "enter")

    assert app.return_value == replace(SUGGESTED, name="alice2", invite="#tea", demo=True)


async def test_a_home_of_nobody_is_refused_in_words() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one("#data-dir", Input).value = "~nobody-at-all/chat"
        await pilot.press("enter")
        said = str(app.query_one("#wrong").render())
        await pilot.press("end", "2")
        after = str(app.query_one("#wrong").render())

    assert app.return_value is None
    assert said == "~nobody-at-all/chat begins with ~ and nobody's name here."
    assert after == "", "it is said no longer once an answer changes"


@pytest.mark.parametrize("typed", ["garbage", "code with spaces", "chat1-abc", "#", "#a b"])
def test_a_mistyped_code_opens_no_channel(typed: str, tmp_path: Path) -> None:
    with pytest.raises(LocalError):
        first_start._check(Answers("alice", typed, tmp_path))


@pytest.mark.parametrize("typed", ["", "#tea", "  #tea "])
def test_an_open_channel_is_written_with_its_sign(typed: str, tmp_path: Path) -> None:
    first_start._check(Answers("alice", typed, tmp_path))


async def test_a_code_may_be_pasted_with_its_command() -> None:
    app = FirstRun(SUGGESTED, anything)
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one("#invite", Input).value = "/join chat1-abc "
        await pilot.press("enter")

    assert app.return_value == replace(SUGGESTED, invite="chat1-abc")
