"""Display options of the transcript from the settings: time format, ticks, density, names, days."""

from dataclasses import dataclass
from typing import Final

from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import DAY_SEPARATORS, DENSITY, NICK_WIDTH, TICKS, TIME_FORMAT
from chat_tui.text.times import time_of_day, twelve_hours
from sync.machine import HOUR, Nanos
from sync.sds.message import Delivery
from sync.view.view import Line

TICK_FOR: Final[Nanos] = 24 * HOUR
"""Time for which a message says that it was received, with `ticks = recent`."""


@dataclass(frozen=True, slots=True)
class Taste:
    """Display options of rows; the defaults are those of the settings."""

    nick_cells: int = NICK_WIDTH.default
    cosy: bool = False
    twelve: bool = False
    days: bool = True
    ticks: str = TICKS.default

    @property
    def time_cells(self) -> int:
        """Cells of the time of day and the space behind it."""
        return len("12:59pm " if self.twelve else "23:59 ")

    def time(self, when: Nanos) -> str:
        """Return a time of day, always as wide."""
        return f"{twelve_hours(when):>7}" if self.twelve else time_of_day(when)

    def ticked(self, line: Line, now: Nanos) -> bool:
        """Return whether a message still shows its received tick; any other mark always shows."""
        if line.parked or line.delivery is not Delivery.ACKNOWLEDGED or self.ticks == "always":
            return True
        return self.ticks == "recent" and now - line.created_ns < TICK_FOR


def taste_of(settings: Preferences) -> Taste:
    """Return what the settings say of it."""
    return Taste(
        nick_cells=settings[NICK_WIDTH],
        cosy=settings[DENSITY] == "cosy",
        twelve=settings[TIME_FORMAT] == "12h",
        days=settings[DAY_SEPARATORS],
        ticks=settings[TICKS],
    )
