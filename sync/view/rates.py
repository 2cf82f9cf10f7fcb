"""Frames and bytes of the last minute, by second, kind and way; counted only while somebody looks.

Rules:
1. Whoever asks keeps the counting going for a few seconds; while nobody does, a frame costs one
   comparison.
2. What passed before is made up from the frames that are kept (`sync.view.frame_tap`).
"""

from collections import deque
from collections.abc import Collection, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from sync.errors import DecodeError
from sync.machine import SECOND, Nanos
from sync.sds.message import WAKU_LIMITS, Kind
from sync.sds.wire import decode
from sync.view.view import FrameInfo, FrameKind

SECONDS: Final = 60
"""Of the past that is counted."""

WATCHED_FOR: Final[Nanos] = 5 * SECOND
"""Time for which frames are counted after somebody looked: a slow screen looks every two."""


class Sort(Enum):
    """Kinds of frames as they are counted: those of SDS are told apart by what they are for."""

    MESSAGE = "MSG"
    REPAIR = "REPAIR"
    SYNC = "SYNC"
    EPHEMERAL = "EPH"
    SESSION = "SESSION"
    PUSH = "PUSH"
    LOGS = "LOGS"
    OP = "OP"
    HEADS = "HEADS"
    OPS = "OPS"
    STATE = "STATE"
    ROOT = "ROOT"
    UNREADABLE = "BAD"


OTHERS: Final = {
    FrameKind.SESSION: Sort.SESSION,
    FrameKind.TRANSFER: Sort.PUSH,
    FrameKind.ANNOUNCE: Sort.LOGS,
    FrameKind.OP: Sort.OP,
    FrameKind.HEARTBEAT: Sort.HEADS,
    FrameKind.CATCH_UP: Sort.OPS,
    FrameKind.STATE: Sort.STATE,
    FrameKind.ROOT: Sort.ROOT,
}
"""Sorts of all frames but those of SDS."""


class Series(Struct, frozen=True):
    """Frames of one sort and way: how many in each of the last 60 seconds, oldest first."""

    sort: Sort
    sent: bool
    frames: tuple[int, ...]
    bytes: tuple[int, ...]


class RatesInfo(Struct, frozen=True):
    """The last minute: the series that are not empty; `since` is from when on all is counted."""

    now: Nanos
    since: Nanos
    series: tuple[Series, ...]


def summed(columns: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the seconds of several series added up; of none, a minute of nothing."""
    return tuple([sum(second) for second in zip(*columns, strict=True)]) or (0,) * SECONDS


class Rates:
    """Counts frames while it is looked at."""

    def __init__(self) -> None:
        self.watched_until: Nanos = 0
        """Until when frames are counted."""
        self._seconds: deque[tuple[int, dict[tuple[Sort, bool], list[int]]]] = deque(
            maxlen=SECONDS + 1
        )
        self._since: Nanos = 0

    def note_frame(self, frame: FrameInfo) -> None:
        """Count a frame."""
        second = frame.at // SECOND
        if not self._seconds or self._seconds[-1][0] < second:
            self._seconds.append((second, {}))
        counted = self._seconds[-1][1].setdefault((sort_of(frame), frame.sent), [0, 0])
        counted[0] += 1
        counted[1] += frame.size

    def look(self, now: Nanos, kept: Collection[FrameInfo]) -> RatesInfo:
        """Return the last minute, and go on counting; `kept` are the last frames, oldest first."""
        if now >= self.watched_until:
            self._begin(now, kept)
        self.watched_until = now + WATCHED_FOR
        return RatesInfo(now, max(self._since, now - SECONDS * SECOND), self._series(now))

    def _begin(self, now: Nanos, kept: Collection[FrameInfo]) -> None:
        self._seconds.clear()
        frames = [frame for frame in kept if frame.at > now - SECONDS * SECOND]
        is_all = not frames or frames[0].number == 1 or len(frames) < len(kept)
        self._since = now - SECONDS * SECOND if is_all else frames[0].at
        for frame in frames:
            self.note_frame(frame)

    def _series(self, now: Nanos) -> tuple[Series, ...]:
        first = now // SECOND - SECONDS + 1
        cells: dict[tuple[Sort, bool], list[list[int]]] = {}
        for second, counted in self._seconds:
            if not 0 <= second - first < SECONDS:
                continue
            for key, (frames, size) in counted.items():
                series = cells.setdefault(key, [[0] * SECONDS, [0] * SECONDS])
                series[0][second - first] += frames
                series[1][second - first] += size
        order = list(Sort)
        keys = sorted(cells, key=lambda key: (order.index(key[0]), key[1]))
        return tuple([Series(*key, tuple(cells[key][0]), tuple(cells[key][1])) for key in keys])


def sort_of(frame: FrameInfo) -> Sort:
    """Return what a frame is counted as."""
    if frame.kind is not FrameKind.SDS:
        return OTHERS[frame.kind]
    try:
        message = decode(frame.data, WAKU_LIMITS)
    except DecodeError:
        return Sort.MESSAGE if len(frame.data) < frame.size else Sort.UNREADABLE
    if message.kind is Kind.EPHEMERAL:
        return Sort.EPHEMERAL
    if message.kind is Kind.SYNC:
        return Sort.SYNC
    if not frame.sent and frame.peer not in (None, message.sender_id):
        return Sort.REPAIR
    return Sort.MESSAGE
