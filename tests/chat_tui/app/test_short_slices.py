"""Events that flood the screen leave keys more room while somebody types."""

from pathlib import Path

import pytest

from chat_tui.app.app import HURRIED_SLICE_S, HURRY_FOR_S, SLICE_S
from tests.support.chat_tui.chats import running
from tests.support.chat_tui.live_clients import lobby
from tests.support.chat_tui.readings import reading, short_talk


async def test_slices_are_short_for_a_moment_after_a_key() -> None:
    async with reading(short_talk()) as (app, pilot):
        before = app._slice_s
        await pilot.press("h")
        await pilot.pause()
        typing = app._slice_s
        app._typed_at -= HURRY_FOR_S

        assert (before, typing, app._slice_s) == (SLICE_S, HURRIED_SLICE_S, SLICE_S)


@pytest.mark.net
async def test_the_engine_takes_short_slices_too_once_it_is_told_that_somebody_types(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        assert alice._made is not None
        engine = alice._made._engine
        before = engine._hurried_until
        alice.typing(lobby(alice))

        assert before < engine._hurried_until
