"""Every key on a selected message has a command that does the same in line mode."""

from chat_tui.commands.table import BY_NAME
from chat_tui.keys.places import Place
from chat_tui.keys.table import KEYS

MOVES = {
    "reading_up", "reading_down", "reading_page_up", "reading_page_down", "reading_first",
    "reading_last", "reading_write", "reading_command",
}  # fmt: skip
"""Keys that only move about on the screen."""

COMMANDS = {
    "reading_details": "/info",
    "reading_copy": "/copy",
    "reading_copy_id": "/info",
    "reading_quote": "/quote",
    "reading_open": "/open",
    "reading_graph": "/graph",
    "reading_reply": "/reply",
    "reading_edit": "/edit",
    "reading_react": "/react",
    "reading_delete": "/delete",
    "reading_answered": "/replied",
    "reading_back": "/back",
    "reading_thread": "/thread",
    "reading_join": "/accept",
    "reading_ask": "/repair",
    "reading_pin": "/pin",
    "reading_raw": "/raw",
    "reading_fold": "/fold",
    "reading_hide": "/hide",
    "reading_next": "/search",
    "reading_previous": "/search",
}


def test_every_key_on_a_selected_message_has_a_command() -> None:
    keys = {row.id for row in KEYS if row.place is Place.SELECTED}

    assert keys - MOVES == {*COMMANDS}
    assert {*COMMANDS.values()} <= {*BY_NAME}
