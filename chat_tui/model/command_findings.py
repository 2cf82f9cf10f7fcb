"""Results of commands about reading: a place, hits or a list; printed in line mode."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct, field

from chat_tui.model.row import shown_text
from chat_tui.text.namesakes import called, shared_among
from chat_tui.text.plain_lines import plain_name
from chat_tui.text.times import day_of, time_of_day
from chat_tui.wording.acts import SIGN, sentence
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.view import Line, Position

DEPTH_SHOWN: Final = 8
"""Steps of a list of replies that stand further in; more would leave no room for the texts."""


class Hits(Struct, frozen=True):
    """Messages that have the words of `query`, oldest first; `more` if there are older ones."""

    query: str
    lines: tuple[Line, ...]
    more: bool = False
    total: int | None = None
    """Number of all there are; None if nobody has counted."""
    chosen: int = -1
    """Index of the one to go to first."""


class Listed(Struct, frozen=True):
    """Messages to choose from, oldest first, under a title."""

    title: str
    lines: tuple[Line, ...]
    note: str = ""
    """A remark about the list, as a sentence."""
    depths: tuple[int, ...] = ()
    """Steps further in of each; none: all stand alike."""
    titles: Mapping[ChannelId, str] = field(default_factory=dict)
    """Titles of the channels, where the messages are of several."""


class Goal(Struct, frozen=True):
    """A place to go to: the first message at or after `position`, or just that message."""

    position: Position
    message_id: MessageId | None = None
    back_to: tuple[Position, MessageId] | None = None
    """The message that one came from, to come back to."""


class Detailed(Struct, frozen=True):
    """A message whose details are wanted; its bytes, if `raw`."""

    line: Line
    raw: bool = False


class View(Struct, frozen=True):
    """Something that is done to the screen alone: `bare`, `clear`, `unread`, `copy`, ..."""

    what: str


class Acted(Struct, frozen=True):
    """Something that is done with one message on a screen: `copy`, `quote` or `open_link`."""

    what: str
    line: Line


class Holes(Struct, frozen=True):
    """A request for what is known of missing messages: those before one message, or all."""

    after_gap: MessageId | None = None


Found: TypeAlias = Hits | Listed | Goal | Detailed | View | Acted | Holes


def line_text(line: Line, shared: frozenset[str], title: str = "") -> str:
    """Return a message in one line, with its time, and its channel if there is a `title`.

    Names in `shared` are those of several keys.
    """
    when = " ".join(part for part in (time_of_day(line.created_ns), title) if part)
    if line.act is not None:
        said = sentence(line, partial(_told_apart, shared))
        return f"{when} {SIGN} {said}"
    text = " ".join(shown_text(line).split())
    name = plain_name(line.nick, called(line.author, line.nick, shared))
    return f"{when} {name}: {text}"


def _told_apart(shared: frozenset[str], peer: PeerId, nick: str) -> str:
    return plain_name(nick, called(peer, nick, shared))


def indent(depths: Sequence[int], number: int) -> str:
    """Return what stands before an entry of a list for its depth; the deepest stand alike."""
    return "  " * min(depths[number], DEPTH_SHOWN) if depths else ""


NO_TITLES: Final[Mapping[ChannelId, str]] = {}


def as_text(
    lines: Sequence[Line],
    shared: frozenset[str],
    titles: Mapping[ChannelId, str] = NO_TITLES,
    *,
    depths: Sequence[int] = (),
) -> str:
    """Return messages one a line, each day with its name above it, and with ids.

    With `titles` each has its channel; with `depths` it stands as far in as that says, behind its
    id.
    """
    shared = shared_among(lines, shared)
    said: list[str] = []
    day = ""
    for number, line in enumerate(lines):
        if day_of(line.created_ns) != day:
            day = day_of(line.created_ns)
            said.append(f"{day}:")
        words = line_text(line, shared, titles.get(line.channel, ""))
        said.append(f"  {line.message_id[:6]} {indent(depths, number)}{words}")
    return "\n".join(said)
