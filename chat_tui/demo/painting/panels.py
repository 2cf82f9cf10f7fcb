"""Draws the participants side by side, each with its conversation, and the network beside them."""

from typing import Final

from rich.cells import cell_len
from textual.content import Content

from chat_tui.demo.moment import Air, Person, Shot
from chat_tui.demo.painting.setting import WIDE, Setting, person_style, style_of
from chat_tui.demo.phrases import waits
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells, wrap
from chat_tui.wording.glyphs import mark_word
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

LINES_MAX: Final = 4
"""Of one message in a panel: the others are there as well."""


def panels(shot: Shot, at: Setting, height: int) -> list[Content]:
    """Return the participants side by side, as many as have room; else the selected one."""
    wide = at.width >= WIDE and shot.air is not None
    room = at.width - (AIR_CELLS if wide else 0)
    number, shown = len(shot.people), shown_in(shot, room)
    first = min(max(0, at.selected - shown // 2), number - shown)
    width = min(room // shown, PANEL_CELLS_MAX if shown > 1 else room)
    columns = [_panel(shot, who, width, height, at) for who in range(first, first + shown)]
    if wide and shot.air is not None:
        columns.append(_air_column(shot.air, AIR_CELLS, height))
    return [Content("").join(parts) for parts in zip(*columns, strict=True)]


def shown_in(shot: Shot, room: int) -> int:
    """Return how many participants stand side by side in so many cells."""
    number, fitting = len(shot.people), room // PANEL_CELLS
    return 1 if fitting < min(PANELS_MIN, number) else min(number, fitting)


def _panel(shot: Shot, who: int, width: int, height: int, at: Setting) -> list[Content]:
    """Return one participant in a frame: name, conversation, and how full its buffers are."""
    person, selected = shot.people[who], who == at.selected
    inside = width - 4
    corners, rule, side = ("++++", "-", "|") if at.is_ascii else ("╭╮╰╯", "─", "│")
    style = "$accent" if selected else DIM
    state = "" if person.up else " (off)"
    name = Content.assemble(
        (f"{corners[0]}{rule} ", style),
        ("> " if selected else "", style),
        (person.name, person_style(who, at.theme)),
        (f"{state} ", style),
    )
    rest = rule * (width - 1 - name.cell_length) + corners[1]
    lines = [name + Content.styled(rest, style)]
    body = _conversation(shot, person, inside, height - 2, at)
    body += [Content("")] * (height - 2 - len(body))
    for line in body:
        padded = line.pad_right(max(0, inside - line.cell_length))
        edge = Content.styled(side, style)
        lines.append(edge + Content(" ") + padded + Content(" ") + edge)
    foot = f"{corners[2]}{rule} {_buffers(person)} "
    lines.append(Content.styled(foot.ljust(width - 1, rule) + corners[3], style))
    return lines


def _buffers(person: Person) -> str:
    info = person.info
    if info is None:
        return "off"
    requests = 0 if info.repair is None else info.repair.requests_count
    return f"out {info.outgoing_count} in {info.waiting_count} req {requests}"


def _conversation(
    shot: Shot, person: Person, width: int, height: int, at: Setting
) -> list[Content]:
    """Return the newest lines that fit whole, what is missing, and what is held back."""
    below: list[Content] = []
    info = person.info
    if info is not None and info.missing_count:
        below += [Content.styled(part, BUSY) for part in wrap(_missing(person, at), width)]
    for line in person.held[: max(1, height // 3)]:
        text = f"{clean_nick(line.nick)}: {_text(line)} held"
        text += " back" if cell_len(text) + 5 <= width else ""
        below += [Content.styled(part, DIM) for part in wrap(text, width)]
    below = below[: max(1, height - 1)]
    lines: list[Content] = []
    for line in reversed(person.lines[-height:]):
        message = _message(line, shot, person, width, at)
        if len(lines) + len(message) + len(below) > height:
            break  # half a message says nothing
        lines[:0] = message
    return [*lines, *below]


def _text(line: Line) -> str:
    return " ".join(clean_text(line.text).split())


def _message(line: Line, shot: Shot, person: Person, width: int, at: Setting) -> list[Content]:
    mark, word = "", ""
    if line.delivery is not None:
        mark = at.glyphs.marks[line.delivery]
        word = mark_word(line, person.snapshot.now, alone=person.alone)
    nick = clean_nick(line.nick)
    indent = cell_len(nick) + 1
    parts = wrap(_text(line), max(8, width - indent - 2))[:LINES_MAX]
    colour = style_of(line.author, shot, at.theme)
    lines = [Content.assemble((nick, colour), f" {parts[0]}")]
    lines += [Content(f"{' ' * indent}{part}") for part in parts[1:]]
    last = lines[-1]
    if word and last.cell_length + len(word) + 3 <= width:
        last = last.pad_right(width - 2 - len(word) - last.cell_length)
        last += Content.styled(word, DIM)
    tone = {Delivery.ACKNOWLEDGED: GOOD, Delivery.FAILED: BAD}.get(
        line.delivery or Delivery.UNACKNOWLEDGED, BUSY
    )
    last = last.pad_right(max(0, width - 1 - last.cell_length))
    lines[-1] = last + Content.styled(mark, tone)
    if line.after_gap:
        words = wrap(f"{at.glyphs.gap} could not be found", width)
        lines[:0] = [Content.styled(part, BUSY) for part in words]
    return lines


def _missing(person: Person, at: Setting) -> str:
    info = person.info
    assert info is not None
    words = f"{at.glyphs.gap} {info.missing_count} missing"
    if info.repair is not None and info.repair.requests and not person.alone:
        words += f", {waits(info.repair.requests[0].t_req - at.now)}"
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


def air_line(shot: Shot, at: Setting, more: str) -> Content | None:
    """Return the network in a line, where it has no column: odd things first."""
    if shot.air is None or at.width >= WIDE:
        return None
    rows = [f"{word} {value}" for word, value in _air_rows(shot.air)]
    odd = rows[2:] if shot.air.sides else rows[3:]
    usual = [row for row in rows if row not in odd]
    words = [*odd, *([more] if more else []), *usual]
    line = ""
    for word in words:
        longer = f"{line} · {word}" if line else f" {word}"
        if cell_len(longer) <= at.width:
            line = longer
    return Content.styled(clip_cells(line, at.width), DIM)


def _air_column(air: Air, width: int, height: int) -> list[Content]:
    lines = [Content.styled("  NETWORK", TITLE)]
    for word, value in _air_rows(air):
        for number, part in enumerate(wrap(value, width - 13)):
            head = f"{word:<10}" if not number else " " * 10
            lines.append(Content.assemble((f"  {head} ", DIM), part))
    lines = lines[:height]
    lines += [Content("")] * (height - len(lines))
    return [line.pad_right(max(0, width - line.cell_length)) for line in lines]
