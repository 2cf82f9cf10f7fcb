"""Draws a crowd as a field: a sign for each person, coloured by state, with figures beside it."""

from math import ceil, sqrt
from typing import Final, NamedTuple

from textual.content import Content

from chat_tui.demo.crowd import ASKS, HAS, LACKS, OFF, WAITS, WORDS, Field
from chat_tui.demo.painting.cells import content_of
from chat_tui.demo.painting.setting import Setting
from chat_tui.text.times import size
from chat_tui.wording.panels import BUSY, DIM, GOOD
from sync.machine import SECOND, Nanos

FLASH: Final[Nanos] = 7 * SECOND // 10
"""Viewer's time for which an answer flashes."""

FIGURE_CELLS: Final = 28
FIGURE_CELLS_MIN: Final = 16
"""For the shortest of them, where the crowd needs the room."""

SIGNS: Final = {LACKS: "·", WAITS: "○", ASKS: "?", HAS: "●", OFF: " "}
ASCII_SIGNS: Final = {LACKS: ".", WAITS: "o", ASKS: "?", HAS: "#", OFF: " "}
FLASHES: Final = "*"
STYLES: Final = {LACKS: DIM, WAITS: BUSY, ASKS: "bold $primary", HAS: GOOD, OFF: DIM}
WORST: Final = (ASKS, WAITS, LACKS, OFF, HAS)
"""Of several people under one sign, the state that is shown: the first of these."""


class Grid(NamedTuple):
    """Shape of a field: columns, cells from one sign to the next, people under one sign."""

    columns: int
    spacing: int
    each: int

    @property
    def width(self) -> int:
        """Cells of a line."""
        return (self.columns - 1) * self.spacing + 1


def grid_of(people: int, width: int, height: int) -> Grid:
    """Return the most square field that fits, with one person a sign if there is room."""
    for each in range(1, people + 1):
        signs = ceil(people / each)
        columns = max(ceil(sqrt(signs)), ceil(signs / height))
        for spacing in (2, 1):
            grid = Grid(columns, spacing, each)
            if grid.width <= width:
                return grid
    return Grid(1, 1, people)


def field_lines(field: Field, at: Setting, height: int) -> list[Content]:
    """Return the field and its figures, `height` lines."""
    people = len(field.states)
    # A blank before the field, two before the figures.
    grid = grid_of(people, at.width - FIGURE_CELLS - 3, height)
    if grid.each > 1:
        grid = grid_of(people, at.width - FIGURE_CELLS_MIN - 3, height)
    answering = {who // grid.each for who, when in field.answers if _flashes(when, at)}
    signs = ASCII_SIGNS if at.is_ascii else SIGNS
    cells: list[tuple[str, str]] = []
    for place in range(ceil(people / grid.each)):
        states = field.states[place * grid.each : (place + 1) * grid.each]
        state = next(one for one in WORST if one in states)
        if place in answering:
            cells.append((FLASHES, "bold reverse"))
        else:
            cells.append((signs[state], STYLES[state]))
    figures = _figures(field, at, grid, len(answering), at.width - grid.width - 3)
    lines: list[Content] = []
    for row in range(height):
        shown = cells[row * grid.columns : (row + 1) * grid.columns]
        spread = [(" ", DIM)]
        for sign, style in shown:
            # A blank in the style before it costs the terminal nothing.
            blank = (" ", DIM if "reverse" in style else style)
            spread += [(sign, style), *[blank] * (grid.spacing - 1)]
        line = content_of([sign for sign, _ in spread], [style for _, style in spread])
        line = line.pad_right(max(0, grid.width + 3 - line.cell_length))
        lines.append(line + figures[row] if row < len(figures) else line)
    return lines


def _flashes(when: Nanos, at: Setting) -> bool:
    if at.score is None or when > at.now:
        return False
    return at.score.bent.viewed(at.now) - at.score.bent.viewed(when) < FLASH


def _figures(field: Field, at: Setting, grid: Grid, answering: int, width: int) -> list[Content]:
    """Return what the signs mean, how many there are of each, and the figures of all."""
    signs = ASCII_SIGNS if at.is_ascii else SIGNS
    counts = [(signs[one], STYLES[one], WORDS[one], field.states.count(one)) for one in WORDS]
    counts.insert(3, (FLASHES, "bold reverse", "answers", answering))
    totals = [
        ("missing", f"{field.missing:,}"),
        ("noticed", f"{field.noticed:,}"),
        ("asked for", f"{field.asked:,}"),
        ("answers", f"{field.answered:,}"),
        ("sent", size(field.size)),
    ]
    if at.is_low:
        totals = [row for row in totals if row[0] != "noticed"]
    lines: list[Content] = []
    if width < FIGURE_CELLS:
        for sign, style, word, number in counts:
            lines.append(Content.assemble((sign, style), f" {word.split(',')[0]} {number:,}"))
        return lines + [Content.assemble((f"{word} ", DIM), value) for word, value in totals]
    for sign, style, word, number in counts:
        lines.append(Content.assemble((sign, style), f" {word:<21} {number:>4,}"))
    if grid.each > 1:
        lines.append(Content.styled(f"one sign: {grid.each} people", DIM))
    elif not at.is_low:
        lines.append(Content(""))
    return lines + [
        Content.assemble((f"{word:<10}", DIM), f"{value:>18}") for word, value in totals
    ]
