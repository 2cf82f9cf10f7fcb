"""The times at which channels next need a tick: only those that handled something are asked anew.

A person may be in hundreds of channels, of which one or two do something in a turn. A machine's
deadline changes only when it handles an input, and a group has the only machines of its channel.
"""

from collections.abc import Mapping
from typing import Protocol

from sync.machine import ChannelId, Nanos


class Timed(Protocol):
    """The machines of a channel."""

    def deadline(self) -> Nanos | None:
        """Return when they next need a tick; None while nothing waits on time."""


class Deadlines:
    """See the module docstring. `groups` is the live table of the channels' machines."""

    def __init__(self, groups: Mapping[ChannelId, Timed]) -> None:
        self._groups = groups
        self._due: dict[ChannelId, Nanos] = {}
        self._changed: set[ChannelId] = set()

    def changed(self, channel: ChannelId) -> None:
        """A channel's machines handled something, are others now, or are gone."""
        self._changed.add(channel)

    def first(self) -> Nanos | None:
        """Return when the first of them needs a tick; None while nothing waits on time."""
        self._ask_changed()
        return min(self._due.values(), default=None)

    def due(self, now: Nanos) -> list[ChannelId]:
        """Return the channels whose machines need a tick by now, in the order of the table."""
        self._ask_changed()
        due = self._due
        return [one for one in self._groups if one in due and due[one] <= now]

    def _ask_changed(self) -> None:
        for channel in self._changed:
            self._ask(channel)
        self._changed.clear()

    def _ask(self, channel: ChannelId) -> None:
        group = self._groups.get(channel)
        due = None if group is None else group.deadline()
        if due is None:
            self._due.pop(channel, None)
        else:
            self._due[channel] = due
