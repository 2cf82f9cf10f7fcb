"""Every key that does something, by id: the table behind the screen, the help and `[keys]`.

Rules:
1. A key stands here only if every common terminal really sends it (see `undeliverable`).
2. Two keys that can be heard at the same moment never mean two things (see `conflicts`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sync.errors import LocalError


class Place(Enum):
    """Where a key is heard."""

    EVERYWHERE = "everywhere"
    CHAT = "outside the protocol's pane"
    INPUT = "while writing"
    READING = "while writing or reading"
    PANE = "in the protocol's pane"

    @property
    def moments(self) -> frozenset[str]:
        """Who may have the keys when one of this place is heard."""
        return MOMENTS[self]


MOMENTS: Final = {
    Place.EVERYWHERE: frozenset({"input", "transcript", "pane"}),
    Place.CHAT: frozenset({"input", "transcript"}),
    Place.INPUT: frozenset({"input"}),
    Place.READING: frozenset({"input", "transcript"}),
    Place.PANE: frozenset({"pane"}),
}


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that keys do: `keys` as Textual names them, with commas between."""

    id: str
    keys: str
    action: str
    label: str
    """For lists: what it does, as short as a button's title."""
    place: Place = Place.EVERYWHERE
    priority: bool = False
    """Whether it goes before what the widget in focus would do with it."""


PANE_TABS: Final = ("Buffers", "Causal", "Bloom", "Sync", "Wire", "Trace")
"""What the tabs of the pane are called; `chat_tui.pane.tabs` is imported only with it."""

KEYS: Final = (
    Key("quit", "ctrl+q", "quit", "Quit", priority=True),
    Key("help", "f1,alt+h", "help", "Help"),
    Key("debug", "f2,alt+p", "debug", "Protocol"),
    Key("debug_full", "shift+f2,alt+o", "debug_full", "Protocol on the whole screen"),
    Key("peers", "f3,alt+n", "peers", "Peers"),
    Key("demo", "f4,alt+d", "demo", "Demo"),
    Key("reconcile", "f5", "submit('/sync')", "Compare histories now"),
    # F6 marks a line in Textual
    Key("settings", "f6,alt+c", "settings", "Settings", priority=True),
    Key("palette", "ctrl+p", "palette", "Commands", priority=True),
    Key("switch", "alt+k", "switch_channel", "Switch channel"),
    Key("close", "escape", "close", "Close", Place.CHAT),
    Key("next_active", "alt+a", "next_active", "Next channel with new messages"),
    Key("channel_up", "alt+up", "channel(-1)", "Channel above"),
    Key("channel_down", "alt+down", "channel(1)", "Channel below"),
    Key("debug_up", "alt+pageup", "page_debug(-1)", "Protocol: further up"),
    Key("debug_down", "alt+pagedown", "page_debug(1)", "Protocol: further down"),
    Key("select", "ctrl+t,alt+s", "select", "Select a message", Place.READING),
    Key("search", "ctrl+f", "search", "Search", Place.READING, priority=True),
    Key("unread", "alt+u", "unread", "First unread message", Place.READING),
    Key("bare", "f9", "bare", "Text without boxes, to copy", Place.READING),
    Key("read_up", "pageup", "app.read('up')", "Read further up", Place.INPUT),
    Key("read_down", "pagedown", "app.read('down')", "Read further down", Place.INPUT),
    Key("oldest", "ctrl+home", "app.read('oldest')", "Oldest message", Place.INPUT),
    Key("newest", "ctrl+end", "app.read('newest')", "Newest message", Place.INPUT),
    *[
        Key(f"pane_tab_{number}", str(number), f"tab({number})", f"Protocol: {name}", Place.PANE)
        for number, name in enumerate(PANE_TABS, start=1)
    ],
    Key("pane_tab_left", "left", "step(-1)", "Protocol: tab to the left", Place.PANE),
    Key("pane_tab_right", "right", "step(1)", "Protocol: tab to the right", Place.PANE),
    Key("pane_up", "up,k", "move(-1)", "Protocol: row above", Place.PANE),
    Key("pane_down", "down,j", "move(1)", "Protocol: row below", Place.PANE),
    Key("pane_page_up", "pageup", "page(-1)", "Protocol: a screen up", Place.PANE),
    Key("pane_page_down", "pagedown", "page(1)", "Protocol: a screen down", Place.PANE),
    Key("pane_first", "home", "edge(0)", "Protocol: first line", Place.PANE),
    Key("pane_last", "end", "edge(1)", "Protocol: last line", Place.PANE),
    Key("pane_open", "enter", "open", "Protocol: open the row", Place.PANE),
    Key("pane_details", "i", "details", "Protocol: details of the row", Place.PANE),
    Key("pane_freeze", "space", "freeze", "Protocol: freeze the display", Place.PANE),
    Key("pane_explain", "question_mark", "explain", "Protocol: terms and keys", Place.PANE),
    Key("pane_full", "f", "full", "Protocol: full screen", Place.PANE),
    Key("pane_sort", "s", "press('sort')", "Protocol: sort the buffers", Place.PANE),
    Key("pane_list", "t", "press('list')", "Protocol: graph as text", Place.PANE),
    Key("pane_newest", "n", "press('newest')", "Protocol: newest in the graph", Place.PANE),
    Key("pane_deeper", "plus,equals_sign", "press('deeper')", "Protocol: deeper graph", Place.PANE),
    Key("pane_shallower", "minus", "press('shallower')", "Protocol: shallower graph", Place.PANE),
    Key("pane_ask", "slash", "ask", "Protocol: filter, or test", Place.PANE),
    Key("pane_pause", "p", "press('pause')", "Protocol: pause the frames", Place.PANE),
    Key("pane_record", "r", "record", "Protocol: record the frames", Place.PANE),
    Key("pane_leave", "tab,shift+tab", "leave", "Protocol: back to writing", Place.PANE),
    Key("pane_back", "escape", "back", "Protocol: close what is open", Place.PANE),
)

