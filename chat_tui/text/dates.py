"""Days and times as people write them, as moments of the local clock."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from sync.machine import SECOND, Nanos

ISO: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
DOTTED: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})?")
CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})")
DAYS_AGO: Final = {"today": 0, "yesterday": 1}
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def moment(text: str, now: Nanos) -> Nanos | None:
    """Return the moment `text` means, None if it is no date or time.

    A day begins at midnight. A time alone is the last one that has been: 14:30 of today, or of
    yesterday. A day without a year is the last one that has been.

    Args:
        text: `2026-11-21`, `21.11.`, `21.11.2026`, `today`, `yesterday`, `friday`, `14:30`, or a
            day and a time
        now: the local time
    """
    local = datetime.fromtimestamp(now // SECOND, tz=UTC).astimezone()
    *days, last = text.casefold().split() or [""]
    clock = CLOCK.fullmatch(last)
    if clock is None:
        days.append(last)
    if len(days) > 1:
        return None
    try:
        day = _day(days[0], local) if days else local
        if day is None:
            return None
        hours, minutes = (int(clock[1]), int(clock[2])) if clock else (0, 0)
        found = day.replace(hour=hours, minute=minutes, second=0, microsecond=0, tzinfo=None)
        if not days and found > local.replace(tzinfo=None):
            found -= timedelta(days=1)
        return int(found.astimezone().timestamp()) * SECOND
    except (ValueError, OverflowError):
        return None


def _day(text: str, local: datetime) -> datetime | None:
    """Return a day by its name or number.

    Raises:
        ValueError: no calendar has it.
    """
    if text in DAYS_AGO:
        return local - timedelta(days=DAYS_AGO[text])
    if text in WEEKDAYS:
        back = (local.weekday() - WEEKDAYS.index(text)) % 7
        return local - timedelta(days=back)
    if iso := ISO.fullmatch(text):
        return local.replace(year=int(iso[1]), month=int(iso[2]), day=int(iso[3]))
    dotted = DOTTED.fullmatch(text)
    if dotted is None:
        return None
    day, month = int(dotted[1]), int(dotted[2])
    if dotted[3]:
        return local.replace(year=int(dotted[3]), month=month, day=day)
    this_year = local.replace(month=month, day=day)
    return this_year if this_year <= local else this_year.replace(year=local.year - 1)


def day_after(begin: Nanos) -> Nanos:
    """Return the midnight after a moment; a day that clocks change in has 23 hours, or 25."""
    local = datetime.fromtimestamp(begin // SECOND, tz=UTC).astimezone().replace(tzinfo=None)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return int(midnight.astimezone().timestamp()) * SECOND
