"""Asks the slow definition what governance answered, beside the running chat."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from sync.calimero.governance import limits
from sync.errors import StorageError
from sync.group.checking import Checked, Checking
from sync.group.governing import Governing
from sync.group.group import Group
from sync.group.values import AnswersChecked
from sync.machine import MILLISECOND, SECOND, ChannelId, Nanos
from sync.net.clock import worked
from sync.runner.journal import Journal

LOOK: Final = 5.0
"""Seconds between looks for answers: a fault is told in time, and idle channels cost nothing."""

REST: Final = 99
"""Times the processor time of each part, for which nothing is done after it: 1 % of a core."""

PART: Final = 2 * MILLISECOND
"""Processor time of a part: much less than a frame of the screen."""

TURN: Final = 300 * MILLISECOND
"""Processor time after which other channels have their turn: half a minute with the rests."""


class Feed(Protocol):
    """Gives a channel an input."""

    def __call__(self, channel: ChannelId, event: AnswersChecked) -> None:
        """See `sync.net.engine.engine.Engine.queue_input`."""


@dataclass(slots=True)
class CrossChecks:
    """Checks of all governed channels, one part at a time, in a thread of its own.

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
    """The channel that was asked about last comes last."""

    async def check_forever(self) -> None:
        """Check until cancelled."""
        while True:
            await self.pause(LOOK)
            await self.check_all()

    async def check_all(self) -> None:
        """Check what was answered up to now, in each channel for one turn at most."""
        for gone in self._checking.keys() - self.groups().keys():
            del self._checking[gone]
        for channel, group in list(self.groups().items()):
            if (governing := group.governing) is None or not governing.governance.dag.acts:
                continue
            checking = self._checking.setdefault(channel, Checking())
            skipped = checking.ask(governing.answers.take())
            if skipped or not checking.is_idle or len(checking) < len(governing.governance.dag):
                checked = await self._check(channel, governing, checking, skipped)
                if channel in self.groups() and checked != AnswersChecked(0):
                    self.feed(channel, checked)

    async def _check(
        self, channel: ChannelId, governing: Governing, checking: Checking, skipped: int
    ) -> AnswersChecked:
        used = await self._read(channel, governing, checking)
        if used is None:
            return AnswersChecked(0, skipped + checking.give_up())
        checked, divergences = 0, []
        while used < TURN and not checking.is_idle:
            found, took = await asyncio.to_thread(_timed, checking)
            used += took
            checked += len(found)
            divergences += [one.divergence for one in found if one.divergence is not None]
            await self.pause(REST * took / SECOND)
        return AnswersChecked(checked, skipped, tuple(divergences))

    async def _read(
        self, channel: ChannelId, governing: Governing, checking: Checking
    ) -> Nanos | None:
        """Read ops that came; returns the processor time, None if the disk lacks some."""
        used = 0
        while lacking := checking.lacking(governing):
            self._make_room(channel, len(lacking))
            try:
                contents = await self.journal.load_ops(channel, lacking)
            except StorageError:
                contents = ()
            if len(contents) < len(lacking):  # some have rotted, and come again
                return None
            took = await asyncio.to_thread(_learned, checking, contents, governing)
            used += took
            await self.pause(REST * took / SECOND)
        return used

    def _make_room(self, channel: ChannelId, count: int) -> None:
        """Let go of the ops of other channels, if all are too many together."""
        self._checking[channel] = self._checking.pop(channel)
        for one in list(self._checking.values())[:-1]:
            if sum(map(len, self._checking.values())) + count > limits.OPS_COMPARED_MAX:
                one.forget()


def _timed(checking: Checking) -> tuple[list[Checked], Nanos]:
    """Check for one part; returns what was found, and the processor time."""
    before = worked()
    found = []
    for one in checking.checks():
        if one is not None:
            found.append(one)
        if worked() - before >= PART:
            break
    return found, worked() - before


def _learned(checking: Checking, contents: Sequence[bytes], governing: Governing) -> Nanos:
    """Take ops in; returns the processor time."""
    before = worked()
    checking.learn(contents, governing)
    return worked() - before
