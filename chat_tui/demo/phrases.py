"""Times and acts in words, for everything that the demo says."""

from datetime import UTC, datetime
from typing import Final, assert_never

from chat_tui.demo.acts import (
    Act,
    Cut,
    Delay,
    Divide,
    Duplicate,
    EnterCode,
    Expel,
    GiveCode,
    Lose,
    LosePart,
    Loss,
    PinLine,
    Power,
    ReadAll,
    SetTopic,
    Write,
)
from chat_tui.text.listing import listed
from chat_tui.text.safe_text import clean_text, clip_cells
from sync.machine import MILLISECOND, SECOND, Nanos

TITLE_CELLS: Final = 26
"""Of a message that a sentence names: enough to know which."""

ID_SHOWN: Final = 6


def clock(when: Nanos) -> str:
    """Return the time of day to the second on this computer's clock, as `09:16:02`."""
    return f"{datetime.fromtimestamp(when // SECOND, tz=UTC).astimezone():%H:%M:%S}"


def clock_tenths(when: Nanos) -> str:
    """Return the same to a tenth of a second, as `09:16:02.9`."""
    return f"{clock(when)}.{when // (100 * MILLISECOND) % 10}"


def waits(length: Nanos) -> str:
    """Return a short wait, as `0.8 s` or `41 s`."""
    seconds = max(0, length) / SECOND
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004


def quoted(text: str) -> str:
    """Return the beginning of a message between quotation marks."""
    return f'"{clip_cells(" ".join(clean_text(text).split()), TITLE_CELLS)}"'


def what_happens(act: Act, names: tuple[str, ...]) -> str:
    """Return an act as a clause in the present tense."""
    match act:
        case Write(who, text):
            return f"{names[who]} writes {quoted(text)}"
        case Lose(who, to):
            whose = "the next message" if who is None else f"{names[who]}'s next message"
            return f"{whose} will be lost on its way to {listed([names[one] for one in to])}"
        case Loss(percent):
            return f"{percent} % of all frames are lost from now on"
        case Delay(milliseconds):
            return f"a frame takes about {milliseconds:,} ms from now on"
        case Duplicate(percent):
            return f"{percent} % of all frames arrive twice from now on"
        case LosePart(0):
            return "no new message is lost any more"
        case LosePart(percent):
            return f"each receiver loses {percent} % of the new messages from now on"
        case Cut(one, other):
            return f"the link between {names[one]} and {names[other]} is cut"
        case Divide(()):
            return "the network is whole again; links come back within 5 s"
        case Divide(side):
            here = [names[one] for one in side if one < len(names)]
            there = [name for number, name in enumerate(names) if number not in side]
            return f"the network falls in two: {listed(here)} here, {listed(there)} there"
        case SetTopic(who, text):
            return f"{names[who]} sets the topic {quoted(text)}"
        case PinLine(who):
            return f"{names[who]} pins a line"
        case ReadAll(who):
            return f"{names[who]} has read everything"
        case Expel(who, whom, reason):
            return f"{names[who]} removes {names[whom]} from the channel: {reason}"
        case GiveCode(who):
            return f"{names[who]} makes a code, and hands it over"
        case EnterCode(who):
            return f"{names[who]} enters the code"
        case Power(who, on=True):
            return f"{names[who]}'s computer is on"
        case Power(who):
            return f"{names[who]}'s computer is off"
        case _:
            assert_never(act)