BY_ID: Final = {key.id: key for key in KEYS}

LETTERS_TAKEN: Final = {"b": "Ctrl+Left", "f": "Ctrl+Right"}
"""What terminals make of Alt and a letter: they send the old keys for words of a shell."""

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
    "left_square_bracket": "[", "right_square_bracket": "]",
}  # fmt: skip
"""Keys that are signs, which stand alone only where nothing is written; a comma separates keys."""

NAMES: Final = {"pageup": "PgUp", "pagedown": "PgDn", "escape": "Esc", **SIGNS}
"""How keys are called on keyboards, where Textual has another name."""

ESSENTIAL: Final = frozenset({"enter", "tab", "shift+tab", "up", "down", "left", "right"})
"""Keys of the input and of lists, which would not work without them."""

IN_CHAT: Final = frozenset(
    key for row in KEYS if row.place is not Place.PANE for key in row.keys.split(",")
)

EDITING: Final = frozenset({
    "ctrl+a", "ctrl+c", "ctrl+d", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+v", "ctrl+w", "ctrl+x",
    "ctrl+y", "ctrl+z", "ctrl+left", "ctrl+right", "home", "end", "delete", "backspace", "f7",
    "alt+backspace", "alt+delete", "ctrl+backspace",
}) - IN_CHAT  # fmt: skip
"""What the input does with keys before anybody else hears of them; a test compares it with it."""

NAMED: Final = frozenset({
    "escape", "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert",
    "delete", "backspace", "enter", "tab", "space",
})  # fmt: skip
FUNCTION: Final = re.compile(r"(?:shift\+)?f(?:[1-9]|1[0-2])")
LETTER: Final = re.compile(r"[a-z]")
BARE: Final = re.compile(r"[a-zA-Z0-9]")
MODIFIED: Final = re.compile(r"((?:(?:ctrl|alt|shift)\+)+)(.+)")


def undeliverable(key: str, place: Place = Place.EVERYWHERE) -> str:
    """Return why a key cannot be used in a place, as a sentence; empty if it can."""
    said = name_of(key)
    if place is not Place.PANE and key in EDITING:
        return f"{said} edits what is being written."
    if FUNCTION.fullmatch(key):
        return ""
    if place is Place.PANE:
        if key in NAMED | ESSENTIAL | SIGNS.keys() or BARE.fullmatch(key):
            return ""
        if len(key) == 1:
            return f"{said} is not on every keyboard: take a letter, a digit or a sign."
    elif key in ESSENTIAL:
        return f"{said} is needed for writing and for lists."
    found = MODIFIED.fullmatch(key)
    if found is None:
        return "" if key in NAMED - {"backspace", "delete", "space"} else _bare(key, said)
    modifiers, base = set(found[1].rstrip("+").split("+")), found[2]
    if base in NAMED:
        return _named(modifiers, base, said)
    if not LETTER.fullmatch(base):
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
    return f"There is no key {said}; `chat-tui keys` shows what each key is called."


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
        raise LocalError("Name a key, as f12 or alt+r; /set with reset brings the usual one back.")
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


def conflicts(chosen: Mapping[str, tuple[str, ...]], newest: str = "") -> list[str]:
    """Return a sentence for every key that would mean two things; `chosen` is by id.

    A key heard everywhere is heard while writing as well, so it may not mean another thing there;
    one of the pane may equal one of the chat. Of two, that of the id `newest` has to give way,
    else the one further down in the table.
    """
    owners: dict[tuple[str, str], str] = {}
    problems: dict[tuple[str, str], str] = {}
    for row in sorted(KEYS, key=lambda row: row.id == newest):
        for key in chosen[row.id]:
            for moment in sorted(row.place.moments):
                other = owners.setdefault((moment, key), row.id)
                if other != row.id:
                    problems[key, row.id] = (
                        f"{name_of(key)} is taken by keys.{other} ({BY_ID[other].label}): "
                        f"choose another key for keys.{row.id}, or move that one first."
                    )
    return list(problems.values())


USUAL: Final = {row.id: parse_keys(row.keys, row.place) for row in KEYS}
"""The keys of every row that nobody has changed, by its id."""
