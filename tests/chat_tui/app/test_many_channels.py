"""Many channels on the screen: the open one is always in sight, and so are the people."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.live_screens import screen
from tests.support.chat_tui.readings import press, shown

MANY = 60


@asynccontextmanager
async def in_many(data_dir: Path) -> AsyncIterator[tuple[ChatApp, Pilot[None]]]:
    """The screen of alice, who is in the lobby and in many channels."""
    async with opened(data_dir, "alice") as alice:
        for number in range(MANY):
            await alice.memberships.join(f"#team-{number:02d}")
        async with screen(alice, (140, 40)) as (app, pilot):
            yield app, pilot


def beside(app: ChatApp) -> str:
    """The list at the side."""
    return "\n".join(line[:24] for line in shown(app).split("\n"))


@pytest.mark.slow
@pytest.mark.net
async def test_the_open_channel_is_in_sight_in_every_height(tmp_path: Path) -> None:
    async with in_many(tmp_path) as (app, pilot):
        assert "> #lobby" in beside(app)
        assert "more" in beside(app)

        await press(pilot, "alt+up")
        assert f"> #team-{MANY - 1}" in beside(app)
        assert "● alice" in beside(app)

        await press(pilot, *["alt+up"] * (MANY // 2))
        for lines in (16, 90, 24):
            await pilot.resize_terminal(140, lines)
            await pilot.pause()
            await pilot.pause()
            assert f"> #team-{MANY // 2 - 1}" in beside(app)
            assert "● alice" in beside(app)
            assert ("↑" in beside(app)) == (lines < MANY)
