"""The time of a world: what happens when, from one heap of events."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, TypeAlias

from sync.machine import SECOND, Nanos

EPOCH: Nanos = 1_763_700_000 * SECOND
"""When a world begins: a morning in November 2025."""

Action: TypeAlias = Callable[[Any, Any], None]
"""An event, called with two things known when it was planned. Millions of these are planned in
a run: a pair is far cheaper than a closure."""


class Timeline:
    """Events in the order of their times; of one time, in the order they were planned."""

    def __init__(self, now: Nanos) -> None:
        self.now = now
        self._events: list[tuple[Nanos, int, Action, Any, Any]] = []
        self._planned = 0

    def plan(self, at: Nanos, action: Action, one: object = None, other: object = None) -> None:
        """Let `action(one, other)` happen at `at`, or now where that is past."""
        self._planned += 1
        if at < self.now:  # noqa: PLR1730  # `max` costs as much as all the rest
            at = self.now
        heappush(self._events, (at, self._planned, action, one, other))

    def call(self, at: Nanos, what: Callable[[], None]) -> None:
        """Let `what` be called at `at`."""
        self.plan(at, _call, what)

    @property
    def next_at(self) -> Nanos | None:
        """Time of the next event; None if nothing is planned."""
        return self._events[0][0] if self._events else None

    def step(self) -> None:
        """Let the next event happen."""
        self.now, _, action, one, other = heappop(self._events)
        action(one, other)

    def run(self, until: Nanos) -> None:
        """Let everything up to `until` happen."""
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, action, one, other = heappop(events)
            action(one, other)
        self.now = until


def _call(what: Callable[[], None], _: object) -> None:
    what()
