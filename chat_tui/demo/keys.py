"""The keys of the demo: what each does, how the last line calls it, and the help.

Most are letters, because nothing is written there.
"""

from typing import Final

from textual.binding import BindingType
from textual.content import Content

from chat_tui.demo.scenarios import SCENARIOS
from chat_tui.keys.places import Place
from chat_tui.keys.table import Chosen, with_keys
from chat_tui.terminal.key_bindings import bindings_of, heard_as

BINDINGS: Final[list[BindingType]] = [
    *bindings_of(Place.DEMO),
    *heard_as("protocol", "debug"),
    *heard_as("keys", "help"),
    *heard_as("leave", "close", "demo"),
]

KEYS: Final = (
    ("{demo_run}", "pause"),
    ("{demo_back} {demo_forward}", "step"),
    (f"{{demo_play_1}}-{len(SCENARIOS)}", "scenario"),
    ("{demo_next}", "next"),
    ("{demo_slower}/{demo_faster}", "speed"),
    ("{demo_person}", "person"),
    ("{demo_protocol}", "protocol"),
    ("{demo_lose}", "lose"),
    ("{demo_cut}", "cut"),
    ("{demo_divide}", "partition"),
    ("{demo_power}", "off/on"),
    ("{demo_formulas}", "formulas"),
    ("{demo_write}", "write"),
    ("{demo_loss}", "loss"),
    ("{demo_delay}", "delay"),
    ("{demo_twice}", "twice"),
    ("{demo_help}", "all keys"),
    ("{close}", "leave"),
)
IN_REPLAYS: Final = frozenset({
    "pause", "step", "speed", "formulas", "protocol", "all keys", "leave",
})  # fmt: skip
REPLAY_KEYS: Final = tuple((key, word) for key, word in KEYS if word in IN_REPLAYS)
"""Those of `KEYS` that mean something where nothing can be meddled with."""

HELP: Final = (
    ("{demo_forward}", "the next thing that happens"),
    ("{demo_back}", "the step before: what it looked like then"),
    ("{demo_run}", "let time run, or stop it"),
    ("a click", "on the line of events at the top: shows that moment"),
    ("{demo_slower}, {demo_faster}", "slower, faster: x1/4 to x16"),
    (
        f"{{demo_play_1}} to {len(SCENARIOS)}",
        "that scenario, twelve is 1 then 2; {demo_next} the next one, {demo_again} this one again",
    ),
    (
        "{demo_formulas}",
        "formulas with their values below each sentence, or plain sentences alone",
    ),
    (
        "{demo_person}, {demo_person_back}",
        "select a participant: what you do next is done to that one",
    ),
    (
        "{demo_protocol} or {debug}",
        "what the selected one's protocol does; {demo_page_up} and {demo_page_down} read on",
    ),
    (
        "{demo_write}",
        "write a line as the selected one; /net loss=20 delay=40 sets the network",
    ),
    ("{demo_lose}", "the next new message is lost on its way to the selected one"),
    ("{demo_cut}", "cut the link between the selected one and the next, or mend it"),
    ("{demo_divide}", "cut the network in two halves, or mend it"),
    ("{demo_power}", "the selected one's computer off, or on"),
    ("{demo_loss}", "lose no frames, 10, 20 or 40 percent"),
    ("{demo_delay}", "frames take about 40, 200 or 1,000 ms"),
    ("{demo_twice}", "no frames, 10 or 40 percent arrive twice"),
    ("{close}, {demo}", "close what is open, then leave"),
)
WORD_CELLS: Final = 16


def full_help(chosen: Chosen) -> Content:
    """Return every key with what it does, a line each."""
    rows = [
        Content.assemble((f"{with_keys(key, chosen):<{WORD_CELLS}}", "bold"), meaning)
        for key, words in HELP
        for meaning in [with_keys(words, chosen)]
    ]
    return Content("\n").join(rows)
