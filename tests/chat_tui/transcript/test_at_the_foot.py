"""Lines that appear under the conversation, and the selected message that they leave whole."""

import pytest

from tests.support.chat_tui.readings import (
    command,
    long_talk,
    press,
    reading,
    shown,
    top_lines,
    until,
)
from tests.support.chat_tui.scenes import BOB, Scene

TALL = "a line that is so long that it fills more than one line of the screen, wherever it stands "


def with_a_tall_end() -> Scene:
    scene = long_talk()
    scene.say(BOB, TALL * 3 + "finish")
    return scene


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_lowest_message_stays_whole_when_lines_appear_under_it(
    size: tuple[int, int],
) -> None:
    async with reading(with_a_tall_end(), size) as (app, pilot):
        await press(pilot, "ctrl+t")
        selected_last = top_lines(app)[-1]
        await press(pilot, "r")  # which message is selected stands there now, and a draft
        await press(pilot, "ctrl+j", "ctrl+j", "ctrl+j")
        written, foot = top_lines(app)[-1], shown(app)
        await press(pilot, "escape")

    assert selected_last.endswith("finish")
    assert "Selected: a line that is so long" in foot
    assert written.endswith("finish")


async def test_what_is_read_stays_when_the_selected_message_is_out_of_sight() -> None:
    async with reading(with_a_tall_end()) as (app, pilot):
        await press(pilot, "ctrl+t", "tab", "pageup", "pageup")
        before = top_lines(app)[0]
        await press(pilot, "ctrl+j", "ctrl+j", "ctrl+j")
        after = top_lines(app)[0]

    assert after == before


async def test_a_hit_at_the_end_is_whole_above_what_is_said_of_it() -> None:
    async with reading(with_a_tall_end()) as (app, pilot):
        await command(pilot, "/search finish")
        await until(pilot, lambda: "hit 1 of 1" in shown(app))

        assert top_lines(app)[-1].endswith("finish")
