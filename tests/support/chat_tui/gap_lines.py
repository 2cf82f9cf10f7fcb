"""Ways of the cursor to the line of a gap."""

from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.transcript.painted_line import Part


async def go_to_gap(pilot: Pilot[None]) -> None:
    """Put the cursor on the line above the message that follows a gap."""
    app = pilot.app
    assert isinstance(app, ChatApp)
    await pilot.press("ctrl+t")
    for _ in range(30):
        if app.transcript.part is Part.GAP:
            return
        await pilot.press("up")
    raise AssertionError("there is no gap above")
