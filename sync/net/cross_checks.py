"""Asks the slow definition what governance answered, beside the running chat."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from sync.errors import StorageError
from sync.group.checking import Checking, Step
from sync.group.governing import Governing
from sync.group.group import Group
from sync.group.values import Answer, AnswersChecked, Divergence
from sync.machine import SECOND, ChannelId, Nanos
from sync.net.clock import worked
from sync.runner.journal import Journal

LOOK: Final = 5.0
"""Seconds between looks for answers: a fault is told in time, and idle channels cost nothing."""

REST: Final = 99
"""Times the processor time of each step, for which nothing is done after it: 1 % of a core."""


class Feed(Protocol):
    """Gives a channel an input."""

    def __call__(self, channel: ChannelId, event: AnswersChecked) -> None:
        """See `sync.net.engine.Engine.queue_input`."""


@dataclass(slots=True)
class CrossChecks:
    """Checks of all governed channels, one step at a time, in a thread of its own.

    Attributes:
        groups: all channels; who is let go meanwhile is told nothing.
        journal: where the ops are read: not from the memory that the projection was made of.
        feed: hears what came of it.
        pause: waits for so many seconds.
    """

    groups: Callable[[], Mapping[ChannelId, Group]]
    journal: Journal
    feed: Feed
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _checking: dict[ChannelId, Checking] = field(default_factory=dict)

    async def check_forever(self) -> None:
        """Check until cancelled."""
        while True:
            await self.pause(LOOK)
            await self.check_all()

    async def check_all(self) -> None:
        """Check what was answered up to now."""
        for gone in self._checking.keys() - self.groups().keys():
            del self._checking[gone]
        for channel, group in list(self.groups().items()):
            if group.governing is not None and (answers := group.governing.answers.take()):
                checked = await self._check(channel, group.governing, answers)
                if channel in self.groups():
                    self.feed(channel, checked)

    async def _check(
        self, channel: ChannelId, governing: Governing, answers: list[Answer]
    ) -> AnswersChecked:
        checking = self._checking.setdefault(channel, Checking())
        lacking = checking.lacking(governing)
        if lacking is None:
            return AnswersChecked(0, skipped=len(answers))
        try:
            contents = await self.journal.load_ops(channel, lacking)
        except StorageError:
            contents = ()
        if len(contents) < len(lacking):  # some have rotted, and come again
            return AnswersChecked(0, skipped=len(answers))
        divergences: list[Divergence] = []
        for step in checking.steps(contents, answers):
            divergence, took = await asyncio.to_thread(_timed, step)
            if divergence is not None:
                divergences.append(divergence)
            await self.pause(REST * took / SECOND)
        return AnswersChecked(len(answers), 0, tuple(divergences))


def _timed(step: Step) -> tuple[Divergence | None, Nanos]:
    """Take a step; returns what it found, and its processor time."""
    before = worked()
    found = step()
    return found, worked() - before
