"""Departures from the buffers of a channel: what left them, when, and after how long.

They follow from notes of happenings (`sync.view.happenings`), when somebody looks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.message_infos import Note, Noticed, What

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
    ACKNOWLEDGED = "acknowledged"
    """It is ours, and somebody proved to have it."""
    FAILED = "failed"
    """It is ours, and nobody named it for too long."""


@dataclass(frozen=True, slots=True)
class DepartureInfo:
    """One departure. `at` is by the engine's clock, as in a snapshot."""

    message_id: MessageId
    how: Left
    at: Nanos
    since: Nanos | None = None
    """When it entered the buffer; None if that is not remembered."""
    by: PeerId | None = None
    """From whom it came, if it was missing; None where that is not remembered."""
    resent: int = 0
    """Number of times that an own one was sent again by then."""

    @property
    def took(self) -> Nanos | None:
        """Time it was in the buffer."""
        return None if self.since is None else self.at - self.since


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
