"""Draws the sequence chart: who sent what to whom, a line each, the newest last.

Each line has its kind as a word at its end; what is lost stops with a cross and keeps its colour.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from chat_tui.demo.moment import Shot, Titles
from chat_tui.demo.pacing.traffic import Traffic, Wait, ends_of, kind_of
from chat_tui.demo.painting.cells import content_of
from chat_tui.demo.painting.kinds import kind_style
from chat_tui.demo.painting.setting import Setting, person_style
from chat_tui.demo.phrases import waits
from chat_tui.wording.glyphs import bar
from chat_tui.wording.panels import BAD, BUSY, DIM
from sync.machine import MILLISECOND, SECOND, MessageId, Nanos
from sync.sim.watch import Flight

ROWS_MAX: Final = 12
"""The last dozen stay."""

GLOW: Final[Nanos] = 2 * SECOND
"""Viewer's time for which a line that has come to its end keeps its colour."""

TOGETHER: Final[Nanos] = 5 * MILLISECOND
"""Frames to several people that set out within this are one line."""

LOOKED_AT: Final = 600
"""Newest frames that are looked at: a whole history that is handed over is one line."""

WORTH: Final[Nanos] = 500 * MILLISECOND
"""A wait that was over sooner is no line any more."""

TIME_CELLS: Final = 6
WORD_CELLS: Final = 16
"""For the kind in a word, and how often, as `240 x transfer`."""


@dataclass(slots=True)
class Row:
    """A line of the chart: one frame to one or several people, or many of a kind to one."""

    kind: str
    sender: int
    message_id: MessageId | None
    began: Nanos
    ends: Nanos
    flights: dict[int, Flight] = field(default_factory=dict)
    """By receiver, the last to arrive."""
    number: int = 1
    wait: Wait | None = None

    @property
    def is_lost(self) -> bool:
        """True if it is lost on its way to somebody."""
        return any(one.lost for one in self.flights.values())


def rows_of(traffic: Traffic, now: Nanos) -> list[Row]:
    """Return the lines of what was on its way until `now`, oldest first."""
    rows: list[Row] = []
    flights = traffic.flights
    until = bisect_right(flights, now, key=lambda one: one.sent_at)
    for flight in flights[max(0, until - LOOKED_AT) : until]:
        if not _joined(rows, flight):
            rows.append(
                Row(
                    kind_of(flight),
                    flight.sender,
                    flight.message_id,
                    flight.sent_at,
                    flight.at,
                    {flight.receiver: flight},
                )
            )
    for wait in traffic.waits:
        ends = ends_of(wait)
        if wait.began <= now and (now < ends or ends - wait.began >= WORTH):
            rows.append(Row("wait", wait.who, wait.message_id, wait.began, ends, wait=wait))
    return sorted(rows, key=lambda row: row.began)


def _joined(rows: list[Row], flight: Flight) -> bool:
    """Add a frame to a line that it belongs to; returns whether there was one."""
    kind = kind_of(flight)
    for row in reversed(rows[-3:]):
        if (row.kind, row.sender) != (kind, flight.sender):
            continue
        together = flight.sent_at <= row.began + TOGETHER and row.message_id == flight.message_id
        again = flight.receiver in row.flights and row.message_id is None
        if together and flight.receiver not in row.flights:
            row.flights[flight.receiver] = flight
        elif again and row is rows[-1] and flight.sent_at <= row.ends:
            row.flights[flight.receiver] = flight
            row.number += 1
        else:
            continue
        row.ends = max(row.ends, flight.at)
        return True
    return False


def chart(shot: Shot, at: Setting, titles: Titles, height: int) -> list[Content]:
    """Return a line with names, and the newest lines below it: `height` in all."""
    assert at.traffic is not None
    lanes = lanes_of(len(shot.people), at.width)
    rows = rows_of(at.traffic, at.now)[-min(ROWS_MAX, max(0, height - 1)) :]
    lines = [_names(shot, at, lanes)]
    shown = ""
    for row in rows:
        time = f"{(row.began - _begin(at)) / SECOND:.1f}"
        lines.append(_line(row, "" if time == shown else time, lanes, at, titles))
        shown = time
    return lines + [_Cells(lanes, at).content] * (height - len(lines))


def _begin(at: Setting) -> Nanos:
    return 0 if at.score is None else at.score.began


