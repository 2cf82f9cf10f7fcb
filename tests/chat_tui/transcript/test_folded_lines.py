"""Lines of somebody removed, folded away on the screen; Enter opens a run of them."""

from chat_tui.details.message_screen import DetailsScreen
from sync.entries.changes import Reactions
from sync.machine import SECOND
from sync.view.governance_infos import Lateness
from tests.support.chat_tui import governed_scenes
from tests.support.chat_tui.governed_scenes import ALICE
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


async def test_a_run_stays_closed_when_somebody_reacts_to_one_of_its_lines() -> None:
    scene = governed_scenes.folded_away()
    app = governed_scenes.screen_of(scene)
    async with app.run_test(size=WIDE) as pilot:
        await paint(app, pilot)
        lines = [row.line for row in app.transcript.conversation.rows]
        folded = [line.message_id for line in lines if line.late is Lateness.FOLDED]
        scene.world.change(ALICE, Reactions(folded[0], ("+1",)), scene.channel)
        scene.world.run(5 * SECOND)
        await paint(app, pilot)
        await paint(app, pilot)

        assert FOLDED in shown(app)
        assert "it was me" not in shown(app)
