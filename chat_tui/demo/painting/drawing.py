"""A moment of the demo as lines of the screen: pure functions, so that a moment looks the same."""

from typing import Final

from msgspec.structs import replace
from rich.cells import cell_len
from textual.content import Content

from chat_tui.demo.crowd import Field
from chat_tui.demo.moment import Shot, Titles
from chat_tui.demo.painting.chart import ROWS_MAX, chart
from chat_tui.demo.painting.field import field_lines
from chat_tui.demo.painting.key_lines import key_lines
from chat_tui.demo.painting.opening import opening_lines
from chat_tui.demo.painting.panels import PANEL_CELLS, air_line, panels, shown_in
from chat_tui.demo.painting.ranges import range_lines
from chat_tui.demo.painting.scrubber import scrubber, seconds, time_of
from chat_tui.demo.painting.setting import WIDE, Setting
from chat_tui.demo.painting.story import TALL, before_lines, closing_lines, now_lines
from chat_tui.demo.phrases import clock_tenths
from chat_tui.keys.table import with_keys
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.text.times import count
from chat_tui.wording.panels import BUSY, DIM
from sync.machine import Nanos

PANEL_LINES_MIN, PANEL_LINES = 3, 4
"""Of a conversation, where there are few lines and otherwise."""

STORY_LINES: Final = 4
"""Lines beyond panels and chart from which on sentences of before are worth their place."""

CHART_LINES_MIN: Final = 4
"""The names, and three lines below them."""

CARD_LINES: Final = 4
"""Of a reconciliation: what it found, and its last payloads."""

SCRUBBER_LINE: Final = 1
"""The line of the screen that it is in."""

SCRUBBER_LEAST: Final = 10
"""Cells below which a scrubber shows nothing."""

WHAT_NEXT: Final = "[{demo_next}] next scenario, [{demo_again}] again"
HELD_UP: Final = "the tour waits: [{demo_next}] goes on"


def draw(shot: Shot, at: Setting, titles: Titles | None = None) -> list[Content]:
    """Return the whole screen, `at.height` lines of at most `at.width` cells."""
    top = _header(shot, at)
    bottom = [*_status(shot, at), *key_lines(at)]
    room = at.height - len(top) - len(bottom)
    if shot.closing:
        middle = _closed(shot, at, room)
    elif at.tour:
        middle = opening_lines(shot, at, room)
    else:
        middle = _playing(shot, at, titles or Titles(), room)
    middle += [Content("")] * (room - len(middle))
    return [*top, *middle[:room], *bottom]


def _playing(shot: Shot, at: Setting, titles: Titles, room: int) -> list[Content]:
    if shot.field is not None:
        return _crowd(shot, shot.field, at, room)
    now = now_lines(shot, at, room, barred=at.is_low)
    room -= len(now)
    lanes = _lanes(shot, at, titles, room)
    rest = room - len(lanes)
    before = 0
    if at.height >= TALL and rest - STORY_LINES >= PANEL_LINES + 2:
        before = max(STORY_LINES, rest - _panel_lines(shot, at))
    lines = [*panels(shot, at, max(PANEL_LINES_MIN + 2, rest - before)), *lanes, *now]
    return lines + before_lines(shot, at, before) if before else lines


def _crowd(shot: Shot, field: Field, at: Setting, room: int) -> list[Content]:
    """Return the crowd with its figures, and beside it those with a panel if they have room."""
    now = now_lines(shot, at, room, barred=at.height < TALL)
    height = room - len(now)
    before = STORY_LINES if at.height >= TALL else 0
    lines = field_lines(field, at, height - before)
    used = max(line.cell_length for line in lines) + 1
    if at.width - used > PANEL_CELLS:
        beside = panels(shot, replace(at, width=at.width - used), height - before)
        lines = [
            line.pad_right(used - line.cell_length) + panel
            for line, panel in zip(lines, beside, strict=True)
        ]
    return [*lines, *now, *before_lines(shot, at, before)]


