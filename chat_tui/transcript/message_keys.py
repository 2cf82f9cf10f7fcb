"""Keys of what is selected: those that this message or this gap has, and what they do to it."""

from collections.abc import Iterator
from typing import Final

from chat_tui.keys.table import Does
from chat_tui.model.row import Row
from chat_tui.text.links import link_spans
from chat_tui.text.markup import is_marked
from chat_tui.transcript.row_layout import offer_of
from chat_tui.transcript.text_layout import Look, is_written

WAY_OUT: Final[tuple[Does, ...]] = ((("close",), "back"), (("help",), "help"))
"""Said last, and always."""

OF_GAP: Final[tuple[Does, ...]] = (
    (("reading_details",), "what is known"),
    (("reading_ask",), "ask again now"),
    (("reading_hide",), "hide this line"),
    *WAY_OUT,
)


def keys_of_message(row: Row, look: Look, folded: int) -> tuple[Does, ...]:
    """Return the keys that a message has, those first that are wanted most.

    Args:
        row: the message.
        look: how it is shown.
        folded: how many of its lines are folded away.
    """
    details = "unfolds" if folded else "details"
    keys = [
        *_acts(row), ("reading_details", details), *_own_ways(row, look),
        ("reading_quote", "quote"), ("reading_thread", "answers"), ("reading_copy", "copy"),
        ("reading_graph", "graph"), ("reading_write", "write"),
    ]  # fmt: skip
    return (*(((id_,), does) for id_, does in keys), *WAY_OUT)


def _acts(row: Row) -> Iterator[tuple[str, str]]:
    """Yield what everybody sees of it."""
    line = row.line
    if (offer := offer_of(row)) is not None:
        yield "reading_join", f"join {offer.title}"
    if line.act is None:
        yield "reading_reply", "reply"
        if line.own and not line.deleted:
            yield "reading_edit", "edit"
        if not line.deleted:
            yield "reading_react", "react"
        if line.own and not line.deleted:
            yield "reading_delete", "delete"
    if row.pinned or (line.act is None and not line.deleted):
        yield "reading_pin", "unpin" if row.pinned else "pin"


def _own_ways(row: Row, look: Look) -> Iterator[tuple[str, str]]:
    """Yield what only some messages have: where they lead, and how else they can be shown."""
    if row.line.reply_to is not None:
        yield "reading_answered", "what it answers"
    if is_written(row) and link_spans(row.text):
        yield "reading_open", "link"
    if look.raw:
        yield "reading_raw", "marked up"
    elif is_written(row) and is_marked(row.text):
        yield "reading_raw", "raw"
    if look.whole:
        yield "reading_fold", "fold"
