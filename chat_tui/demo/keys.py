"""The keys of the demo: what each does, how the last line calls it, and the help.

Most are letters, because nothing is written there.
"""

from typing import Final

from textual.binding import Binding, BindingType
from textual.content import Content

from chat_tui.demo.scenarios import SCENARIOS

BINDINGS: Final[list[BindingType]] = [
    Binding("full_stop,right", "forward", show=False),
    Binding("comma,left", "back", show=False),
    Binding("space", "run", show=False),
    Binding("minus", "speed(-1)", show=False),
    Binding("plus,equals_sign", "speed(1)", show=False),
    Binding("n", "scenario(1)", show=False),
    Binding("r", "scenario(0)", show=False),
    Binding("e", "register", show=False),
    Binding("d,f2,alt+p", "protocol", show=False),
    Binding("pageup", "page(-1)", show=False),
    Binding("pagedown", "page(1)", show=False),
    Binding("tab", "select(1)", show=False),
    Binding("shift+tab", "select(-1)", show=False),
    Binding("w,enter", "write", show=False),
    Binding("l", "meddle('lose')", show=False),
    Binding("L", "meddle('loss')", show=False),
    Binding("D", "meddle('delay')", show=False),
    Binding("U", "meddle('duplicate')", show=False),
    Binding("x", "meddle('cut')", show=False),
    Binding("p", "meddle('divide')", show=False),
    Binding("o", "meddle('power')", show=False),
    Binding("f1,question_mark,alt+h", "keys", show=False),
    Binding("escape,q,f4,alt+d", "leave", show=False),
    *[Binding(str(n), f"play({n})", show=False) for n in range(1, len(SCENARIOS) + 1)],
]

KEYS: Final = (
    (".", "step"),
    (",", "back"),
    ("Space", "run/pause"),
    ("-/+", "speed"),
    ("n", "next scenario"),
    ("e", "formulas"),
    ("d", "protocol"),
    ("Tab", "peer"),
    ("w", "write"),
    ("l", "lose next"),
    ("x", "cut link"),
    ("p", "partition"),
    ("o", "off/on"),
    ("L", "loss"),
    ("D", "delay"),
    ("U", "twice"),
    ("Esc", "leave"),
)
REPLAY_KEYS: Final = tuple(
    (key, word) for key, word in KEYS if key not in set("nwlxpoLDU") | {"Tab"}
)
HELP: Final = (
    (".", "the next thing that happens"),
    (",", "the step before: what it looked like then"),
    ("Space", "let time run, or stop it"),
    ("-, +", "slower, faster: x0.05 to x8"),
    ("1 to 7", "that scenario; n the next one, r this one again"),
    ("e", "formulas with their values below each sentence, or plain sentences alone"),
    ("Tab, Shift+Tab", "select a participant: what you do next is done to that one"),
    ("d or F2", "what the selected one's protocol does; PgUp and PgDn read on"),
    ("w or Enter", "write a line as the selected one; /net loss=20 delay=40 sets the network"),
    ("l", "the next new message is lost on its way to the selected one"),
    ("x", "cut the link between the selected one and the next, or mend it"),
    ("p", "cut the network in two halves, or mend it"),
    ("o", "the selected one's computer off, or on"),
    ("L", "lose no frames, 10, 20 or 40 percent"),
    ("D", "frames take about 40, 200 or 1,000 ms"),
    ("U", "no frames, 10 or 40 percent arrive twice"),
    ("Esc, F4", "close what is open, then leave"),
)
WORD_CELLS: Final = 16


def full_help() -> Content:
    """Return every key with what it does, a line each."""
    rows = [Content.assemble((f"{key:<{WORD_CELLS}}", "bold"), meaning) for key, meaning in HELP]
    return Content("\n").join(rows)
