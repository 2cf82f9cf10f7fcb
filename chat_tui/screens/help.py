"""Texts that open over the conversation and close with Esc: help, peers, long answers."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from chat_tui.commands.table import GROUPS
from chat_tui.keys.names import names_of
from chat_tui.keys.places import Place
from chat_tui.keys.table import KEYS, Chosen, Key
from chat_tui.text.safe_text import wrap
from chat_tui.transcript.scroll_marks import Mark, signs_of
from chat_tui.wording.glyphs import LOADING, PARKED, WORDS, Glyphs
from chat_tui.wording.panels import TITLE
from sync.sds.message import Delivery

KEY_HELP: Final = (
    ("Enter", "send"),
    ("Ctrl+J", "new line; also Shift+Enter, or \\ at the end of the line and Enter"),
    ("Tab", "complete a /command, #channel, name or :emoji; again for the next"),
    ("Up, Down", "what you sent before"),
    ("End", "with nothing written: to the newest message"),
    ("Shift+mouse", "select text to copy (on a Mac, Option); /mouse does without Shift"),
)

MOUSE_HELP: Final = ("Mouse", "click selects, again opens; drag picks text, Ctrl+C copies it")

FURTHER: Final = (
    Place.OVER,
    Place.DETAILS,
    Place.PEERS,
    Place.MEMBERS,
    Place.VERIFY,
    Place.FIND,
    Place.SETTINGS,
    Place.DEMO,
)
"""Places that say their own keys: here they come last."""

MARK_HELP: Final = {
    Delivery.UNACKNOWLEDGED: "safe on your disk; sent, or waiting for somebody to appear",
    Delivery.POSSIBLY_ACKNOWLEDGED: "somebody probably has it",
    Delivery.ACKNOWLEDGED: "somebody has it for certain",
    Delivery.FAILED: "sent several times without an answer; /resend tries again",
}

LOADING_HELP: Final = "older messages are on their way; it takes its place after them"
PARKED_HELP: Final = (
    "its author's clock is far ahead of yours; it takes its place when its time comes"
)

PROTOCOL_HELP: Final = (
    ("Waiting for parents", "came before what it builds on; shown in order, or after a gap"),
    ("To request (T_req)", "each waits another time, so that one asks for all"),
    ("To answer (T_resp)", "each waits another time, so that one answers for all"),
    ("Unacknowledged", "nobody has named it yet; it is sent again, ever more slowly"),
    ("Session", "two compare what they have; what either lacks is sent"),
    ("Filter", "which ids we have, in few bits: sure of no, wrong at times with yes"),
    ("named it, sent it", "proof that somebody has a message; a filter says only maybe"),
)
BAND_HELP: Final = "parts of what we have in a session, oldest first: equal, to compare, listed"

ANYWHERE: Final = (Place.EVERYWHERE, Place.CHAT)

PLACES: Final = {
    Mark.HIT: "hit",
    Mark.MENTION: "mention",
    Mark.NEW: "new",
    Mark.GAP: "gap",
}
MARK_PLACES: Final = "a message out of sight that is one; click there to go near it"

WIDEST: Final = 97
"""Cells of a line where nobody says how many there are: as many as a text over the chat has."""

WORD_CELLS: Final = 22
"""Of the left column of the help: the longest command and how it is used."""

MEANING_CELLS: Final = 16
"""Of the right one at least; where there is less room, what wraps goes below its word."""


def full_help(glyphs: Glyphs, chosen: Chosen, width: int = WIDEST) -> Content:
    """Return keys, commands, marks and the protocol's words, each with its meaning, in groups.

    `chosen` are the keys there really are; lines have `width` cells, and what wraps hangs.
    """
    writing = _named([row for row in KEYS if row.place is Place.INPUT], chosen)
    reading = _named([row for row in KEYS if row.place is Place.READING], chosen)
    of_chat = _named([row for row in KEYS if row.place in ANYWHERE], chosen)
    marks = [(f"{glyphs.marks[state]} {WORDS[state]}", text) for state, text in MARK_HELP.items()]
    waiting = [
        (f"{glyphs.loading} {LOADING}", LOADING_HELP),
        (f"{glyphs.parked} {PARKED}", PARKED_HELP),
    ]
    band = f"{glyphs.equal} {glyphs.differs} {glyphs.items}"
    places = [(f"{signs_of(glyphs)[mark]} {word}", MARK_PLACES) for mark, word in PLACES.items()]
    groups: list[tuple[str, Sequence[tuple[str, str]]]] = [
        ("KEYS while writing", (*KEY_HELP, *writing)),
        ("KEYS to read and search", reading),
        ("KEYS everywhere", of_chat),
        *[
            (
                f"COMMANDS: {title}",
                [(f"{one.names[0]} {one.usage}".rstrip(), one.help) for one in commands],
            )
            for title, commands in GROUPS
        ],
        _key_table(Place.SELECTED, chosen, MOUSE_HELP),
        ("MARKS at the right of your own messages", marks),
        ("MARKS at the right of any message", waiting),
        ("MARKS in the scroll bar", places),
        _key_table(Place.PANE, chosen),
        ("PROTOCOL, the words of its pane", (*PROTOCOL_HELP, (band, BAND_HELP))),
        *[_key_table(place, chosen) for place in FURTHER],
    ]
    return Content("\n\n").join([_table(title, rows, width) for title, rows in groups])


def _key_table(
    place: Place, chosen: Chosen, *more: tuple[str, str]
) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return the keys of a place; `more` are those that nobody can change."""
    rows = [row for row in KEYS if place in (row.place, row.also) and not row.place.is_of_chat]
    return f"KEYS {place.value}", (*_named(rows, chosen), *more)


def _named(rows: Sequence[Key], chosen: Chosen) -> list[tuple[str, str]]:
    """Return keys, with what each does."""
    return [(names_of(chosen[row.id]), row.short_label) for row in rows]


def _table(title: str, rows: Sequence[tuple[str, str]], width: int) -> Content:
    """Return a heading and its rows in two columns; what wraps stays in the right one."""
    lines = [Content.styled(title, TITLE)]
    column = WORD_CELLS + 1
    indent = " " * (column if width >= column + MEANING_CELLS else 2)
    for word, meaning in rows:
        head = f"{word:<{len(indent) - 1}} "
        if len(head) > len(indent) and len(head) + len(meaning) > width:
            lines.append(Content.styled(word, "bold"))  # it has a line of its own
            head = indent
        first, *more = wrap(meaning, max(2, width - len(head)))
        lines.append(Content.assemble((head, "bold"), first))
        more = wrap(" ".join(more), max(2, width - len(indent))) if more else []
        lines += [Content(indent + one) for one in more]
    return Content("\n").join(lines)
