"""The tabs of the debug pane: their names, their keys, and what their terms mean."""

from enum import Enum
from typing import Final


class Tab(Enum):
    """One tab; the value is what it is called."""

    BUFFERS = "Buffers"
    CAUSAL = "Causal"
    BLOOM = "Bloom"
    SYNC = "Sync"
    WIRE = "Wire"
    TRACE = "Trace"


TABS: Final = tuple(Tab)

HINTS: Final = {
    Tab.BUFFERS: "Enter opens · s sorts",
    Tab.CAUSAL: "Enter centres · t text · + - depth",
    Tab.BLOOM: "/ tests an id · Enter opens",
    Tab.SYNC: "Enter walks the ranges",
    Tab.WIRE: "/ filters · p pauses · r records",
    Tab.TRACE: "/ filters",
}
"""The keys of each tab, for the last line of the pane; `? terms` follows."""

KEYS: Final = (
    ("1 to 6, ←/→", "another tab"),
    ("↑/↓, j/k", "select a row"),
    ("Enter, i", "open what is selected: a sentence, then the formula with its values"),
    ("Space", "freeze the display; the engine goes on"),
    ("f, Shift+F2, Alt+O", "full screen, and back"),
    ("Tab", "back to writing; the pane stays open. F2 comes here again"),
    ("Esc", "close what is open: a text, the filter, the pane"),
)

TAB_KEYS: Final = {
    Tab.BUFFERS: (("s", "sort by time, by id, by person"),),
    Tab.CAUSAL: (
        ("Enter", "move the selected message into the middle"),
        ("i", "open the selected message"),
        ("t", "the same as text, and back"),
        ("+ and -", "more or fewer steps around the middle"),
        ("n", "the newest message in the middle"),
    ),
    Tab.BLOOM: (("/", "test an id: its beginning is enough if the message is here"),),
    Tab.SYNC: (("Enter", "on a payload: its ranges, one by one"),),
    Tab.WIRE: (
        ("/", "show only frames that have all of these words"),
        ("p", "pause this list alone"),
        ("r", "record frames to a file, and end that"),
    ),
    Tab.TRACE: (("/", "show only steps that have all of these words"),),
}

TERMS: Final = {
    Tab.BUFFERS: (
        ("Waiting for parents", "a message came before one it builds on; it is held back for that"),
        ("To request (T_req)", "wait a random, per-person time so that only one person asks"),
        ("To answer (T_resp)", "who has it waits too, closest to the author least: one answers"),
        ("Response group", "in a large channel only one group of the people may answer an id"),
        ("Unacknowledged", "your message, until somebody names it; sent again, ever more slowly"),
        ("Lost", "nobody had it for so long that it is no longer asked for; its place is marked"),
        ("Stamped in the future", "its author's clock was far ahead; it waits for that time"),
        ("Sync message", "says which messages are known, when nobody has spoken for a while"),
    ),
    Tab.CAUSAL: (
        ("Causal history", "the messages its author had seen when writing: its parents"),
        ("Above, below", "what a message builds on is above it, what builds on it is below"),
        ("Lamport time", "a number above those of all parents; it and the id give one order"),
        ("Missing", "named as a parent, and not here: it is asked for"),
        ("Waiting", "here, and held back until its parents are"),
    ),
    Tab.BLOOM: (
        ("Bloom filter", "which ids we have, in few bits: sure of no, wrong at times with yes"),
        ("n, m, k", "ids in it, bits of it, and how many bits each id sets"),
        ("Fill", "the share of bits that are set; more of them means more wrong answers"),
        ("False maybe", "all bits of an id are set, by others; chance (1 - e^(-kn/m))^k"),
        ("Rolls over", "when it is full, the older half of its ids leaves"),
        ("Named it, sent it", "proof that somebody has a message; a filter says only maybe"),
    ),
    Tab.SYNC: (
        ("Session", "two compare what they have; what either lacks is sent"),
        ("Waku Sync (RBSR)", "ranges of ids are compared by fingerprints, and halved until equal"),
        ("Range", "all ids between two bounds, each bound a time and the start of a hash"),
        ("Fingerprint", "the XOR of all ids in a range: equal sets have equal ones"),
        ("Item set", "the ids of a range one by one, where they are few"),
        ("Naive list", "what a list of all ids would have cost: 40 bytes each"),
        ("Delta coding", "a bound is written as its difference to the bound before"),
        ("Proved to agree", "both showed a digest of all they hold, and it was the same"),
    ),
    Tab.WIRE: (
        ("MSG", "a message on its way for the first time, or sent again by its author"),
        ("REPAIR", "a message that somebody else sends because it was asked for"),
        ("SYNC", "a sync message: no text, only which messages are known"),
        ("EPH", "an ephemeral message, as that somebody types; nobody keeps it"),
        ("RANGES", "a payload of a reconciliation: ranges of ids"),
        ("CHECK", "a frame of the check after a reconciliation"),
        ("PUSH", "a message sent to whom the reconciliation found lacking it"),
    ),
    Tab.TRACE: (
        ("Step", "one input of one machine with the effects it had, in the order they happened"),
        ("Tick", "the only timer: time has passed; steps in which it did nothing are left out"),
        ("Bad input refused", "what broke a rule: counted by sender, and without effect"),
        ("Trace file", "every step whole, one JSON object a line; it never has keys or secrets"),
    ),
}
"""Every term of a tab in one line."""


def tab_named(name: str) -> Tab | None:
    """Return the tab that is called so, in any case."""
    return next((tab for tab in TABS if tab.value.casefold() == name.casefold()), None)


def terms_text(word: str = "") -> str:
    """Return the terms of the tab called `word`, or those that have it in them; else all."""
    tab = tab_named(word)
    rows = [row for one, terms in TERMS.items() if tab in (None, one) for row in terms]
    if tab is None and word:
        wanted = word.casefold()
        rows = [row for row in rows if wanted in f"{row[0]} {row[1]}".casefold()]
    return "\n".join(f"{term}: {meaning}" for term, meaning in rows)
