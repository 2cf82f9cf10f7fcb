"""The question about the clock, and lines that wait for their time, down to the cell."""

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.settings import schema
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from tests.support.chat_tui import scenes
from tests.support.chat_tui.screenshots import NARROW, SMALL, WIDE
from tests.support.chat_tui.snap_compare import SnapCompare

pytestmark = pytest.mark.usefixtures("in_utc")


def screen(*, glyphs: Glyphs = UNICODE, theme: str | None = None) -> ChatApp:
    scene = scenes.ahead_of_time()
    if theme is not None:
        scene.chat.settings.change(schema.THEME, theme)
    return scenes.screen_of(scene, glyphs=glyphs)


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["small", "wide"])
def test_the_question_and_what_waits(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(screen(), terminal_size=size, press=["f2"] if size == WIDE else [])


def test_the_question_in_ascii_and_high_contrast(snap_compare: SnapCompare) -> None:
    app = screen(glyphs=ASCII, theme="high-contrast")

    assert snap_compare(app, terminal_size=NARROW)
