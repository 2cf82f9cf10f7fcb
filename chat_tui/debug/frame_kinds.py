"""Colours of kinds of frames, by the short names that stand beside them; the demo's are alike."""

from typing import Final

# no import of the screen's: line mode says the same names
UNKNOWN: Final = "$warning"
MESSAGE: Final = "$success"
ANSWER: Final = "$accent"
ASKS: Final = "bold $warning"
COMPARED: Final = "$secondary"
GOVERNED: Final = "bold $primary"

KIND_STYLES: Final = {
    "MSG": MESSAGE,
    "SDS": MESSAGE,
    "REPAIR": ANSWER,
    "SYNC": "$primary",
    "EPH": "$foreground",
    "RANGES": COMPARED,
    "CHECK": COMPARED,
    "LOGS": COMPARED,
    "HANDS": COMPARED,
    "HASHES": COMPARED,
    "FILTER": COMPARED,
    "SYMBOL": COMPARED,
    "WANT": ASKS,
    "ASK": ASKS,
    "PAGE": f"bold {ANSWER}",
    "SESSION": COMPARED,
    "PUSH": f"bold {MESSAGE}",
    "ENTRY": f"bold {MESSAGE}",
    "OP": GOVERNED,
    "HEADS": GOVERNED,
    "OPS": GOVERNED,
    "STATE": GOVERNED,
    "ROOT": COMPARED,
    "BAD": "$error",
}
"""By the names of the wire's lines and of the counts in the tab Now."""


def style_of(kind: str) -> str:
    """Return the colour of a kind; one of a later version looks as if something were unsettled."""
    return KIND_STYLES.get(kind, UNKNOWN)