def lanes_of(people: int, width: int) -> list[int]:
    """Return the column of each participant: all the room between times and words, in parts."""
    room = width - TIME_CELLS - WORD_CELLS
    part = room // people
    return [TIME_CELLS + part * number + part // 2 for number in range(people)]


def _names(shot: Shot, at: Setting, lanes: Sequence[int]) -> Content:
    line = Content("")
    for number, (person, lane) in enumerate(zip(shot.people, lanes, strict=True)):
        name = person.name if person.up else f"{person.name} (off)"
        begins = max(line.cell_length + 1, lane - cell_len(name) // 2)
        line = line.pad_right(begins - line.cell_length)
        style = person_style(number, at.theme) if person.up else DIM
        line += Content.styled(name, f"{style} underline" if number == at.selected else style)
    return line


class _Cells:
    """One line, cell by cell, with the lanes of all participants."""

    def __init__(self, lanes: Sequence[int], at: Setting) -> None:
        self.lanes, self.at = lanes, at
        self.lifeline = ":" if at.is_ascii else "┊"
        self.signs = [" "] * at.width
        self.styles = [DIM] * at.width
        for lane in lanes:
            self.put(lane, self.lifeline, DIM)

    def put(self, at: int, words: str, style: str) -> None:
        """Write words from a cell on."""
        for place, sign in enumerate(words, at):
            if 0 <= place < len(self.signs):
                self.signs[place], self.styles[place] = sign, style

    def say(self, word: str, style: str) -> None:
        """Write what kind of line it is, at its end."""
        self.put(len(self.signs) - WORD_CELLS + 1, word[: WORD_CELLS - 1], style)

    @property
    def content(self) -> Content:
        """The line."""
        return content_of(self.signs, self.styles)


def _line(row: Row, time: str, lanes: Sequence[int], at: Setting, titles: Titles) -> Content:
    cells = _Cells(lanes, at)
    cells.put(0, f"{time:>{TIME_CELLS - 2}}", DIM)
    style = _style(row, at)
    if row.wait is not None:
        _draw_wait(cells, row, style)
        return cells.content
    word = row.kind if row.number == 1 else f"{row.number} x {row.kind}"
    title = titles.of(row.message_id) if row.message_id is not None else ""
    _draw_arrows(cells, row, title, style)
    cells.say(f"{word}, lost" if row.is_lost else word, style)
    return cells.content


def _style(row: Row, at: Setting) -> str:
    if row.is_lost:
        return BAD
    if at.now >= row.ends and at.score is not None:
        bent = at.score.bent
        if bent.viewed(at.now) - bent.viewed(row.ends) > GLOW:
            return DIM
    if row.wait is not None:
        return BUSY
    return kind_style(row.kind, at.theme)


def _draw_arrows(cells: _Cells, row: Row, title: str, style: str) -> None:
    """Draw a line to each receiver, the title on it, and the heads over all."""
    at, lanes = cells.at, cells.lanes
    rule, right, left, cross, tail, tail_left = "-><X||" if at.is_ascii else "─▶◀✗├┤"
    origin = lanes[row.sender]
    heads: list[tuple[int, str, str]] = []
    for one in sorted(row.flights.values(), key=lambda one: -abs(lanes[one.receiver] - origin)):
        target = lanes[one.receiver]
        way = 1 if target > origin else -1
        arrived = at.now >= one.at or not at.moves
        whole = abs(target - origin) - (1 if one.lost else 0)
        end = origin + way * (whole if arrived else _gone(one, at.now, whole))
        cells.put(min(origin, end), rule * (abs(end - origin) + 1), style)
        cells.put(origin, tail if way > 0 else tail_left, style)
        lost = one.lost and arrived
        heads.append((end, cross if lost else right if way > 0 else left, BAD if lost else style))
    hidden = _draw_title(cells, row, title, style, [place for place, _, _ in heads])
    for place, sign, colour in heads:
        if place not in hidden:
            cells.put(place, sign, colour)


def _gone(one: Flight, now: Nanos, whole: int) -> int:
    return max(1, (now - one.sent_at) * whole // max(1, one.at - one.sent_at))


def _draw_title(cells: _Cells, row: Row, title: str, style: str, heads: Sequence[int]) -> range:
    """Write what it is on the line itself, if it has room, as far as the first head has come.

    Returns the cells in which the other heads do not show.
    """
    if not title or cell_len(title) != len(title):
        return range(0)  # wide signs have no place in a line of single cells
    origin = cells.lanes[row.sender]
    for way in (1, -1):
        ways = [(cells.lanes[one] - origin) * way for one in row.flights]
        nearest = min((one for one in ways if one > 0), default=0)
        if len(title) + 6 > nearest:
            continue
        begins = origin + 3 if way > 0 else origin - 4 - len(title)
        ends = begins + len(title) + 2
        gone = max((place - origin) * way for place in heads)
        for place, sign in enumerate(f" {title} ", begins):
            if (place - origin) * way < gone:
                cells.put(place, sign, style)
        first = origin + way * gone
        return range(begins, min(ends, first)) if way > 0 else range(max(begins, first + 1), ends)
    return range(0)


def _draw_wait(cells: _Cells, row: Row, style: str) -> None:
    wait, now = row.wait, cells.at.now
    assert wait is not None
    if now < row.ends:
        words = f"waits {waits(wait.until - wait.began)}"
        if cells.at.moves:
            share = (now - wait.began) / max(1, wait.until - wait.began)
            words = f"{bar(share, cells.at.glyphs)} {waits(wait.until - now)}"
        word = "to ask" if wait.asks else "to answer"
    else:
        words, word = f"waited {waits(row.ends - wait.began)}", "waited"
    most = len(cells.signs) - WORD_CELLS - len(words)
    cells.put(min(max(TIME_CELLS, cells.lanes[row.sender] - len(words) // 2), most), words, style)
    cells.say(word, style)
