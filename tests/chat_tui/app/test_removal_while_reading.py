"""Somebody is removed while somebody else reads further up: nothing moves under their eyes."""

from chat_tui.app.app import ChatApp
from chat_tui.wording.glyphs import LATE
from tests.support.chat_tui import governed_scenes
from tests.support.chat_tui.governed_scenes import ALICE, BOB, MALLORY, GovernedScene
from tests.support.chat_tui.readings import paint, press, shown, top_lines

LINES = 40
MARK = f" {LATE}"
"""Behind the lines of somebody removed: this removal seals none."""


def places(app: ChatApp) -> list[str]:
    """The lines of the transcript, without what the removal says of them."""
    return [one.removesuffix(MARK) for one in top_lines(app)]


def talk() -> GovernedScene:
    """A page and more of lines, some of them of mallory, that alice and bob heard."""
    scene = GovernedScene()
    for number in range(LINES):
        scene.say(MALLORY if number % 5 == 0 else BOB, f"line {number}")
    return scene


def screen(scene: GovernedScene) -> ChatApp:
    return governed_scenes.screen_of(scene)


async def test_who_reads_further_up_sees_the_same_lines_after_a_removal() -> None:
    scene = talk()
    app = screen(scene)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await press(pilot, "pageup")
        before = places(app)
        assert any("line 2" in one for one in before)
        assert not any(f"line {LINES - 1}" in one for one in before)

        scene.remove(ALICE, MALLORY, "spam")
        await paint(app, pilot)

        assert places(app) == before
        assert any(one.endswith(MARK) for one in top_lines(app))
        await press(pilot, "end")
        await paint(app, pilot)
        assert "removed mallory: spam" in shown(app)


async def test_who_has_selected_a_line_of_the_removed_keeps_it() -> None:
    scene = talk()
    app = screen(scene)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await press(pilot, "ctrl+t", *["up"] * 20)
        selected = app.transcript.selected()
        assert selected is not None
        before = places(app)

        scene.remove(ALICE, MALLORY, "spam")
        await paint(app, pilot)

        now = app.transcript.selected()
        assert now is not None
        assert now.line.message_id == selected.line.message_id
        assert places(app) == before
