"""Lines of the debug pane: sections and opened details as styled text of a given width."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from textual.content import Content

from chat_tui.debug.section import Detail, Row, Section
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.text.times import span
from chat_tui.wording.glyphs import ASCII, Glyphs, band, bar, sparkline
from sync.sds.message import Delivery

ROW_CELLS: Final = 300
"""Of a row in the debug pane: seven lines of it, more than the longest step of a trace has."""

ROW_WRAP_MIN: Final = 20
"""Cells to wrap rows at before the pane has its size."""

SPARK_CELLS: Final = 20
SPARK_CELLS_WIDE: Final = 60
"""Of a sparkline: a cell for three seconds or for one, of a minute."""

WIDE_FROM: Final = 100
"""Cells of a pane from which on it has room for the long ones."""

SPAN_CELLS: Final = 5
"""Of a time that is left, as `9 min`: what stands behind it must not move each second."""

DIM: Final = "$foreground 75%"
TITLE: Final = "bold $secondary"
BUSY: Final = "$warning"
BAD: Final = "$error"


class PaneLine(Struct, frozen=True):
    """One line; lines of one row share its `key`, by which it is selected. Without: a heading."""

    content: Content
    key: str = ""
    opens: Callable[[], Detail] | None = None


def section_lines(sections: Iterable[Section], width: int, glyphs: Glyphs) -> list[PaneLine]:
    """Return sections as lines of `width` cells: each section's title, then its rows.

    A section without rows is as long as with one: what is below does not move for the first.
    """
    width -= 1  # to the scroll bar
    lines: list[PaneLine] = []
    for section in sections:
        total = Content.styled(f"{section.total:,}" if section.total else "", f"bold {BUSY}")
        title = edges(Content.styled(section.title, "bold"), total, width)
        if lines:
            lines.append(PaneLine(Content("")))
        lines.append(PaneLine(title))
        if section.note:
            lines += said_lines(section.note, width)
        if not section.rows:
            lines += said_lines(section.none, width)
        lines += _rows(section, width, glyphs)
    return lines


def said_lines(text: str, width: int) -> list[PaneLine]:
    """Return what is no row, as dim lines of `width` cells; what wraps hangs."""
    first, *others = wrap(text, max(ROW_WRAP_MIN, width - 3))
    hung = [f" {first}", *(f"   {line}" for line in others)]
    return [PaneLine(Content.styled(line, DIM)) for line in hung]


def _rows(section: Section, width: int, glyphs: Glyphs) -> list[PaneLine]:
    marked = any(row.mark is not None for row in section.rows)
    name = section.title.partition(" (")[0]
    seen: dict[str, int] = {}
    lines: list[PaneLine] = []
    for row in section.rows:
        what = row.subject or row.same
        number = seen[what] = seen.get(what, 0) + 1
        key = f"{name}/{what}/{number}"
        contents = _row_lines(row, width, glyphs, marked=marked)
        lines += [PaneLine(content, key, row.opens) for content in contents]
    return lines


ASCII_SIGNS: Final = str.maketrans("├└│←→↑↓", "++|<>^v")


def in_signs(text: str, glyphs: Glyphs) -> str:
    """Return text with the branches and arrows of the character set that is shown."""
    return text.translate(ASCII_SIGNS) if glyphs is ASCII else text


def detail_lines(detail: Detail, width: int, glyphs: Glyphs) -> list[PaneLine]:
    """Return an opened detail: its title, the sentence, then each fact."""
    room = max(ROW_WRAP_MIN, width - 2)
    lines = [PaneLine(Content.styled(line, "bold")) for line in wrap(detail.title, room)]
    lines += [PaneLine(Content(f" {line}")) for line in wrap(detail.plain, room)]
    lines.append(PaneLine(Content("")))
    for number, fact in enumerate(in_signs(fact, glyphs) for fact in detail.facts):
        first, *others = wrap(fact, room - 2)
        key = f"fact/{number}"
        lines.append(PaneLine(Content(f" {first}"), key))
        lines += [PaneLine(Content.styled(f"   {line}", DIM), key) for line in others]
    return lines


def table_lines(
    title: str, rows: Sequence[tuple[str, str]], width: int, glyphs: Glyphs
) -> list[PaneLine]:
    """Return terms and their meanings, one below the other: narrow panes have no columns."""
    room = max(ROW_WRAP_MIN, width - 3)
    lines = [PaneLine(Content.styled(title, TITLE))]
    for term, meaning in rows:
        lines.append(PaneLine(Content.styled(f" {in_signs(term, glyphs)}", "bold")))
        lines += [PaneLine(Content(f"  {line}")) for line in wrap(meaning, room)]
    return lines


def edges(left: Content, right: Content, width: int) -> Content:
    """Return a line with a part at either edge; the left one gives way."""
    room = width - right.cell_length
    left = left.truncate(room - 1, ellipsis=True)
    return left.pad_right(room - left.cell_length) + right


def _row_lines(row: Row, width: int, glyphs: Glyphs, *, marked: bool) -> list[Content]:
    """Return the lines of a row; what moves in it keeps its place, whatever the time left is."""
    signs: list[tuple[str, str]] = []
    if row.subject:
        signs.append((row.subject, row.tone or DIM))
    if marked:
        signs.append((" ", "") if row.mark is None else (glyphs.marks[row.mark], tone(row.mark)))
    if row.share is not None:
        signs.append((bar(row.share, glyphs), BUSY))
    if row.spark:
        cells = SPARK_CELLS if width < WIDE_FROM else SPARK_CELLS_WIDE
        line = sparkline(row.spark, cells, glyphs, peak=row.peak)
        signs.append((line, row.tone or BUSY))
    if row.cells:
        signs.append((band(row.cells, glyphs), DIM))
    if row.left is not None:
        signs.append((f"{row.when} {span(row.left):<{SPAN_CELLS}} ·", ""))
    head = "".join(f"{text} " for text, _ in signs)
    width = max(ROW_WRAP_MIN, width - 3)
    text = clip_cells(f"{head}{row.text}", ROW_CELLS)
    if row.cells and cell_len(text) > width:  # words beside the band only if all of them fit
        lines = [head.rstrip(), *wrap(clip_cells(row.text, ROW_CELLS), width)]
    else:
        lines = wrap(text, width)
    rest = DIM if row.is_over else ""
    first = Content.styled(f" {lines[0]}", rest)
    start = 1
    for text, style in signs:
        first = first.stylize(style, start, start + len(text))
        start += len(text) + 1
    return [first, *(Content.styled(f"   {line}", rest) for line in lines[1:])]


def tone(delivery: Delivery) -> str:
    """Return the colour of a mark: the same as beside the message."""
    return {Delivery.ACKNOWLEDGED: DIM, Delivery.FAILED: BAD}.get(delivery, BUSY)