def _panel_lines(shot: Shot, at: Setting) -> int:
    """Return how tall a panel is at most: what is in the fullest, and some room."""
    longest = max(len(person.lines) + len(person.held) for person in shot.people)
    return max(PANEL_LINES + 3, min(longest + 4, at.height // 3))


def _lanes(shot: Shot, at: Setting, titles: Titles, room: int) -> list[Content]:
    """Return the network where it has no column, and what is under way: a fixed number of lines."""
    lines: list[Content] = []
    hidden = len(shot.people) - shown_in(shot, at.width)
    more = with_keys(f"{hidden} more: {{demo_person}}", at.chosen) if hidden else ""
    air = None if at.is_low else air_line(shot, at, more)
    if air is not None:
        lines.append(air)
    if at.traffic is None:
        return lines
    height = room - len(lines) - (PANEL_LINES_MIN if at.is_low else PANEL_LINES) - 2
    height = max(CHART_LINES_MIN, min(ROWS_MAX + 1, height))
    most = min(CARD_LINES, height - CHART_LINES_MIN)
    card = range_lines(shot, at.selected, at.glyphs, at.width, most)
    lines += card
    return lines + chart(shot, at, titles, height - len(card))


def _closed(shot: Shot, at: Setting, room: int) -> list[Content]:
    """Return the promises below the participants, and below both as much story as fits."""
    promises = closing_lines(shot, at)
    failing = sum(not verdict.holds for verdict in shot.closing)
    word = "Every promise holds." if not failing else f"{count(failing, 'promise')} broken."
    promises = [Content(""), *promises, Content.styled(f" {word}", "bold")]
    if at.is_low:
        promises = promises[1:]
    rest = room - len(promises)
    lines: list[Content] = []
    if rest >= PANEL_LINES_MIN + 2:
        tall = min(rest, max(PANEL_LINES_MIN + 2, at.height // 2))
        lines = panels(shot, at, tall)
    return [*lines, *promises[: room - len(lines)]]


def _header(shot: Shot, at: Setting) -> list[Content]:
    """Return the title, and the line with state, speed, scrubber and clock."""
    title = Content.assemble((" DEMO ", "bold reverse"), f" {shot.title}")
    if cell_len(shot.source) + title.cell_length + 2 <= at.width:
        room = at.width - title.cell_length
        title += Content.styled(f"{shot.source} ".rjust(room), DIM)
    return [title.truncate(at.width, ellipsis=not at.is_ascii), _state_line(shot, at)]


def _state_line(shot: Shot, at: Setting) -> Content:
    left, right = _beside_scrubber(shot, at)
    room = at.width - len(left) - len(right)
    middle = Content(" " * max(0, room))
    if at.score is not None:
        middle = scrubber(at.score, at, max(1, room))
    return Content.styled(left, "bold") + middle + Content.styled(right, DIM)


def clicked_time(shot: Shot, at: Setting, x: int, y: int) -> Nanos | None:
    """Return the moment that stands in a cell of the screen; None if it is not the scrubber's."""
    left, right = _beside_scrubber(shot, at)
    room, cell = at.width - len(left) - len(right), x - len(left)
    if at.score is None or y != SCRUBBER_LINE or not 0 <= cell < room:
        return None
    return time_of(cell, at.score, room)


def _beside_scrubber(shot: Shot, at: Setting) -> tuple[str, str]:
    state = "playing" if at.running else "paused"
    if shot.closing:
        state = "over"
    if shot.earlier:
        state += ", in the past"
    sign = {"playing": ">", "paused": "#"}.get(state, "=") if at.is_ascii else ""
    sign = sign or {"playing": "▶", "paused": "■"}.get(state, "◆")
    left = f" {sign} {state} {speed_word(at.speed)} "
    if at.score is not None and at.width >= WIDE and state == "playing":
        left = f" {sign} {state} {speed_word(at.speed)}, slow at events "
    right = f" {clock_tenths(at.now)} "
    if at.score is not None:
        score = at.score
        whole = seconds(score.ends - score.began)
        gone = f"{seconds(at.now - score.began):>{len(whole)}}"  # else the scrubber jumps
        right = f" {gone} / {whole} {right}"
        if len(right) + len(left) + SCRUBBER_LEAST > at.width:
            right = f" {clock_tenths(at.now)} "
    return left, right


def speed_word(speed: float) -> str:
    """Return a speed, as `x1/4` or `x16`."""
    return f"x1/{1 / speed:g}" if speed < 1 else f"x{speed:g}"


def _status(shot: Shot, at: Setting) -> list[Content]:
    """Return what the last key did, or what comes next if there are lines enough."""
    if at.note:
        return [Content.styled(f" {part}", BUSY) for part in wrap(at.note, at.width - 2)]
    if shot.closing:
        what = with_keys(HELD_UP if at.held_up else WHAT_NEXT, at.chosen)
        return [Content.styled(f" {part}", "bold") for part in wrap(what, at.width - 2)]
    if at.is_low:
        return []
    if not shot.following:
        return [Content.styled(" Next: nothing is planned.", DIM)]
    words = [f"{clock_tenths(max(when, at.now))} {what}" for when, what in shot.following]
    line = f" Next: {words[0]}"
    if cell_len(line) > at.width:
        return [Content.styled(f" {part}", DIM) for part in wrap(line.strip(), at.width - 2)]
    for word in words[1:]:
        if cell_len(line) + cell_len(word) + 3 > at.width:
            break
        line += f" · {word}"
    return [Content.styled(clip_cells(line, at.width), DIM)]
