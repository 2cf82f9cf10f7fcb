"""The last lines of the demo: its keys, each of which can be clicked."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from textual.content import Content

from chat_tui.demo.painting.setting import Setting
from chat_tui.keys.table import Chosen, with_keys
from chat_tui.wording.clicks import clickable

KEY_ID: Final = re.compile(r"\{(\w+)\}")
ARROWS: Final = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓"}


def key_lines(at: Setting) -> Sequence[Content]:
    """Return the keys: as many as fit; how to see all of them, and how to leave, are always two."""
    rows = 1 if at.is_low else 2
    return _lines(at.keys, tuple(at.chosen.items()), rows, at.width, is_ascii=at.is_ascii)


@lru_cache(maxsize=4)  # they stay the same while frame after frame is drawn
def _lines(
    keys: tuple[tuple[str, str], ...],
    chosen: tuple[tuple[str, tuple[str, ...]], ...],
    rows: int,
    width: int,
    *,
    is_ascii: bool,
) -> Sequence[Content]:
    parts = [_key(key, word, dict(chosen), is_ascii=is_ascii) for key, word in keys]
    while len(lines := _filled(parts, width)) > rows:
        del parts[-3]
    return tuple(lines)


def _key(key: str, word: str, chosen: Chosen, *, is_ascii: bool) -> Content:
    """Return a key, or two, and what it does; a click on it does the same.

    Of a range of keys a click would choose the first: that has none.
    """
    between, ids = KEY_ID.split(key)[::2], KEY_ID.findall(key)
    is_range = len(ids) == 1 and any(between)
    part = Content(" ")
    for number, text in enumerate(between):
        part += Content.styled(text, "bold $accent")
        if number < len(ids):
            named = _named(ids[number], chosen, is_ascii=is_ascii)
            part += _clickable(named, "" if is_range else ids[number])
    is_one = len(ids) == 1 and not is_range
    return part + _clickable(Content(f" {word}"), ids[0] if is_one else "") + " "


def _named(id_: str, chosen: Chosen, *, is_ascii: bool) -> Content:
    """Return the name of a key, an arrow for one that has an arrow on it."""
    name = with_keys(f"{{{id_}}}", chosen)
    return Content.styled(name if is_ascii else ARROWS.get(name, name), "bold $accent")


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
