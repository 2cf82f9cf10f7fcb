"""Every key in words: what it does, where, its id, and what somebody has changed of it."""

from typing import Final

from chat_tui.keys.names import names_of
from chat_tui.keys.places import Place
from chat_tui.keys.table import KEYS, USUAL, Chosen, Key

HOW_TO_CHANGE: Final = "/set keys.help f12, alt+r gives one other keys."


def key_list(chosen: Chosen) -> str:
    """Return every key with what it does, its id, and whether it is another one than usual."""
    rows = [(names_of(chosen[row.id]), row.short_label, row) for row in KEYS]
    wide = max(len(names) for names, _, _ in rows), max(len(label) for _, label, _ in rows)
    lines: list[str] = []
    for place in Place:
        lines.append(f"KEYS {place.value}")
        lines += [
            f"{names:<{wide[0]}}  {label:<{wide[1]}}  keys.{row.id}{changed(row, chosen)}"
            for names, label, row in rows
            if row.place is place
        ]
    return "\n".join([*lines, HOW_TO_CHANGE])


def changed(row: Key, chosen: Chosen) -> str:
    """Return the words behind a key that somebody has changed, none behind a usual one."""
    usual = USUAL[row.id]
    return "" if chosen[row.id] == usual else f" (changed, usually {names_of(usual)})"


def meanings(key: str, places: frozenset[Place], chosen: Chosen) -> list[str]:
    """Return what a key does in some places, and what it would do had nobody changed that."""
    said: list[str] = []
    for row in KEYS:
        if row.place not in places:
            continue
        words = f"keys.{row.id}: {row.label}"
        if key in chosen[row.id]:
            said.append(words + changed(row, chosen))
        elif key in USUAL[row.id]:
            said.append(f"usually {words}, which is {names_of(chosen[row.id])} now (changed)")
    return said
