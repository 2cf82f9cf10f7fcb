"""The first-run screen: three prefilled questions."""

from pathlib import Path

import pytest

from chat_tui.first_run import Answers, FirstRun
from sync.errors import LocalError

SUGGESTED = Answers("alice", "", Path("/home/alice/.local/share/chat-tui"))


def anything(_answers: Answers) -> None:
    """Every answer is fine."""


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
        await pilot.press("end", "2", "tab", *"code", "tab", "end", "/", "x", "tab", "enter")

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
        await pilot.press("tab", "tab", "ctrl+u", "enter")

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
