"""Names of keys, on keyboards and in files, and which of them can be used where.

A key can be used only if every common terminal really sends it, and if nothing that has the keys
there needs it (see `undeliverable`).
"""

import re
from collections.abc import Iterable
from typing import Final

from chat_tui.keys.places import FIXED, Place
from sync.errors import LocalError

LETTERS_TAKEN: Final = {"b": "Ctrl+Left", "f": "Ctrl+Right"}
"""Codes that terminals make of Alt and a letter: the old keys for words of a shell."""

CTRL_TAKEN: Final = {
    "i": "Tab",
    "m": "Enter",
    "j": "a new line",
    "h": "Backspace, in many terminals",
    "left_square_bracket": "Esc",
}
SIGNS: Final = {
    "question_mark": "?", "slash": "/", "plus": "+", "minus": "-", "equals_sign": "=",
    "full_stop": ".", "colon": ":", "semicolon": ";", "exclamation_mark": "!", "number_sign": "#",
    "underscore": "_", "asterisk": "*", "less_than_sign": "<", "greater_than_sign": ">",
    "left_square_bracket": "[", "right_square_bracket": "]", "comma": ",",
}  # fmt: skip
"""Keys that are signs, which stand alone only where nothing is written.

A comma separates keys, so its own is written as a word.
"""

NAMES: Final = {"pageup": "PgUp", "pagedown": "PgDn", "escape": "Esc", "delete": "Del", **SIGNS}
"""Names of keys on keyboards, if Textual has another one."""

ESSENTIAL: Final = frozenset({"enter", "tab", "shift+tab", "up", "down", "left", "right"})
"""Keys of the input and of lists, which would not work without them."""

EDITING: Final = frozenset({
    "ctrl+a", "ctrl+c", "ctrl+d", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+v", "ctrl+w", "ctrl+x",
    "ctrl+y", "ctrl+z", "ctrl+left", "ctrl+right", "home", "end", "delete", "backspace", "f7",
    "alt+backspace", "alt+delete", "ctrl+backspace",
})  # fmt: skip
"""Keys that the input handles before anybody else hears of them; a test compares them with it."""

NAMED: Final = frozenset({
    "escape", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert",
    "delete", "backspace", "enter", "tab", "space",
})  # fmt: skip
FUNCTION: Final = r"(?:shift\+)?f(?:[1-9]|1[0-2])"
LETTER: Final = "[a-z]"
BARE: Final = "[a-zA-Z0-9]"
MODIFIED: Final = r"((?:(?:ctrl|alt|shift)\+)+)(.+)"


def undeliverable(key: str, place: Place = Place.EVERYWHERE) -> str:
    """Return why a key cannot be used in a place, as a sentence; empty if it can."""
    said = name_of(key)
    if place.is_of_chat and key in EDITING:
        return f"{said} edits what is being written."
    if key in FIXED.get(place, ()):
        return f"{said} is needed {place.value} for what has the keys there."
    if re.fullmatch(FUNCTION, key):
        return ""
    if place is Place.FIND and (len(key) == 1 or key in SIGNS or key == "space"):
        return _bare(key, said)
    if not place.is_of_chat:
        if key in NAMED | ESSENTIAL | SIGNS.keys() or re.fullmatch(BARE, key):
            return ""
        if len(key) == 1:
            return f"{said} is not on every keyboard: take a letter, a digit or a sign."
    elif key in ESSENTIAL:
        return f"{said} is needed for writing and for lists."
    found = re.fullmatch(MODIFIED, key)
    if found is None:
        return "" if key in NAMED - {"backspace", "delete", "space"} else _bare(key, said)
    modifiers, base = set(found[1].rstrip("+").split("+")), found[2]
    if base in NAMED:
        return _named(modifiers, base, said)
    if not re.fullmatch(LETTER, base):
        return f"{said} is sent by hardly any terminal as such: take Ctrl or Alt and a letter."
    if modifiers == {"ctrl"} and base in CTRL_TAKEN:
        return f"Terminals send the same for {said} as for {CTRL_TAKEN[base]}."
    if modifiers == {"alt"} and base in LETTERS_TAKEN:
        return f"Terminals send the same for {said} as for {LETTERS_TAKEN[base]}."
    if modifiers not in ({"ctrl"}, {"alt"}):
        return f"Most terminals cannot send {said}: take Ctrl or Alt and a letter."
    return ""


def _named(modifiers: set[str], base: str, said: str) -> str:
    """Judge a key with a name that is pressed together with others."""
    if base in {"enter", "tab", "escape", "backspace", "space"}:
        return f"Many terminals send the same for {said} as for {name_of(base)}."
    if "shift" in modifiers:
        return f"{said} selects text in the input."
    return ""


def _bare(key: str, said: str) -> str:
    if len(key) == 1 or key in {"space", "backspace", "delete"}:
        return f"{said} is needed for writing: take it with Ctrl or Alt, or a function key."
    return f"Unknown key {said}; `chat-tui keys` shows the name of each key."


def as_sent(keys: str) -> str:
    """Return keys with those that terminals send instead: F14 where Shift+F2 was pressed."""
    every = keys.split(",")
    shifted = [int(key.removeprefix("shift+f")) for key in every if key.startswith("shift+f")]
    return ",".join([*every, *[f"f{number + 12}" for number in shifted]])


def parse_keys(text: str, place: Place = Place.EVERYWHERE) -> tuple[str, ...]:
    """Return keys of a place as they are kept, of what a person writes: `F5, Alt+R`.

    Raises:
        LocalError: one cannot be used; says why.
    """
    keys = [_as_kept(word.strip()) for word in text.split(",") if word.strip()]
    if not keys:
        raise LocalError("Name a key, as f12 or alt+r; /set with reset restores the default.")
    for key in keys:
        if problem := undeliverable(key, place):
            raise LocalError(f"{problem} Choose another key.")
    return tuple(dict.fromkeys(keys))


def _as_kept(word: str) -> str:
    """Return the key that was written; of a lone letter, Shift makes another one."""
    if len(word) == 1:
        return FROM_NAMES.get(word, word)
    key = word.casefold().replace("control+", "ctrl+")
    return FROM_NAMES.get(key, key)


FROM_NAMES: Final = {
    "pgup": "pageup",
    "pgdn": "pagedown",
    "esc": "escape",
    "del": "delete",
    **{sign: key for key, sign in SIGNS.items()},
}


def name_of(key: str) -> str:
    """Return a key as it stands on keyboards: `Alt+H` of `alt+h`, and `n` of `n` alone."""
    if len(key) == 1:
        return key
    parts = key.split("+")
    return "+".join(NAMES.get(part, part.capitalize()) for part in parts)


def names_of(keys: Iterable[str]) -> str:
    """Return keys as a person reads them: `F1 or Alt+H`."""
    return " or ".join(name_of(key) for key in keys)
