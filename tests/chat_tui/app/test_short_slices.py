"""Events that flood the screen leave keys more room while somebody types."""

import pytest

from chat_tui.app.app import HURRIED_SLICE_S, HURRY_FOR_S, SLICE_S
from chat_tui.client.simulated import SimulatedChat
from tests.support.chat_tui.readings import reading, short_talk


async def test_slices_are_short_for_a_moment_after_a_key() -> None:
    async with reading(short_talk()) as (app, pilot):
        before = app._slice_s
        await pilot.press("h")
        await pilot.pause()
        typing = app._slice_s
        app._typed_at -= HURRY_FOR_S

        assert (before, typing, app._slice_s) == (SLICE_S, HURRIED_SLICE_S, SLICE_S)


async def test_a_letter_goes_before_the_engine_until_it_is_painted_and_a_line_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(SimulatedChat, "key_came", lambda _: told.append("came"))
    monkeypatch.setattr(SimulatedChat, "key_shown", lambda _: told.append("shown"))
    async with reading(short_talk()) as (_, pilot):
        await pilot.press("h")
        await pilot.pause()
        letter = list(told)
        await pilot.press("enter")
        await pilot.pause()

        assert letter == ["came", "shown"]
        assert "came" not in told[len(letter) :]
        assert "shown" in told[len(letter) :]
