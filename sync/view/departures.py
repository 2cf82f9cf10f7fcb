"""Departures from the buffers of a channel: what left them, when, and after how long.

They follow from notes of happenings (`sync.view.happenings`), when somebody looks.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from enum import Enum
from typing import Final

from msgspec import Struct

from sync.errors import DecodeError
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import WAKU_LIMITS, Delivery
from sync.sds.wire import decode
from sync.view.message_infos import Note, Noticed, What
from sync.view.view import FrameInfo, FrameKind

DEPARTURES_MAX: Final = 200
"""Departures that are told: enough for a shape of times, and a screen of each kind."""


class Left(Enum):
    """Ways to leave a buffer."""

    FOUND = "found"
    """It was missing, and came."""
    LOST = "lost"
    """It was missing, and is given up."""
    SHOWN = "shown"
    """It waited for a message it builds on."""
    ANSWERED = "answered"
    """Somebody asked for it, and got it from us."""
    FORESTALLED = "answered by somebody else"
    """Somebody asked for it, and got it from somebody else before us."""
    ACKNOWLEDGED = "acknowledged"
    """It is ours, and somebody proved to have it."""
    FAILED = "failed"
    """It is ours, and nobody named it for too long."""


class DepartureInfo(Struct, frozen=True):
    """One departure. `at` is by the engine's clock, as in a snapshot."""

    message_id: MessageId
    how: Left
    at: Nanos
    since: Nanos | None = None
    """When it entered the buffer; None if that is not remembered."""
    by: PeerId | None = None
    """From whom it came, if it was missing or others answered; None if that is not remembered."""
    asked: int = 0
    """Number of times that we asked for it, as far as kept frames tell."""
    resent: int = 0
    """Number of times that an own one was sent again by then."""

    @property
    def took(self) -> Nanos | None:
        """Time it was in the buffer."""
        return None if self.since is None else self.at - self.since


def times_asked(frames: Iterable[FrameInfo], ids: Collection[MessageId]) -> Counter[MessageId]:
    """Return how often we asked for messages, in repair requests among kept frames."""
    asked: Counter[MessageId] = Counter()
    wanted = {message_id: message_id.encode() for message_id in ids}
    for frame in frames:
        if frame.sent and frame.kind is FrameKind.SDS:
            named = [one for one, text in wanted.items() if text in frame.data]
            if named:
                requested = _requested(frame)
                asked.update([one for one in named if one in requested])
    return asked


def _requested(frame: FrameInfo) -> set[MessageId]:
    try:
        message = decode(frame.data, WAKU_LIMITS)
    except DecodeError:  # only its beginning is kept
        return set()
    return {entry.message_id for entry in message.repair_request}


def departures(notes: Iterable[Note], channel: ChannelId) -> list[DepartureInfo]:
    """Return the last departures of a channel, newest first; `notes` come oldest first."""
    left: list[DepartureInfo] = []
    missing: dict[MessageId, Nanos] = {}
    waiting: dict[str, Nanos] = {}
    written: dict[MessageId, Nanos] = {}
    resent: dict[MessageId, int] = {}
    for at, of, message_id, what, more in notes:
        if of != channel:
            continue
        match what:
            case What.MISSING:
                missing.setdefault(message_id, at)
                if isinstance(more, tuple):
                    waiting.setdefault(Noticed(*more).named_by, at)
            case What.FOUND | What.LOST:
                how = Left.FOUND if what is What.FOUND else Left.LOST
                left.append(DepartureInfo(message_id, how, at, missing.pop(message_id, None)))
            case What.DELIVERED if message_id in waiting:
                left.append(DepartureInfo(message_id, Left.SHOWN, at, waiting.pop(message_id)))
            case What.ANSWERED:
                left.append(DepartureInfo(message_id, Left.ANSWERED, at))
            case What.WRITTEN:
                written[message_id] = at
            case What.RESENT:
                resent[message_id] = resent.get(message_id, 0) + 1
            case What.MARKED if more in ENDS and isinstance(more, Delivery):
                since, again = written.pop(message_id, None), resent.pop(message_id, 0)
                left.append(DepartureInfo(message_id, ENDS[more], at, since, resent=again))
            case _:
                pass
    return left[: -DEPARTURES_MAX - 1 : -1]


ENDS: Final = {Delivery.ACKNOWLEDGED: Left.ACKNOWLEDGED, Delivery.FAILED: Left.FAILED}
"""Marks with which an own message leaves its buffer."""
