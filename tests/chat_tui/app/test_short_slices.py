"""Events that flood the screen leave keys more room while somebody types."""

from chat_tui.app.app import HURRIED_SLICE_S, HURRY_FOR_S, SLICE_S
from tests.support.chat_tui.readings import reading, short_talk


async def test_slices_are_short_for_a_moment_after_a_key() -> None:
    async with reading(short_talk()) as (app, pilot):
        before = app._slice_s
        await pilot.press("h")
        await pilot.pause()
        typing = app._slice_s
        app._typed_at -= HURRY_FOR_S

        assert (before, typing, app._slice_s) == (SLICE_S, HURRIED_SLICE_S, SLICE_S)
