"""Draws the opening of a scenario: what will be seen, its place in the tour, what signs mean."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from chat_tui.demo.moment import Shot
from chat_tui.demo.pacing.traffic import ASKS, WORDS
from chat_tui.demo.painting.kinds import kind_style
from chat_tui.demo.painting.setting import Setting
from chat_tui.demo.painting.story import now_lines
from chat_tui.wording import glyphs
from chat_tui.wording.panels import BAD, BUSY, DIM, GOOD
from sync.manager.payload_kinds import PayloadKind
from sync.sds.message import Delivery
from sync.sim.watch import Cause

ARROW_CELLS: Final = 5

MEANINGS: Final = (
    (WORDS[Cause.NEW], "a new line"),
    (WORDS[Cause.SYNC], "tells what is here"),
    (ASKS, "asks who has a line"),
    (WORDS[Cause.ANSWER], "gives it once more"),
    (PayloadKind.RANGES.value, "compares histories"),
    (WORDS[Cause.TRANSFER], "brings what differs"),
    (WORDS[Cause.STATE], "topic, pin or mark"),
    (WORDS[Cause.OPERATION], "who is in, who is out"),
    (PayloadKind.PAGE.value, "part of a snapshot"),
)
"""Kinds of frames with a colour of their own, and what each does."""

MARKS: Final = (
    (Delivery.UNACKNOWLEDGED, BUSY),
    (Delivery.POSSIBLY_ACKNOWLEDGED, BUSY),
    (Delivery.ACKNOWLEDGED, GOOD),
)
"""Marks of one's own lines, and their colours."""

WORD_CELLS: Final = 12
GAP: Final = "  "


def opening_lines(shot: Shot, at: Setting, room: int) -> list[Content]:
    """Return the sentence, and below it the tour, beside it the signs where both have room."""
    lines = now_lines(shot, at, room, barred=at.is_low)
    tour = _tour(at, room - len(lines) - 1)
    used = _width(tour) + len(GAP)
    legend = _legend(at, explained=True)
    if used + _width(legend) > at.width:
        legend = _legend(at, explained=False)
    if used + _width(legend) <= at.width:
        rows = max(len(tour), min(len(legend), room - len(lines) - 1))
        tour += [Content("")] * (rows - len(tour))
        tour = [
            line.pad_right(used - line.cell_length) + sign
            for line, sign in zip(tour, [*legend, *[Content("")] * rows], strict=False)
        ]
    return [*lines, Content(""), *tour]


def _tour(at: Setting, height: int) -> list[Content]:
    """Return the scenarios, the one that is shown marked: as many around it as fit."""
    height = max(1, min(height, len(at.tour)))
    first = min(max(0, at.number - 1 - height // 2), len(at.tour) - height)
    lines: list[Content] = []
    for number, title in enumerate(at.tour[first : first + height], first + 1):
        here = number == at.number
        sign = (">" if at.is_ascii else "▶") if here else " "
        style = "bold $accent" if here else "" if number > at.number else DIM
        lines.append(Content.styled(f" {sign} {number:>2}  {title}", style))
    return lines


def _width(lines: Sequence[Content]) -> int:
    return max(line.cell_length for line in lines)


def _legend(at: Setting, *, explained: bool) -> list[Content]:
    """Return the colours of the chart and the marks of a line, with words, or also what they do."""
    rule, head, cross, tail = "->X|" if at.is_ascii else "─▶✗├"
    arrow = tail + rule * (ARROW_CELLS - 2) + head
    lines = [
        Content.assemble(
            (f"{arrow} {kind:<{WORD_CELLS}}", kind_style(kind, at.theme)),
            (meaning if explained else "", DIM),
        )
        for kind, meaning in MEANINGS
    ]
    lost = arrow[:-1] + cross
    lines.append(
        Content.assemble(
            (f"{lost} {'lost':<{WORD_CELLS}}", BAD), ("on its way" if explained else "", DIM)
        )
    )
    for delivery, style in MARKS:
        mark = at.glyphs.marks[delivery].center(ARROW_CELLS)
        word = glyphs.WORDS[delivery]
        lines.append(Content.assemble((f"{mark} {word}", style)))
    return lines
