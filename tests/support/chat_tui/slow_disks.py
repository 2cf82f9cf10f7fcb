"""Disks that keep who reads waiting, and a talk of which much has to be read."""

import asyncio
from functools import partial
from typing import Any, Self, cast

from chat_tui.app.app import ChatApp
from chat_tui.model.succession import Succession
from sync.machine import SECOND, MessageId
from sync.view.view import History
from tests.support.chat_tui import scenes
from tests.support.chat_tui.scenes import BOB, Scene
from tests.support.copies import made_once

LINES = 900
"""Lines of the talk: several pages more than the first."""

APART = 500
"""Lines from a reply up to what it answers, which so has no row."""


@made_once
def replies_far_apart() -> Scene:
    """Many lines, a second apart; each answers the one `APART` lines above it, if there is one."""
    scene = Scene("alice", "bob")
    scene.sleep_until(scenes.MONDAY_MORNING)
    ids: list[MessageId] = []
    for number in range(LINES):
        answered = ids[number - APART] if number >= APART else None
        scene.world.write_text(BOB, f"line {number}", reply_to=answered)
        scene.world.run(SECOND)
        ids.append(scene.world.nodes[BOB].disk.lines()[-1][1])
    return scene


class SlowDisk:
    """Reads `history`; the reads called `slow` wait until they are let through."""

    def __init__(self, history: History, *slow: str) -> None:
        self.asked = asyncio.Event()
        """Set once one of them waits."""
        self.free = asyncio.Event()
        """Lets all of them through."""
        self._history, self._slow = history, slow

    @classmethod
    def under(cls, history: History, *slow: str) -> tuple[Self, History]:
        """Return a slow disk, also as what is read from it."""
        disk = cls(history, *slow)
        return disk, cast("History", disk)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # as the history has them
        read = getattr(self._history, name)
        return partial(self._wait, read) if name in self._slow else read

    async def _wait(self, read: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401  # as above
        self.asked.set()
        await self.free.wait()
        return await read(*args, **options)


def slow_down(app: ChatApp, *slow: str) -> SlowDisk:
    """Let a screen read its pages from a slow disk from now on."""
    disk, history = SlowDisk.under(app._pager._history, *slow)
    app._pager._history, app._pager._pages = history, Succession(history)
    return disk
