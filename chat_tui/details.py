"""The details of one message, for the screen that opens over the conversation."""

from typing import Final

from textual.content import Content

from chat_tui.facts import facts
from chat_tui.panels import DIM, TITLE
from chat_tui.text import clean_text
from sync.view import Line, Snapshot

LABEL_CELLS: Final = 10

KEYS: Final = "y copies the text · i its id · o opens a link · g shows its graph"


def details(snapshot: Snapshot, line: Line) -> list[Content]:
    """Return all that is known of a message, its whole text, and what can be done, as lines."""
    known = [
        Content.assemble((f"{name:<{LABEL_CELLS}} ", TITLE), fact)
        for name, fact in facts(snapshot, line)
    ]
    text = Content(clean_text(line.text))
    return [*known, Content(""), text, Content(""), Content.styled(KEYS, DIM)]
