"""Times, durations, sizes and counts as text."""

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos

_YEAR_9999: Final[Nanos] = 253_000_000_000 * SECOND
"""Near the end of what a calendar date can say; an author may claim any 64-bit time."""


DAY: Final[Nanos] = 24 * HOUR


KILOBYTE: Final = 1000


def _local(when: Nanos) -> datetime:
    clamped = min(max(when, 0), _YEAR_9999)
    return datetime.fromtimestamp(clamped // SECOND, tz=UTC).astimezone()


def time_of_day(when: Nanos) -> str:
    """Return hours and minutes on this computer's clock, as `09:15`."""
    return f"{_local(when):%H:%M}"


def to_the_second(when: Nanos) -> str:
    """Return hours, minutes and seconds on this computer's clock, as `09:15:02`."""
    return f"{_local(when):%H:%M:%S}"


def twelve_hours(when: Nanos) -> str:
    """Return hours and minutes in the halves of the day, as `5:15pm`."""
    local = _local(when)
    return f"{local.hour % 12 or 12}:{local:%M}{'am' if local.hour < 12 else 'pm'}"  # noqa: PLR2004


def minute_of_day(when: Nanos) -> int:
    """Return how many minutes of the local day have passed."""
    local = _local(when)
    return local.hour * 60 + local.minute


def day_of(when: Nanos) -> str:
    """Return the local day, as `Friday, 21 November 2025`."""
    return _day_at(when // MINUTE, time.tzname)


@lru_cache(maxsize=2048)
def _day_at(minute: int, _zone: tuple[str, str]) -> str:
    """Return the day of a minute since 1970, kept: each line that arrives is asked for its own."""
    local = _local(minute * MINUTE)
    return f"{local:%A}, {local.day} {local:%B %Y}"


def day_and_time(when: Nanos) -> str:
    """Return the local day and time, as `21 Nov 2025, 09:15`."""
    local = _local(when)
    return f"{local.day} {local:%b %Y, %H:%M}"


def since(then: Nanos, now: Nanos, *, short: bool = False) -> str:
    """Return a moment that has been: `14:02` of today, else its day, as `21 Nov, 14:02`.

    Args:
        then: the moment.
        now: tells which day is today.
        short: of another day without the time, as `21 Nov`.
    """
    local, today = _local(then), _local(now)
    if local.date() == today.date():
        return f"{local:%H:%M}"
    day = f"{local.day} {local:%b}"
    if local.year != today.year:
        return f"{local:%b %Y}" if short else f"{day} {local.year}"
    return day if short else f"{day}, {local:%H:%M}"


def span(length: Nanos) -> str:
    """Return a length of time in its largest whole unit, as `12 s`; less than nothing is `0 s`."""
    for unit, name in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if length >= unit:
            return f"{length // unit} {name}"
    return f"{max(length, 0) // SECOND} s"


def milliseconds(length: Nanos) -> str:
    """Return a short length of time, as `2 ms`, or `0.4 ms` below ten."""
    exact = length / MILLISECOND
    return f"{exact:.1f} ms" if abs(exact) < 10 else f"{exact:.0f} ms"  # noqa: PLR2004


def duration(length: Nanos) -> str:
    """Return what something took, as `40 ms`, `4.6 s` or `2 min`."""
    if length < SECOND:
        return milliseconds(length)
    return f"{length / SECOND:.1f} s" if length < 10 * SECOND else span(length)


def size(length: int) -> str:
    """Return a number of bytes, as `188 B`, `34.8 kB`, `1.2 MB` or `48.2 GB`."""
    if length < KILOBYTE:
        return f"{length:,} B"
    number, unit = length / KILOBYTE, "kB"
    for larger in ("MB", "GB"):
        if number >= KILOBYTE:
            number, unit = number / KILOBYTE, larger
    return f"{number:,.1f} {unit}"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return `number` with its noun, as `1 message` or `3 messages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def times(number: int) -> str:
    """Return how often, as `once`, `twice` or `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
