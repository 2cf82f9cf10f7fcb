"""The line above a reply: who wrote what it answers, or why that is not shown.

Rule: the sign before it stands where no text of anybody can: at the left edge of a line, or in the
column of times and names. Only a message whose signed bytes name another one has it.
"""

from typing import Final

from chat_tui.text.me_actions import as_shown
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.wording.acts import Called, name_of, plainly_called, sentence
from chat_tui.wording.glyphs import EDITED, UNICODE, hidden_by
from sync.view.governance_infos import Lateness
from sync.view.view import Line, Unshown

QUOTE_CELLS: Final = 60
"""Cells of the line above a reply, its sign among them: enough to know the message again."""

SIGN_CELLS: Final = 2
"""The sign, and a space."""

UNREAD: Final = "…"
"""Stands there until the message is read from the disk."""

WHY: Final = {
    Unshown.ABSENT: "a message that is not here",
    Unshown.WAITS: "a message that waits, and is not shown yet",
    Unshown.BLOCKED: "a message of somebody you have blocked",
}


def quote(answered: Line | Unshown | None, called: Called = plainly_called) -> str:
    """Return what is said of an answered message, in one line; None: it is not read yet."""
    if answered is None:
        return UNREAD
    if isinstance(answered, Unshown):
        return WHY[answered]
    name = called(answered.author, answered.nick)
    if (what := _not_shown(answered, called)) is not None:
        return clip_cells(f"a message of {name}, {what}", QUOTE_CELLS - SIGN_CELLS)
    text = clean_text(answered.text)
    shown = as_shown(clean_nick(answered.nick), text)
    words = " ".join((shown if shown != text else f"{name}: {text}").split())
    edited = f" {EDITED}" if answered.edited else ""
    return clip_cells(words, QUOTE_CELLS - SIGN_CELLS - len(edited)) + edited


def quoted_lines(line: Line, called: Called = plainly_called) -> list[str]:
    """Return the lines of a message as it is quoted in another one, its author before them."""
    if line.act is not None:
        return [sentence(line, called)]
    text, nick = clean_text(line.text).rstrip(), clean_nick(line.nick)
    shown = as_shown(nick, text)
    return (shown if shown != text else f"{nick}: {text}").split("\n")


def above(
    answered: Line | Unshown | None, called: Called = plainly_called, sign: str = UNICODE.reply
) -> str:
    """Return the whole line that stands above a reply where lines have no columns."""
    return f"{sign} {quote(answered, called)}"


def _not_shown(line: Line, called: Called) -> str | None:
    """Return why nothing of the text is shown; None if it is."""
    if line.hidden_by is not None:
        return hidden_by(name_of(line.hidden_by, called))
    if line.replaced:
        return "written anew since"
    if line.deleted:
        return "deleted since"
    return "folded away" if line.late is Lateness.FOLDED else None
