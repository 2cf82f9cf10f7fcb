"""The last line while something else than the input has the keys: its keys, each to be clicked."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from chat_tui.keys.names import name_of
from chat_tui.keys.table import Chosen, Does
from chat_tui.wording.clicks import key_click

GAP: Final = "  "


def key_line(does: Sequence[Does], chosen: Chosen, width: int) -> Content:
    """Return keys with what they do; of more than `width` has room for, the last but two go.

    The last two say how one gets out, and where the help is.
    """
    parts = [_part(ids, word, chosen) for ids, word in does]
    while len(parts) > 2 and _cells(parts) > width:  # noqa: PLR2004
        del parts[-3]
    return Content(GAP).join(parts)


def _part(ids: Sequence[str], word: str, chosen: Chosen) -> Content:
    keys = [key_click(Content.styled(name_of(chosen[id_][0]), "bold $accent"), id_) for id_ in ids]
    return Content(" ").join(keys) + key_click(Content(f" {word}"), ids[0])


def _cells(parts: Sequence[Content]) -> int:
    return sum(part.cell_length for part in parts) + len(GAP) * (len(parts) - 1)
