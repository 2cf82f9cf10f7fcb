"""A moment of the demo as lines of the screen: pure functions, so that a moment looks the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from chat_tui.demo.lanes import flight_lines, range_lines
from chat_tui.demo.moment import Air, Person, Shot
from chat_tui.demo.phrases import clock_tenths, waits
from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.terminal.themes import author_style
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells, wrap
from chat_tui.text.times import count
from chat_tui.wording.glyphs import ASCII, Glyphs, mark_word
from chat_tui.wording.panels import BAD, BUSY, DIM, GOOD, TITLE
from sync.machine import MILLISECOND
from sync.sds.message import Delivery
from sync.view.view import Line

PANEL_CELLS: Final = 24
"""Width a participant needs beside others."""

PANELS_MIN: Final = 3
"""Participants side by side from which on that is worth it; else one after the other."""

PANEL_CELLS_MAX: Final = 44
AIR_CELLS: Final = 24
WIDE: Final = 110
"""Width from which on the network has a column of its own."""

PANEL_LINES_MIN: Final = 4
FEW_LINES: Final = 18
"""Below, the keys have one line and the lanes two."""

WHAT_NEXT: Final = "[{demo_next}] next scenario, [{demo_again}] again"


@dataclass(frozen=True, slots=True)
class Setting:
    """Display options of the demo: size, glyphs, theme, selected participant, speed, formulas."""

    width: int
    height: int
    glyphs: Glyphs
    theme: str
    selected: int
    running: bool
    speed: float
    formulas: bool
    note: str = ""
    """Effect of the last key, or the reason why it did nothing."""
    keys: tuple[tuple[str, str], ...] = ()
    """Those that the last line names, and what each does."""
    chosen: Chosen = field(default_factory=lambda: USUAL)

    @property
    def is_ascii(self) -> bool:
        """True if only ASCII may be drawn."""
        return self.glyphs is ASCII


def draw(shot: Shot, at: Setting) -> list[Content]:
    """Return the whole screen, `at.height` lines of at most `at.width` cells."""
    top = _header(shot, at)
    bottom = [*_status(shot, at), *_keys(at)]
    room = at.height - len(top) - len(bottom)
    lanes = _middle(shot, at)
    panels_room = max(PANEL_LINES_MIN + 2, (room - len(lanes)) * 5 // 9)
    panels = _panels(shot, at, panels_room)
    story_room = max(2, room - len(lanes) - len(panels))
    lines = [*top, *panels, *lanes, *_story(shot, at, story_room), *bottom]
    return lines[: at.height]


def _header(shot: Shot, at: Setting) -> list[Content]:
    state = "running" if at.running else "paused"
    if shot.closing:
        state = "over"
    if shot.earlier:
        state += ", in the past"
    sign = {"running": ">", "paused": "#"}.get(state, "=") if at.is_ascii else ""
    sign = sign or {"running": "▶", "paused": "■"}.get(state, "◆")
    left = Content.assemble((" DEMO ", "bold reverse"), f" {shot.title}")
    right = f"x{at.speed:g}  {clock_tenths(shot.now)}  {sign} {state}  {shot.source} "
    room = at.width - cell_len(right)
    left = left.truncate(max(8, room - 1), ellipsis=not at.is_ascii)
    return [left.pad_right(max(0, room - left.cell_length)) + Content.styled(right, DIM)]


# -- participants ---------------------------------------------------------------------------------


def _panels(shot: Shot, at: Setting, height: int) -> list[Content]:
    """Return the participants side by side, as many as have room; else the selected one."""
    wide = at.width >= WIDE and shot.air is not None
    room = at.width - (AIR_CELLS if wide else 0)
    number, shown = len(shot.people), _shown(shot, room)
    first = min(max(0, at.selected - shown // 2), number - shown)
    width = min(room // shown, PANEL_CELLS_MAX if shown > 1 else room)
    columns = [
        _panel(shot.people[who], width, height, at, selected=who == at.selected)
        for who in range(first, first + shown)
    ]
    if wide and shot.air is not None:
        columns.append(_air_column(shot.air, AIR_CELLS, height))
    return [Content("").join(parts) for parts in zip(*columns, strict=True)]


def _shown(shot: Shot, room: int) -> int:
    """Return how many participants stand side by side in so many cells."""
    number, fitting = len(shot.people), room // PANEL_CELLS
    return 1 if fitting < min(PANELS_MIN, number) else min(number, fitting)


def _panel(
    person: Person, width: int, height: int, at: Setting, *, selected: bool
) -> list[Content]:
    """Return one participant in a frame: name, conversation, and how full its buffers are."""
    inside = width - 4
    corners, rule, side = ("++++", "-", "|") if at.is_ascii else ("┌┐└┘", "─", "│")
    style = "$accent" if selected else DIM
    state = "" if person.up else " (off)"
    title = f"{corners[0]}{rule} {'> ' if selected else ''}{person.name}{state} "
    lines = [Content.styled(title.ljust(width - 1, rule) + corners[1], style)]
    body = _conversation(person, inside, height - 2, at)
    body += [Content("")] * (height - 2 - len(body))
    for line in body:
        padded = line.pad_right(max(0, inside - line.cell_length))
        edge = Content.styled(side, style)
        lines.append(edge + Content(" ") + padded + Content(" ") + edge)
    foot = f"{corners[2]}{rule} {_buffers(person)} "
    lines.append(
        Content.styled(clip_cells(foot, width - 1).ljust(width - 1, rule) + corners[3], style)
    )
    return lines


def _buffers(person: Person) -> str:
    info = person.info
    if info is None:
        return "off"
    requests = 0 if info.repair is None else info.repair.requests_count
    return f"out {info.outgoing_count} in {info.waiting_count} req {requests}"


def _conversation(person: Person, width: int, height: int, at: Setting) -> list[Content]:
    """Return the newest lines, what is held back, and what is missing."""
    lines: list[Content] = []
    for line in person.lines[-height:]:
        lines += _message(line, person, width, at)
    info = person.info
    if info is not None and info.missing_count:
        lines.append(Content.styled(clip_cells(_missing(person, at), width), BUSY))
    for line in person.held[: max(1, height // 3)]:
        text = clip_cells(f"{clean_nick(line.nick)}: {clean_text(line.text)}", width - 10)
        lines.append(Content.styled(f"{text} held back", DIM))
    return lines[-height:]


def _message(line: Line, person: Person, width: int, at: Setting) -> list[Content]:
    mark = ""
    word = ""
    if line.delivery is not None:
        mark = at.glyphs.marks[line.delivery]
        word = mark_word(line, person.snapshot.now, alone=person.alone)
    nick = clean_nick(line.nick)
    text = " ".join(clean_text(line.text).split())
    room = width - 2 - cell_len(nick) - 2
    text = clip_cells(text, max(4, room))
    body = Content.assemble((nick, _colour(line, at)), f" {text}")
    if word and body.cell_length + len(word) + 3 <= width:
        body = body.pad_right(width - 2 - len(word) - body.cell_length)
        body += Content.styled(word, DIM)
    tone = {Delivery.ACKNOWLEDGED: GOOD, Delivery.FAILED: BAD}.get(
        line.delivery or Delivery.UNACKNOWLEDGED, BUSY
    )
    body = body.pad_right(max(0, width - 1 - body.cell_length))
    gap = []
    if line.after_gap:
        gap = [Content.styled(clip_cells(f"{at.glyphs.gap} could not be found", width), BUSY)]
    return [*gap, body + Content.styled(mark, tone)]


def _colour(line: Line, at: Setting) -> str:
    colour = author_style(line.author, at.theme).color
    return "" if colour is None else f"bold {colour.name}"


def _missing(person: Person, at: Setting) -> str:
    info = person.info
    assert info is not None
    words = f"{at.glyphs.gap} {info.missing_count} missing"
    if info.repair is not None and info.repair.requests and not person.alone:
        left = info.repair.requests[0].t_req - person.snapshot.now
        words += f", {waits(left)}"
    return words


# -- the network ----------------------------------------------------------------------------------


def _air_rows(air: Air) -> list[tuple[str, str]]:
    low, high = (one // MILLISECOND for one in air.delay)
    rows = [
        ("loss", f"{air.loss:.0%}"),
        ("delay", f"{(low + high) // 2} ms +-{(high - low) // 2}"),
        ("partition", air.sides or "off"),
    ]
    if air.duplicate:
        rows.append(("duplicate", f"{air.duplicate:.0%}"))
    if air.cuts:
        rows.append(("cut", ", ".join(air.cuts)))
    if air.dooms:
        rows.append(("to be lost", ", ".join(air.dooms)))
    return rows


def _air_column(air: Air, width: int, height: int) -> list[Content]:
    lines = [Content.styled("  NETWORK", TITLE)]
    for word, value in _air_rows(air):
        for number, part in enumerate(wrap(value, width - 13)):
            head = f"{word:<10}" if not number else " " * 10
            lines.append(Content.assemble((f"  {head} ", DIM), part))
    lines = lines[:height]
    lines += [Content("")] * (height - len(lines))
    return [line.pad_right(max(0, width - line.cell_length)) for line in lines]


# -- what is under way, what happened, what comes next --------------------------------------------


def _middle(shot: Shot, at: Setting) -> list[Content]:
    """Return the network where it has no column, and what is under way; a fixed number of lines."""
    lines: list[Content] = []
    if at.width < WIDE and shot.air is not None:
        words = " · ".join(f"{word} {value}" for word, value in _air_rows(shot.air))
        hidden = len(shot.people) - _shown(shot, at.width)
        if hidden:
            words += with_keys(f" · {hidden} more: {{demo_person}}", at.chosen)
        lines.append(Content.styled(clip_cells(f" {words}", at.width), DIM))
    names = [person.name for person in shot.people]
    room = 2 if at.height < FEW_LINES else 4
    moving = range_lines(shot, at.selected, at.glyphs, room) or flight_lines(
        shot, names, room, is_ascii=at.is_ascii
    )
    moving = [line.truncate(at.width, ellipsis=not at.is_ascii) for line in moving[:room]]
    lines += moving + [Content("")] * (room - len(moving))
    return lines


def _story(shot: Shot, at: Setting, height: int) -> list[Content]:
    """Return what was told, the newest last; once it is over, what the checks found comes last."""
    width = at.width - 2
    told: list[Content] = []
    if not shot.said:
        told += [Content(f" {part}") for part in wrap(shot.about, width)]
    for number, said in enumerate(reversed(shot.said)):
        style = "" if number == 0 and not shot.closing else DIM
        lines = [Content.styled(f" {part}", style) for part in wrap(said.plain, width)]
        if at.formulas:
            lines += [
                Content.styled(f"   {part}", "$secondary") for part in wrap(said.formula, width - 2)
            ]
        if number and len(told) + len(lines) > height - len(shot.closing):
            break  # half a sentence says nothing
        told[:0] = lines
    closing = _closing(shot, at)
    told += closing
    told = told[-height:]
    return told + [Content("")] * (height - len(told))


def _closing(shot: Shot, at: Setting) -> list[Content]:
    lines: list[Content] = []
    for verdict in shot.closing:
        good, bad = ("+", "x") if at.is_ascii else ("✓", "✗")
        sign, word = (good, "") if verdict.holds else (bad, "FAILS: ")
        text = clip_cells(f" {sign} {word}{verdict.claim} ({verdict.because})", at.width)
        lines.append(Content.styled(text, GOOD if verdict.holds else BAD))
    return lines


def _status(shot: Shot, at: Setting) -> list[Content]:
    """Return what comes next, or what the last key did."""
    if at.note:
        return [Content.styled(clip_cells(f" {at.note}", at.width), BUSY)]
    if shot.closing:
        failing = sum(not verdict.holds for verdict in shot.closing)
        word = "Every promise holds." if not failing else f"{count(failing, 'promise')} broken."
        said = f" {word} {with_keys(WHAT_NEXT, at.chosen)}"
        return [Content.styled(clip_cells(said, at.width), "bold")]
    if not shot.following:
        return [Content.styled(" Next: nothing is planned.", DIM)]
    words = [f"{clock_tenths(max(when, shot.now))} {what}" for when, what in shot.following]
    line = f" Next: {words[0]}"
    for word in words[1:]:
        if cell_len(line) + len(word) + 3 > at.width:
            break
        line += f" · {word}"
    return [Content.styled(clip_cells(line, at.width), "bold")]


def _keys(at: Setting) -> list[Content]:
    """Return the keys: as many as fit, of which the last, how to leave, is always one."""
    rows = 1 if at.height < FEW_LINES else 2
    named = [(with_keys(key, at.chosen), word) for key, word in at.keys]
    parts = [Content.assemble((f" {key}", "bold $accent"), f" {word} ") for key, word in named]
    while len(lines := _filled(parts, at.width)) > rows:
        del parts[-2]
    return lines


def _filled(parts: Sequence[Content], width: int) -> list[Content]:
    """Return lines of at most `width` cells, none of which ends within a part."""
    lines = [Content("")]
    for part in parts:
        if lines[-1].cell_length + part.cell_length > width:
            lines.append(Content(""))
        lines[-1] += part
    return lines
