"""A list of hundreds of people: the cursor stays in sight, and a key draws what is in sight."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import pytest
from textual.app import App
from textual.content import Content
from textual.pilot import Pilot

from chat_tui.screens.people_list import PeopleList
from chat_tui.widgets.entries import Entries
from sync.machine import PeerId
from tests.support.chat_tui.readings import press, shown

CROWD: Final = tuple(PeerId(f"{number:064d}") for number in range(300))


class Crowd(PeopleList[None]):
    """People of one line each, or of two where the window is narrow."""

    def __init__(self, chosen: PeerId | None = None) -> None:
        super().__init__()
        self._chosen = chosen

    def people(self) -> Sequence[PeerId]:
        return CROWD

    def lines(self, width: int, cursor: int) -> list[Content]:
        rows = []
        for number in range(len(CROWD)):
            name = f"{'>' if number == cursor else ' '} person {number}"
            rows.append(Content(name if width > 80 else f"{name}\nend of {number}"))
        return [Content("name"), *rows]

    def heading(self) -> Content:
        return Content("CROWD")

    def key_hints(self, width: int) -> Content:
        return Content("Esc close")

    def action_enter(self) -> None:
        self.dismiss(None)


@asynccontextmanager
async def crowd(chosen: PeerId | None = None) -> AsyncIterator[tuple[App[None], Pilot[None]]]:
    app = App[None]()
    async with app.run_test(size=(140, 40)) as pilot:
        await app.push_screen(Crowd(chosen))
        await pilot.pause()
        yield app, pilot


async def test_whoever_is_chosen_stays_in_sight_in_windows_of_any_size() -> None:
    async with crowd() as (app, pilot):
        await press(pilot, "end")
        assert "> person 299" in shown(app)
        await press(pilot, "pageup", "up")
        [chosen] = [line for line in shown(app).split("\n") if ">" in line]
        for size in ((60, 16), (300, 90), (60, 12), (140, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert chosen.strip("│ ") in shown(app)
            if size[0] == 60:
                assert f"end of {chosen.split()[-1]}" in shown(app)


async def test_whoever_the_list_is_opened_at_is_in_sight() -> None:
    async with crowd(CROWD[200]) as (app, _):
        assert "> person 200" in shown(app)


@pytest.mark.parametrize("key", ["down", "pagedown", "end"])
async def test_a_key_draws_the_lines_in_sight_alone(key: str) -> None:
    async with crowd() as (app, pilot):
        table = app.screen.query_one(Entries)
        drawn = table.drawn
        await press(pilot, key)

        assert drawn < table.drawn <= drawn + 3 * table.size.height
