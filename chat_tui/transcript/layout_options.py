"""Display options of the transcript from the settings: times, ticks, names, days, markup, folds."""

import os
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import (
    DAY_SEPARATORS,
    DENSITY,
    FOLD_LINES,
    HYPERLINKS,
    LOW_BANDWIDTH,
    MARKUP,
    NICK_WIDTH,
    TICKS,
    TIME_FORMAT,
)
from chat_tui.text.times import time_of_day, twelve_hours
from sync.machine import HOUR, Nanos
from sync.sds.message import Delivery
from sync.view.view import Line

TICK_FOR: Final[Nanos] = 24 * HOUR
"""Time for which a message says that it was received, with `ticks = recent`."""


class Taste(Struct, frozen=True):
    """Display options of rows; the defaults are those of the settings."""

    nick_cells: int = NICK_WIDTH.default
    cosy: bool = False
    twelve: bool = False
    days: bool = True
    ticks: str = TICKS.default
    markup: bool = True
    fold: int = FOLD_LINES.default
    """Lines of the screen beyond which a text is folded; 0 folds none."""
    hyperlinks: bool = False
    """True if the terminal is told where addresses lead (OSC 8)."""

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


WITHOUT_LINKS: Final = frozenset({"linux", "dumb", "eterm-color"})
"""Terminals (`TERM`) that print some of a sequence that they do not know."""


def knows_links(environment: Mapping[str, str]) -> bool:
    """Return whether a terminal shows addresses that it is told of, or ignores them."""
    return environment.get("TERM", "dumb") not in WITHOUT_LINKS


def taste_of(settings: Preferences) -> Taste:
    """Return what the settings say of it."""
    hyperlinks = settings[HYPERLINKS] == "auto" and not settings[LOW_BANDWIDTH]
    return Taste(
        nick_cells=settings[NICK_WIDTH],
        cosy=settings[DENSITY] == "cosy",
        twelve=settings[TIME_FORMAT] == "12h",
        days=settings[DAY_SEPARATORS],
        ticks=settings[TICKS],
        markup=settings[MARKUP],
        fold=settings[FOLD_LINES],
        hyperlinks=hyperlinks and knows_links(os.environ),
    )
