"""Texts that open over the conversation and close with Esc: help, peers, long answers."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from chat_tui.commands.table import TABLE
from chat_tui.keys.names import names_of
from chat_tui.keys.places import Place
from chat_tui.keys.table import KEYS, Chosen, Key
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

WORD_CELLS: Final = 22
"""Of the left column of the help: the longest command and how it is used."""


def full_help(glyphs: Glyphs, chosen: Chosen) -> Content:
    """Return keys, commands, marks and the protocol's words, each with its meaning.

    `chosen` are the keys there really are.
    """
    of_chat = _named([row for row in KEYS if row.place.is_of_chat], chosen)
    marks = [(f"{glyphs.marks[state]} {WORDS[state]}", text) for state, text in MARK_HELP.items()]
    waiting = [
        (f"{glyphs.loading} {LOADING}", LOADING_HELP),
        (f"{glyphs.parked} {PARKED}", PARKED_HELP),
    ]
    band = f"{glyphs.equal} {glyphs.differs} {glyphs.items}"
    commands = [(f"{command.names[0]} {command.usage}", command.help) for command in TABLE]
    return Content("\n\n").join(
        [
            _table("KEYS", (*KEY_HELP, *of_chat)),
            _table("COMMANDS", commands),
            _key_table(Place.SELECTED, chosen, MOUSE_HELP),
            _table("MARKS at the right of your own messages", marks),
            _table("MARKS at the right of any message", waiting),
            _key_table(Place.PANE, chosen),
            _table("PROTOCOL, the words of its pane", (*PROTOCOL_HELP, (band, BAND_HELP))),
            *[_key_table(place, chosen) for place in FURTHER],
        ]
    )


def _key_table(place: Place, chosen: Chosen, *more: tuple[str, str]) -> Content:
    """Return the keys of a place; `more` are those that nobody can change."""
    rows = [row for row in KEYS if place in (row.place, row.also) and not row.place.is_of_chat]
    return _table(f"KEYS {place.value}", (*_named(rows, chosen), *more))


def _named(rows: Sequence[Key], chosen: Chosen) -> list[tuple[str, str]]:
    """Return keys, with what each does."""
    return [(names_of(chosen[row.id]), row.short_label) for row in rows]


def _table(title: str, rows: Sequence[tuple[str, str]]) -> Content:
    """Return a heading and its rows in two columns."""
    lines = [Content.styled(title, TITLE)]
    for word, meaning in rows:
        lines.append(Content.assemble((f"{word:<{WORD_CELLS}} ", "bold"), meaning))
    return Content("\n").join(lines)
