"""Places where keys are heard, for the table of keys, and which of them meet.

Rules:
1. A moment is a part of the screen that may have the keys; two places meet where they share one.
2. Where something is written, letters and signs are text, and no key of ours.
"""

from enum import Enum
from typing import Final


class Place(Enum):
    """Place where a key is heard; the value names it, for the help and for sentences."""

    EVERYWHERE = "everywhere"
    CHAT = "outside the protocol's pane"
    INPUT = "while writing"
    READING = "while writing or reading"
    SELECTED = "with a message selected"
    PANE = "in the protocol's pane"
    OVER = "in texts and lists over the chat"
    DETAILS = "in the details of a message or a gap"
    PEERS = "in the list of peers"
    MEMBERS = "in the list of members"
    LINK = "where a link is opened"
    VERIFY = "while words are compared"
    FIND = "in the search"
    SETTINGS = "in the settings"
    DEMO = "in the demo"

    @property
    def moments(self) -> frozenset[str]:
        """The parts of the screen in focus while keys of this place are heard."""
        return MOMENTS[self]

    @property
    def is_of_chat(self) -> bool:
        """True if it is heard while somebody writes or reads: its keys are those of the chat."""
        return "input" in self.moments


CONVERSATION: Final = frozenset({"input", "transcript"})
OVER: Final = frozenset({"over", "details", "peers", "members", "link"})
EVERY_MOMENT: Final = CONVERSATION | OVER | {"pane", "verify", "find", "settings", "demo"}

MOMENTS: Final = {
    Place.EVERYWHERE: EVERY_MOMENT,
    Place.CHAT: EVERY_MOMENT - {"pane"},
    Place.INPUT: frozenset({"input"}),
    Place.READING: CONVERSATION,
    Place.SELECTED: frozenset({"transcript"}),
    Place.PANE: frozenset({"pane"}),
    Place.OVER: OVER,
    Place.DETAILS: frozenset({"details"}),
    Place.PEERS: frozenset({"peers"}),
    Place.MEMBERS: frozenset({"members"}),
    Place.LINK: frozenset({"link"}),
    Place.VERIFY: frozenset({"verify"}),
    Place.FIND: frozenset({"find"}),
    Place.SETTINGS: frozenset({"settings"}),
    Place.DEMO: frozenset({"demo"}),
}

LIST_KEYS: Final = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "enter"})
BUTTON_KEYS: Final = frozenset({"enter", "tab", "shift+tab"})
FIXED: Final = {Place.SETTINGS: LIST_KEYS, Place.VERIFY: BUTTON_KEYS}
"""Keys that a list or a button in a place handles before anybody else hears of them."""
