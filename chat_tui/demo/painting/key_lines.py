"""The last lines of the demo: its keys, each of which can be clicked."""

import re
from collections.abc import Sequence
from typing import Final

from textual.content import Content

from chat_tui.demo.painting.setting import Setting
from chat_tui.keys.table import with_keys
from chat_tui.wording.clicks import clickable

KEY_ID: Final = re.compile(r"\{(\w+)\}")
ARROWS: Final = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓"}


def key_lines(at: Setting) -> list[Content]:
    """Return the keys: as many as fit; how to see all of them, and how to leave, are always two."""
    rows = 1 if at.is_low else 2
    parts = [_key(key, word, at) for key, word in at.keys]
    while len(lines := _filled(parts, at.width)) > rows:
        del parts[-3]
    return lines


def _key(key: str, word: str, at: Setting) -> Content:
    """Return a key, or two, and what it does; a click on it does the same.

    Of a range of keys a click would choose the first: that has none.
    """
    between, ids = KEY_ID.split(key)[::2], KEY_ID.findall(key)
    is_range = len(ids) == 1 and any(between)
    part = Content(" ")
    for number, text in enumerate(between):
        part += Content.styled(text, "bold $accent")
        if number < len(ids):
            part += _clickable(_named(ids[number], at), "" if is_range else ids[number])
    is_one = len(ids) == 1 and not is_range
    return part + _clickable(Content(f" {word}"), ids[0] if is_one else "") + " "


def _named(id_: str, at: Setting) -> Content:
    """Return the name of a key, an arrow for one that has an arrow on it."""
    name = with_keys(f"{{{id_}}}", at.chosen)
    return Content.styled(name if at.is_ascii else ARROWS.get(name, name), "bold $accent")


def _clickable(content: Content, id_: str) -> Content:
    return clickable(content, f"screen.key({id_!r})") if id_ else content


def _filled(parts: Sequence[Content], width: int) -> list[Content]:
    """Return lines of at most `width` cells, none of which ends within a part."""
    lines = [Content("")]
    for part in parts:
        if lines[-1].cell_length + part.cell_length - len(" ") > width:
            lines.append(Content(""))
        lines[-1] += part
    return [line.truncate(width) for line in lines]  # a space at the end need not fit
