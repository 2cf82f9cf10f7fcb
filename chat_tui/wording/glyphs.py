"""The signs and words for how sure we are that somebody has our message, and a few other signs."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Final

from msgspec import Struct

from chat_tui.text.safe_text import clean_nick
from chat_tui.text.times import span
from sync.machine import MINUTE, Nanos
from sync.sds.message import Delivery
from sync.view.view import Line, Trust

WORD_FOR: Final[Nanos] = MINUTE
"""Time for which an unsettled mark also says its word: who just wrote still looks there."""


class Glyphs(Struct, frozen=True):
    """The signs of one character set; every sign has a word elsewhere."""

    marks: dict[Delivery, str]
    gap: str
    rule: str
    here: str
    gone: str
    busy: str
    below: str
    above: str
    full: str
    empty: str
    loading: str
    parked: str
    equal: str
    differs: str
    items: str
    trust: dict[Trust, str]
    cursor: str
    pin: str
    reply: str
    heights: str
    """Signs of a sparkline, from nothing to the highest."""
    shades: str
    """Signs of a field of bits, from none that is set to as many as a full filter has."""
    probed: str
    """Sign of a cell in that field that has a bit of a tested id, and of a mention."""
    hit: str
    """Sign of a message that was searched for."""


UNICODE: Final = Glyphs(
    marks={
        Delivery.UNACKNOWLEDGED: "○",
        Delivery.POSSIBLY_ACKNOWLEDGED: "◐",
        Delivery.ACKNOWLEDGED: "●",
        Delivery.FAILED: "✗",
    },
    gap="┆",
    rule="─",
    here="●",
    gone="○",
    busy="◐",
    below="↓",
    above="↑",
    full="▰",
    empty="▱",
    loading="…",
    parked="◷",
    equal="░",
    differs="█",
    items="▒",
    trust={
        Trust.VERIFIED: "✓",
        Trust.FIRST_SEEN: "?",
        Trust.BLOCKED: "✗",
        Trust.CHANGED: "!",
    },
    cursor="▸",
    pin="⚑",
    reply="↪",
    heights="▁▂▃▄▅▆▇█",
    shades="·░▒▓█",
    probed="◆",
    hit="»",
)
ASCII: Final = Glyphs(
    marks={
        Delivery.UNACKNOWLEDGED: ".",
        Delivery.POSSIBLY_ACKNOWLEDGED: "~",
        Delivery.ACKNOWLEDGED: "+",
        Delivery.FAILED: "x",
    },
    gap=":",
    rule="-",
    here="*",
    gone="-",
    busy="~",
    below="v",
    above="^",
    full="#",
    empty=".",
    loading="<",
    parked="z",
    equal=".",
    differs="#",
    items="=",
    trust={
        Trust.VERIFIED: "v",
        Trust.FIRST_SEEN: "?",
        Trust.BLOCKED: "x",
        Trust.CHANGED: "!",
    },
    cursor=">",
    pin="P",
    reply="R",
    heights="_.-:=+*#",
    shades=".:=*#",
    probed="X",
    hit="/",
)

BAR_CELLS: Final = 5


def bar(share: float, glyphs: Glyphs, *, cells: int = BAR_CELLS) -> str:
    """Return a part of 1 as a row of signs; whatever is left shows as one at least."""
    full = min(max(ceil(share * cells), 0), cells)
    return glyphs.full * full + glyphs.empty * (cells - full)


def band(cells: str, glyphs: Glyphs) -> str:
    """Return the cells of a payload (`sync.view.view.RoundInfo`) as a row of signs."""
    signs = str.maketrans(".#=", f"{glyphs.equal}{glyphs.differs}{glyphs.items}")
    return cells.translate(signs)


def sparkline(values: Sequence[float], cells: int, glyphs: Glyphs, *, peak: float = 0.0) -> str:
    """Return values as a row of at most `cells` heights; neighbours that share a cell are averaged.

    The lowest sign is nothing at all: whatever is more than that stands above it. The highest is
    the greatest of them, or `peak` if that is more.
    """
    cells = min(cells, len(values))
    edges = [at * len(values) // cells for at in range(cells + 1)] if cells else []
    means = [sum(values[start:end]) / (end - start) for start, end in pairwise(edges)]
    highest, top = max(means, default=0.0), len(glyphs.heights) - 1
    highest = max(highest, peak)
    at = [min(top, ceil(top * one / highest)) if one > 0 else 0 for one in means]
    return "".join([glyphs.heights[height] for height in at])


WORDS: Final = {
    Delivery.UNACKNOWLEDGED: "sent",
    Delivery.POSSIBLY_ACKNOWLEDGED: "maybe received",
    Delivery.ACKNOWLEDGED: "received",
    Delivery.FAILED: "failed",
}


EDITED: Final = "(edited)"
"""Words for a message whose text is not the first one."""

DELETED: Final = "deleted by its author"
"""Words in place of the text of a message that its author has hidden."""


def hidden_by(name: str) -> str:
    """Return what stands in place of a text that an admin, of this name, has hidden."""
    return f"hidden by {name} (admin)"


LATE: Final = "(sent without knowing of the removal)"
"""Words for a message of somebody removed, beyond what whoever removed them had."""

FOLDED: Final = "folded away: it answers what knew of its author's removal"
"""Words in place of a text whose author claims not to know what it builds on."""

KNOWING: Final = "(its author knew of the removal)"
"""Words for such a message once somebody wants to see it."""

REPLACED: Final = "replaced: its author has written it anew"
"""Words in place of the text of a message that another one stands for."""

WAITING: Final = "waiting"
"""Words for a message while nobody is there whom it could be sent to."""


LOADING: Final = "history loading"
"""Words for a message that waits for older ones, which are on their way."""


PARKED: Final = "waits for its time"
"""Words for a message that is set aside until then."""


def pending(line: Line) -> str:
    """Return why a message waits for ops of governance."""
    return f"waits: who let {clean_nick(line.nick)} in is not known here yet"


UNANSWERED: Final = "waits for your answer"
"""Words for an own one that waits until the person has answered about the clock."""


def mark_word(line: Line, now: Nanos, *, alone: bool) -> str:
    """Return what stands beside the mark of a message: most marks need no word for long."""
    if line.loading:
        return LOADING
    if line.pending:
        return pending(line)
    if line.parked:
        return UNANSWERED if line.waits else PARKED
    age = now - line.created_ns
    match line.delivery:
        case Delivery.UNACKNOWLEDGED if alone:
            return WAITING
        case Delivery.FAILED:
            return WORDS[Delivery.FAILED]
        case Delivery.UNACKNOWLEDGED if age < WORD_FOR:
            return f"{WORDS[Delivery.UNACKNOWLEDGED]} {span(age)}"
        case Delivery.POSSIBLY_ACKNOWLEDGED if age < WORD_FOR:
            return WORDS[Delivery.POSSIBLY_ACKNOWLEDGED]
        case _:
            return ""
