"""Lines of somebody removed, folded away on the screen; Enter opens a run of them."""

from chat_tui.details.message_screen import DetailsScreen
from tests.support.chat_tui import governed_scenes
from tests.support.chat_tui.readings import paint, shown
from tests.support.chat_tui.screenshots import WIDE

FOLDED = "3 lines of mallory, who knew of the removal, are folded away; Enter shows them"


async def test_enter_opens_a_run_and_then_the_details_of_one_of_its_lines() -> None:
    app = governed_scenes.screen_of(governed_scenes.folded_away())
    async with app.run_test(size=WIDE) as pilot:
        await paint(app, pilot)
        closed = shown(app)
        await pilot.press("ctrl+t", "enter")
        await paint(app, pilot)
        opened = shown(app)
        is_transcript = not isinstance(app.screen, DetailsScreen)
        await pilot.press("enter")
        await pilot.pause()

        assert isinstance(app.screen, DetailsScreen)

    assert FOLDED in closed
    assert "buy this" not in closed
    assert is_transcript
    assert FOLDED not in opened
    for text in ("it was me", "buy this", "and that"):
        assert f"{text} (its author knew of the removal)" in opened
