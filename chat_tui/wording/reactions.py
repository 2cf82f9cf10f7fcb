"""Reactions as they are typed and shown: emoji, and words where there are none.

Rule: an emoji of a peer is text of a peer, so it is cleaned and kept short like every other.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len, split_graphemes

from chat_tui.text.emoji import EMOJI
from chat_tui.text.safe_text import clean_text, clip_cells, wrap
from chat_tui.wording.glyphs import ASCII, Glyphs
from sync.entries.changes import MORE_REACTORS_MAX
from sync.errors import LocalError
from sync.machine import PeerId
from sync.view.view import Line, Reaction

NAMES: Final = {
    "+1": "👍",
    "-1": "👎",
    "heart": "❤",
    "laugh": "😂",
    "smile": "😄",
    "wow": "😮",
    "sad": "😢",
    "party": "🎉",
    "thanks": "🙏",
    "fire": "🔥",
    "eyes": "👀",
    "yes": "✅",
    "no": "❌",
}
"""Reactions that can be typed on every keyboard."""

EMOJI_CELLS: Final = 12
"""A family of four takes eight; what is wider is cut, so that a line holds several."""

INVISIBLE: Final = "(invisible)"

EMOJI_STYLE: Final = "\ufe0f"
"""Asks for the coloured form of a sign: with and without it, it is the same reaction."""

RECENT_MAX: Final = 6
"""Emoji used last that stand first in a list; the others keep their places."""

ROWS_MAX: Final = 4
"""Lines of reactions below a text: a few people can have hundreds of kinds, which would push the
text off the screen."""

_SHORT_NAME_OF: Final = {emoji: name for name, emoji in reversed(EMOJI.items())}
_NAME_OF: Final = {emoji: name for name, emoji in NAMES.items()} | {
    "👍": "thumbs up",  # a number would stand beside its count
    "👎": "thumbs down",
}
_KEPT_TOGETHER: Final = "\u00a0"


def emoji_of(typed: str) -> str:
    """Return the emoji that was typed, or whose name was.

    Raises:
        LocalError: neither; says what there is.
    """
    word = typed.strip().replace(EMOJI_STYLE, "")
    name = word.strip(":").casefold()
    if (named := NAMES.get(name) or EMOJI.get(name)) is not None:
        return named
    spans, _ = split_graphemes(word)
    if word.isascii() or len(spans) != 1 or not clean_text(word).strip():
        raise LocalError(
            f"{clip_cells(clean_text(word), EMOJI_CELLS) or 'That'} is not one emoji; write one, "
            f"or one of these: {', '.join(NAMES)}, or another short name such as tada."
        )
    return word


def choices(recent: Iterable[str]) -> list[str]:
    """Return emoji to choose from: those used last, then those that have names of their own."""
    return list(dict.fromkeys([*list(dict.fromkeys(recent))[:RECENT_MAX], *NAMES.values()]))


def named(emoji: str, glyphs: Glyphs) -> str:
    """Return an emoji with its name, for a list."""
    name = _NAME_OF.get(emoji) or _SHORT_NAME_OF.get(emoji, "")
    shown = label(emoji, glyphs)
    return shown if glyphs == ASCII or not name else f"{shown}  {name}"


def reacted_in(item: str, reactions: Sequence[Reaction], glyphs: Glyphs) -> str | None:
    """Return the emoji of an item of `summary`, ours before those that look alike; None if none."""
    for reaction in sorted(reactions, key=lambda one: not one.mine):
        if item.startswith(f"{label(reaction.emoji, glyphs)} "):
            return reaction.emoji
    return None


def label(emoji: str, glyphs: Glyphs) -> str:
    """Return an emoji as it is shown; its name where only ASCII is."""
    seen = "".join(clean_text(emoji).split())
    if glyphs == ASCII:
        seen = _NAME_OF.get(seen) or " ".join([_name(sign) for sign in seen])
        return clip_cells(seen, 2 * EMOJI_CELLS).replace("…", ".") or INVISIBLE
    return clip_cells(seen, EMOJI_CELLS) or INVISIBLE


def summary(reactions: Sequence[Reaction], glyphs: Glyphs) -> list[str]:
    """Return each emoji with how many react so, and whether we do; what looks alike is one."""
    who: dict[str, set[PeerId]] = {}
    mine: set[str] = set()
    for reaction in reactions:
        shown = label(reaction.emoji, glyphs)
        who.setdefault(shown, set()).update(reaction.who)
        if reaction.mine:
            mine.add(shown)
    return [f"{one} {len(by)}{' (you)' if one in mine else ''}" for one, by in who.items()]


def summary_of(line: Line, glyphs: Glyphs) -> list[str]:
    """Return what is to be said of the reactions to a message: `summary`, and what that leaves out.

    Nothing if nobody reacts.
    """
    return [*summary(line.reactions, glyphs), *left_out(line.more_kinds, line.more_reactors)]


def left_out(kinds: int, reactors: int) -> list[str]:
    """Return that there are so many more kinds, and so many more people who react."""
    said = [f"… {kinds:,} more"] if kinds else []
    if reactors:
        more = "or more" if reactors >= MORE_REACTORS_MAX else "more"
        said.append(f"… {reactors:,} {more} {'person' if reactors == 1 else 'people'}")
    return said


def rows(line: Line, glyphs: Glyphs, width: int) -> list[str]:
    """Return the lines of reactions; if there are many, ours and the most frequent ones."""
    lines = wrap(joined(summary_of(line, glyphs)), width)
    if len(lines) <= ROWS_MAX:
        return lines
    ranked = sorted(line.reactions, key=lambda one: (not one.mine, -len(one.who)))
    items = summary(ranked, glyphs)
    fitting = sum(len(each.split("  ")) for each in lines[:ROWS_MAX])
    while len(lines) > ROWS_MAX and fitting:
        fitting -= 1
        more = left_out(len(items) - fitting + line.more_kinds, line.more_reactors)
        lines = wrap(joined([*items[:fitting], *more]), width)
    return lines


def joined(items: Sequence[str]) -> str:
    """Return the items in a row that breaks between them only; see `unjoined`."""
    return "  ".join([item.replace(" ", _KEPT_TOGETHER) for item in items])


def item_at(line: str, cell: int) -> str | None:
    """Return the item of a row (see `joined`) at a cell of it; None between them."""
    start = 0
    for part in line.strip(" ").split(" "):
        end = start + cell_len(part)
        if part and start <= cell < end:
            return part.replace(_KEPT_TOGETHER, " ")
        start = end + 1
    return None


def unjoined(line: str) -> str:
    """Return a line of a row as it is shown."""
    return line.strip(" ").replace(_KEPT_TOGETHER, " ")


def _name(sign: str) -> str:
    return sign if sign.isascii() else unicodedata.name(sign, "sign").lower()
