"""Rows of the key table as Textual binds them, with the keys that a person chose."""

from typing import Any

from textual.binding import Binding, BindingType

from chat_tui.keys.names import as_sent, names_of
from chat_tui.keys.places import Place
from chat_tui.keys.table import BY_ID, KEYS
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import KEY_SETTINGS, Setting


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
