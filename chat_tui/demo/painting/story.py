"""Draws what is told: the sentence of now in a frame, those before it with their time, promises."""

import re
from typing import Final

from textual.content import Content

from chat_tui.demo.cast import Said
from chat_tui.demo.moment import Shot
from chat_tui.demo.pacing.reading import sentence_of_now
from chat_tui.demo.painting.setting import WIDE, Setting, person_style
from chat_tui.demo.phrases import clock_tenths
from chat_tui.text.safe_text import wrap
from chat_tui.wording.panels import BAD, DIM, GOOD

NOW_LINES: Final = 3
"""Of the sentence of now: kept free for it, so that nothing moves when it is shorter."""

TALL: Final = 34
"""Lines from which on sentences of before have room below the frame."""

BAR_CELLS: Final = 2
"""At the left of the sentence of now, where a frame has no room."""


def now_lines(shot: Shot, at: Setting, room: int, *, barred: bool) -> list[Content]:
    """Return the sentence of now, whole; before the first, what will be seen.

    It stands in a frame, or beside a bar where lines are few.
    """
    inside = at.width - (BAR_CELLS + 1 if barred else 4)
    if not shot.said:
        body = [Content.styled(part, "bold") for part in wrap(shot.about, inside)]
        return (_barred if barred else _framed)(body, "You will see", at, room)
    place = place_of_now(shot, at)
    said = shot.said[place]
    body = [_coloured(part, shot, at, "bold") for part in wrap(said.plain, inside)]
    if at.formulas:
        body += [Content.styled(part, "$secondary") for part in wrap(said.formula, inside)]
    elif at.height < TALL:
        body = _among_others(body, place, shot, at, inside)
    least = NOW_LINES if at.width < WIDE else NOW_LINES - 1
    body += [Content("")] * (least - len(body))
    return (_barred if barred else _framed)(body, clock_tenths(said.at), at, room)


def place_of_now(shot: Shot, at: Setting) -> int:
    """Return the place of the sentence of now among those that were said."""
    bent = None if at.score is None else at.score.bent
    return sentence_of_now(shot.said, at.now, bent.viewed if bent else lambda when: when)


def _among_others(
    body: list[Content], place: int, shot: Shot, at: Setting, width: int
) -> list[Content]:
    """Return the sentence of now with the newest one and those before it, as many as fit."""
    newest = len(shot.said) - 1
    for other in (*((newest,) if newest > place else ()), *range(place - 1, -1, -1)):
        told = [_coloured(part, shot, at, DIM) for part in wrap(shot.said[other].plain, width)]
        if len(told) + len(body) > NOW_LINES:
            break
        body = [*body, *told] if other > place else [*told, *body]
    return body


def closing_lines(shot: Shot, at: Setting) -> list[Content]:
    """Return the promises, each ticked, or crossed with the reason."""
    lines: list[Content] = []
    good, bad = ("+", "x") if at.is_ascii else ("✓", "✗")
    for verdict in shot.closing:
        sign, word = (good, "") if verdict.holds else (bad, "FAILS: ")
        style = GOOD if verdict.holds else BAD
        text = f"{word}{verdict.claim} ({verdict.because})"
        for number, part in enumerate(wrap(text, at.width - 4)):
            head = f" {sign} " if number == 0 else "   "
            lines.append(Content.styled(f"{head}{part}", style))
    return lines


def before_lines(shot: Shot, at: Setting, height: int) -> list[Content]:
    """Return the other sentences, the newest first, as many as fit whole."""
    lines: list[Content] = []
    now = place_of_now(shot, at) if shot.said else -1
    for place in range(len(shot.said) - 1, -1, -1):
        if place == now:
            continue
        said = shot.said[place]
        told = _told(said, shot, at)
        if len(lines) + len(told) > height:
            break  # half a sentence says nothing
        lines += told
    return lines


def _told(said: Said, shot: Shot, at: Setting) -> list[Content]:
    head = f" {clock_tenths(said.at)}  "
    width = at.width - len(head) - 1
    lines: list[Content] = []
    for number, part in enumerate(wrap(said.plain, width)):
        time = Content.styled(head, DIM) if number == 0 else Content(" " * len(head))
        lines.append(time + _coloured(part, shot, at, ""))
    if at.formulas:
        indent = " " * len(head)
        lines += [Content.styled(indent + part, "$secondary") for part in wrap(said.formula, width)]
    return lines


def _coloured(text: str, shot: Shot, at: Setting, style: str) -> Content:
    """Return a sentence with each participant's name in its colour."""
    numbers = {person.name: number for number, person in enumerate(shot.people)}
    pattern = "|".join(re.escape(name) for name in numbers)
    parts: list[tuple[str, str]] = []
    for part in re.split(rf"\b({pattern})\b", text, flags=re.IGNORECASE):
        number = numbers.get(part.lower())
        parts.append((part, style if number is None else person_style(number, at.theme)))
    return Content.assemble(*[part for part in parts if part[0]])


def _barred(body: list[Content], _title: str, at: Setting, room: int) -> list[Content]:
    side = Content.styled("| " if at.is_ascii else "▌ ", "$accent")
    return [side + line for line in body[:room]]


def _framed(body: list[Content], title: str, at: Setting, room: int) -> list[Content]:
    corners, rule, side_sign = ("++++", "-", "|") if at.is_ascii else ("╭╮╰╯", "─", "│")
    edge = Content.styled(side_sign, "$accent")
    inside = at.width - 4
    head = f"{corners[0]}{rule} {title} " if title else corners[0]
    lines = [Content.styled(head.ljust(at.width - 1, rule) + corners[1], "$accent")]
    for line in body[: room - 2]:
        padded = line.pad_right(max(0, inside - line.cell_length))
        lines.append(edge + Content(" ") + padded + Content(" ") + edge)
    lines.append(Content.styled(corners[2] + rule * (at.width - 2) + corners[3], "$accent"))
    return lines
