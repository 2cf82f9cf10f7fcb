"""The engine takes up a line before the screen paints that the input is empty."""

import asyncio
from pathlib import Path

import pytest
from textual.screen import Screen

from chat_tui.cli.main import PAINTS_PER_S
from sync.group import values
from sync.runner.runner import Runner
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.live_screens import screen, type_in, until
from tests.support.chat_tui.readings import shown

LINES = 8


@pytest.mark.net
@pytest.mark.slow
async def test_the_engine_turns_before_the_emptied_input_is_painted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 1 / int(PAINTS_PER_S))  # as `chat` has it
    order: list[str] = []
    paint, turn = Screen._compositor_refresh, Runner.turn

    def painted(self: Screen[None]) -> None:
        order.append("paint")
        paint(self)

    def turned(self: Runner, *args: object) -> object:
        waiting = self.waiting
        batch = turn(self, *args)  # type: ignore[arg-type]
        if waiting and any(isinstance(one.event, values.Write) for one in batch.inputs):
            order.append("turn")
        return batch

    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        first = []
        for number in range(LINES):
            app.composer.insert(f"line {number}")
            await pilot.pause()
            await asyncio.sleep(0)
            with monkeypatch.context() as noting:
                order.clear()
                noting.setattr(Screen, "_compositor_refresh", painted)
                noting.setattr(Runner, "turn", turned)
                await type_in(pilot, "")
                await until(pilot, lambda: "turn" in order)
                first.append(order[0])
            await until(pilot, lambda number=number: f"line {number}" in shown(app))  # type: ignore[misc]
            assert app.composer.text == ""

    assert first.count("turn") > LINES // 2, "a paint that was due already may come first"
