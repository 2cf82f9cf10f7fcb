"""Settings on the screen: what each change does there, at the start and whenever it is made."""

from chat_tui.model.event_feed import PAINT_EVERY_S, PAINT_SELDOM_S
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import (
    LOW_BANDWIDTH,
    MOUSE,
)
from chat_tui.terminal.driver import Terminal


def pace_of(settings: Preferences) -> float:
    """Return seconds from one paint to the next."""
    return PAINT_SELDOM_S if settings[LOW_BANDWIDTH] else PAINT_EVERY_S


def hear_mouse(driver: object, settings: Preferences) -> None:
    """Hear the mouse, or leave it to the terminal."""
    if isinstance(driver, Terminal):
        driver.hear_mouse(on=settings[MOUSE])
