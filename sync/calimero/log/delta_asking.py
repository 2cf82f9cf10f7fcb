"""Requests of delta sync, kept so that entries which nobody asked for are known as such.

Asked for are the ids that were named, and everything that a filter of ours covers and does not
have. A peer that sends anything else is refused. What another session brings is put off: it is
asked for once nobody brings it any more, or nothing else is left to ask for.
"""

from collections.abc import Iterable
from typing import Final

from sync.calimero.log.delta_filter import IdFilter
from sync.calimero.log.delta_messages import (
    FILTER_IDS_MAX,
    LAMPORT_MAX,
    NEAR_MAX,
    WALK_MAX,
    WANTED_MAX,
    BloomFilter,
    Stretch,
    Want,
)
from sync.calimero.log.delta_view import DeltaView
from sync.machine import MessageId

NEAR_FIRST: Final = 16
"""Messages of ours below a gap that are told about it at first; twice as many each later time. So
a gap of any length that is one stretch for us too is told whole."""

NEAR_LAST: Final = 4_096
"""The same at most."""

NEAR_IDS_MAX: Final = FILTER_IDS_MAX // 2
"""Messages of ours that all stretches of a message tell about."""

NEAR_WITH_FILTER: Final = 8
"""Stretches that go out with the first filter. Of more gaps, most are a message long: which ones
are not, the next turn knows."""


class DeltaAsking:
    """See the module docstring."""

    def __init__(self, log: DeltaView) -> None:
        self._log = log
        self._floor = LAMPORT_MAX
        self._filter = IdFilter()
        self._wanted: dict[bytes, int | None] = {}
        """Ids wanted and not yet asked for, each with the place of a message that names it."""
        self._put_off: dict[bytes, int | None] = {}
        """The same of those that other sessions bring."""
        self._asked: set[bytes] = set()
        self._near: tuple[Stretch, ...] = ()
        """Stretches told in our last turn."""
        self._count = NEAR_FIRST
        self.taken: set[bytes] = set()
        """Ids that the other end sent."""

    def want(self, message_id: bytes, named_at: int | None = None) -> None:
        """Ask for a message that is not here; `named_at`: Lamport timestamp of who names it."""
        if message_id in self._asked or self.asked + len(self._wanted) >= WALK_MAX:
            return
        if message_id not in self._wanted and self._log.comes(message_id):
            if len(self._put_off) < WALK_MAX:
                self._put_off.setdefault(message_id, named_at)
            return
        self._put_off.pop(message_id, None)
        self._wanted.setdefault(message_id, named_at)

    @property
    def asked(self) -> int:
        """Number of ids asked for so far."""
        return len(self._asked)

    @property
    def waits(self) -> bool:
        """True if nothing is wanted but what other sessions bring."""
        if self._wanted or not self._put_off:
            return False
        left = [one for one in self._put_off if not self._log.holds(one)]
        return bool(left) and all(self._log.comes(one) for one in left)

    @property
    def put_off(self) -> frozenset[MessageId]:
        """Ids that other sessions bring."""
        return frozenset([MessageId(one.hex()) for one in self._put_off])

    def first(self, floor: int) -> BloomFilter:
        """Return our filter from `floor` on, and what is wanted so far.

        Of more messages than one filter takes, it has the newest.
        """
        self._floor = max(floor, self._log.floor_of(FILTER_IDS_MAX, LAMPORT_MAX))
        held = [one for _, one in self._log.between(self._floor, LAMPORT_MAX, FILTER_IDS_MAX)]
        self._filter = IdFilter.of(held)
        return BloomFilter(self._floor, self._filter, *self._take(NEAR_WITH_FILTER))

    def next(self) -> Want:
        """Return what is wanted by now."""
        self._recall()
        return Want(*self._take(NEAR_MAX))

    def is_answer(self, lamport: int, message_id: bytes) -> bool:
        """Return whether we asked for a message, and did not get it yet."""
        if message_id in self.taken:
            return False
        return (
            message_id in self._asked
            or (lamport >= self._floor and message_id not in self._filter)
            or any(one.lacks(lamport, message_id) for one in self._near)
        )

    def _recall(self) -> None:
        """Want what was put off and nobody brings; if nothing else is wanted, all of it."""
        last = not self._wanted
        for message_id, named_at in list(self._put_off.items()):
            if self._log.holds(message_id):
                del self._put_off[message_id]
            elif last or not self._log.comes(message_id):
                del self._put_off[message_id]
                self._wanted[message_id] = named_at

    def _take(self, stretches_max: int) -> tuple[tuple[bytes, ...], tuple[Stretch, ...]]:
        """Return the next ids to ask for, and what we hold around them if that is short."""
        ids = list(self._wanted)[:WANTED_MAX]
        places = {self._wanted.pop(one) for one in ids}
        self._asked.update(ids)
        bounds = self._bounds(sorted(one for one in places if one is not None))
        near: tuple[Stretch, ...] = ()
        if 0 < len(bounds) <= stretches_max:
            near = self._stretches(bounds)
            self._count = min(2 * self._count, NEAR_LAST)
        self._near = near
        return tuple(sorted(ids)), near

    def _bounds(self, places: Iterable[int]) -> list[tuple[int, int]]:
        """Return where to tell what is held below these places, rising; those that meet are one.

        Above the floor the filter tells it.
        """
        bounds: list[tuple[int, int]] = []
        for until in places:
            floor = self._log.floor_of(self._count, until)
            until = min(until, self._floor)  # noqa: PLW2901
            if floor >= until:
                continue
            if bounds and floor <= bounds[-1][1]:
                floor = bounds.pop()[0]
            bounds.append((floor, until))
        return bounds

    def _stretches(self, bounds: Iterable[tuple[int, int]]) -> tuple[Stretch, ...]:
        """Return what is held in each; nothing if that is too much for one message."""
        near: list[Stretch] = []
        left = NEAR_IDS_MAX
        for floor, until in bounds:
            held = [one for _, one in self._log.between(floor, until, left + 1)]
            left -= len(held)
            if left < 0:
                return ()
            near.append(Stretch(floor, until, IdFilter.of(held)))
        return tuple(near)
