"""Settings on the screen: what each change does there, at the start and whenever it is made."""

from collections.abc import Mapping
from typing import Any, Final

from textual.binding import Binding, BindingType

from chat_tui.keys.names import as_sent, names_of
from chat_tui.keys.places import Place
from chat_tui.keys.table import BY_ID, KEYS
from chat_tui.model.event_feed import PAINT_EVERY_S, PAINT_SELDOM_S
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import (
    GLYPHS,
    KEY_SETTINGS,
    LOW_BANDWIDTH,
    MOUSE,
    Setting,
)
from chat_tui.terminal.driver import Terminal
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs

CHARACTER_SETS: Final = {"unicode": UNICODE, "ascii": ASCII}


def bindings_of(*places: Place) -> list[BindingType]:
    """Return the rows of the table of keys for some places, as Textual binds them."""
    return [
        Binding(
            as_sent(row.keys), row.action, row.label, show=False, priority=row.priority, id=row.id
        )
        for row in KEYS
        if row.place in places
    ]


def heard_as(action: str, *ids: str, priority: bool = False) -> list[BindingType]:
    """Return rows of the table that a screen of its own hears too, with what they do there."""
    return [
        Binding(as_sent(BY_ID[id_].keys), action, show=False, priority=priority, id=id_)
        for id_ in ids
    ]


def keymap_of(settings: Preferences) -> dict[str, str]:
    """Return the keys a person changed, as Textual's keymap has them."""
    keys = settings.keys()
    changed = {id_: keys[id_] for id_, row in KEY_SETTINGS.items() if keys[id_] != row.default}
    return {id_: as_sent(",".join(chosen)) for id_, chosen in changed.items()}


def names_of_keys(settings: Preferences, setting: Setting[Any]) -> str:
    """Return the keys of a setting as they stand on keyboards."""
    return names_of(settings[setting])


def glyphs_of(settings: Preferences, usual: Glyphs) -> Glyphs:
    """Return the signs to draw with; `usual` are those of this terminal."""
    return CHARACTER_SETS.get(settings[GLYPHS], usual)


def usual_glyphs(environment: Mapping[str, str]) -> Glyphs:
    """Return the signs that this terminal surely has.

    Where nothing is said of the locale, everything of today is UTF-8; the fonts of a Linux console
    have 256 signs, and ours are not among them.
    """
    names = (environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    locale = next((name for name in names if name), "UTF-8")
    utf8 = locale.casefold().replace("-", "").partition("@")[0].endswith("utf8")
    return UNICODE if utf8 and environment.get("TERM") != "linux" else ASCII


def pace_of(settings: Preferences) -> float:
    """Return seconds from one paint to the next."""
    return PAINT_SELDOM_S if settings[LOW_BANDWIDTH] else PAINT_EVERY_S


def hear_mouse(driver: object, settings: Preferences) -> None:
    """Hear the mouse, or leave it to the terminal."""
    if isinstance(driver, Terminal):
        driver.hear_mouse(on=settings[MOUSE])
