"""The tabs of the debug pane: their names, their keys, and what their terms mean."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from chat_tui.keys.names import name_of
from chat_tui.keys.table import Does


class Tab(Enum):
    """One tab; the value is what it is called."""

    NOW = "Now"
    BUFFERS = "Buffers"
    CAUSAL = "Causal"
    BLOOM = "Bloom"
    SYNC = "Sync"
    WIRE = "Wire"
    TRACE = "Trace"
    GROUP = "Group"


TABS: Final = tuple(Tab)
"""Each has the key of its place, from 0 on."""

HINTS: Final[dict[Tab, tuple[Does, ...]]] = {
    Tab.NOW: ((("pane_open",), "opens"),),
    Tab.BUFFERS: ((("pane_open",), "opens"), (("pane_sort",), "sorts")),
    Tab.CAUSAL: (
        (("pane_open",), "centres"),
        (("pane_list",), "text"),
        (("pane_deeper", "pane_shallower"), "depth"),
    ),
    Tab.BLOOM: ((("pane_ask",), "tests an id"), (("pane_open",), "opens")),
    Tab.SYNC: ((("pane_open",), "walks the ranges"),),
    Tab.WIRE: (
        (("pane_ask",), "filters"),
        (("pane_pause",), "pauses"),
        (("pane_record",), "records"),
    ),
    Tab.TRACE: ((("pane_ask",), "filters"), (("pane_names",), "class names")),
    Tab.GROUP: ((("pane_open",), "opens"),),
}
"""The keys of each tab that stand first in the last line while it has the keys."""

TAB_HELP: Final[dict[Tab, tuple[Does, ...]]] = {
    Tab.BUFFERS: ((("pane_sort",), "sort by time, by id, by person"),),
    Tab.CAUSAL: (
        (("pane_open",), "move the selected message into the middle"),
        (("pane_details",), "open the selected message"),
        (("pane_list",), "the same as text, and back"),
        (("pane_deeper", "pane_shallower"), "more or fewer steps around the middle"),
        (("pane_newest",), "the newest message in the middle"),
    ),
    Tab.BLOOM: ((("pane_ask",), "test an id: its beginning is enough if the message is here"),),
    Tab.SYNC: ((("pane_open",), "on a payload: its ranges, one by one"),),
    Tab.WIRE: (
        (("pane_ask",), "show only frames that have all of these words"),
        (("pane_pause",), "pause this list alone"),
        (("pane_record",), "record frames to a file, and end that"),
    ),
    Tab.TRACE: (
        (("pane_ask",), "show only steps that have all of these words"),
        (("pane_names",), "the names of the classes, and words again"),
    ),
}

PANE_HELP: Final[tuple[Does, ...]] = (
    (tuple(f"pane_tab_{number}" for number in range(len(TABS))), "that tab"),
    (("pane_tab_left", "pane_tab_right"), "the tab beside"),
    (("pane_up", "pane_down"), "select a row"),
    (("pane_page_up", "pane_page_down", "pane_first", "pane_last"), "read on, or at an end"),
    (
        ("pane_open", "pane_details"),
        "open what is selected: a sentence, then the formula with its values",
    ),
    (("pane_freeze",), "freeze the display; the engine goes on"),
    (("pane_full", "debug_full"), "full screen, and back"),
    (("pane_leave",), "back to writing; the pane stays open"),
    (("debug",), "here again; pressed here, close the pane"),
    (("pane_back",), "close what is open: a text, the filter, the pane"),
)


LIST_KEYS: Final[tuple[Does, ...]] = (
    (("pane_explain",), "terms"),
    (("pane_freeze",), "freeze"),
    (("pane_full",), "full"),
    (("pane_leave",), "write"),
)
"""The keys of every tab in the last line of the screen, before how it is left."""


def tab_keys(tab: Tab, *, closes: str) -> tuple[Does, ...]:
    """Return the keys for the last line while a tab has them; Esc `closes` that."""
    ways_out: tuple[Does, ...] = ((("pane_back",), f"closes {closes}"), (("help",), "help"))
    of_tab = [one for one in HINTS[tab] if one not in LIST_KEYS]
    return (*of_tab, *LIST_KEYS, *ways_out)


def key_help(tab: Tab, keys: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return all keys there are in a tab, those of it alone first, with what they do."""
    does = (*TAB_HELP.get(tab, ()), *PANE_HELP)
    return [
        (", ".join(name_of(key) for id_ in ids for key in keys[id_]), what) for ids, what in does
    ]


TERMS: Final = {
    Tab.NOW: (
        ("Sparkline", "a minute from left to right, the highest sign is its own busiest moment"),
        ("out, in", "bytes of frames after decryption that left this computer, and that came"),
        ("SESSION", "payloads of reconciliations: ranges, logs, entries and their checks"),
        ("ack", "from writing a message until somebody proved to have it"),
        ("p50, p99", "half of them took no longer than p50, all but one in a hundred than p99"),
        ("Shape", "how many took under 1/4, 1/2, 1, 2, 4, 8, 16 seconds, and more"),
        ("Repair", "a message that was named and not here, until it came or was given up"),
        ("Links", "the last pings of each: how long the answer took, up to two minutes back"),
    ),
    Tab.BUFFERS: (
        ("Waiting for parents", "a message came before one it builds on; it is held back for that"),
        ("To request (T_req)", "wait a random, per-person time so that only one person asks"),
        ("To answer (T_resp)", "who has it waits too, closest to the author least: one answers"),
        ("Response group", "in a large channel only one group of the people may answer an id"),
        ("Unacknowledged", "your message, until somebody names it; sent again, ever more slowly"),
        ("Lost", "nobody had it for so long that it is no longer asked for; its place is marked"),
        ("Stamped in the future", "its author's clock was far ahead; it waits for that time"),
        ("Clock", "this computer's; others' votes judge what is far ahead, and may be followed"),
        ("Left the buffers", "the last ten that are over: how, after how long, and from whom"),
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
        ("Cell", "some of the filter's bits in one sign, darker the more of them are set"),
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
    Tab.GROUP: (
        ("Op", "a signed act of governance; it names the ops that its signer had seen"),
        ("Head", "an op that no other has seen; all heads together name a cut"),
        ("Cut", "some ops and all their ancestors; who is in there is the same for ever"),
        ("Void op", "had the right, and came to nothing for something at the same time"),
        ("Verdict", "whether the author of a line might write it at the cut that it names"),
        ("Epoch", "a secret of the channel, by its number; removals begin a new one"),
        ("Level", "what somebody gets of a channel over a link, by who they are in it"),
        ("Catch-up", "a pull of ops after heads were told that are not here, page by page"),
        ("Definition", "the rules of membership, plain and slow: it checks the fast answers"),
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
