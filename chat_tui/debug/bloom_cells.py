"""The bits of the filter as a field of cells: the darker, the more of them are set."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from textual.content import Content

from chat_tui.debug.styled_lines import BUSY, DIM, PaneLine
from chat_tui.text.safe_text import wrap
from chat_tui.text.times import count
from chat_tui.wording.glyphs import Glyphs
from sync.structures.bloom import wire_byte
from sync.structures.bloom_parameters import WORD_BITS
from sync.view.view import BloomInfo, ProbeInfo

LINES: Final = 4
"""Of the field: enough to see its pattern, and little of a small screen."""

HALF: Final = 0.5
"""Share of set bits from which on a cell has the last sign: a full filter has about that."""

STYLE: Final = "$secondary"


def cells_in(width: int) -> int:
    """Return how many cells the field has in a pane of `width` cells."""
    return LINES * max(1, width - 2)


def field_lines(
    bloom: BloomInfo, cells: Sequence[float], width: int, glyphs: Glyphs, probe: ProbeInfo | None
) -> list[PaneLine]:
    """Return the field, and what its signs mean; cells with bits of a tested id are marked."""
    if not cells:
        return []
    marked = set() if probe is None else {cell_of(at, bloom, len(cells)) for at, _ in probe.bits}
    across = max(1, width - 2)
    lines: list[PaneLine] = []
    for start in range(0, len(cells), across):
        content = Content(" ")
        for at in range(start, min(start + across, len(cells))):
            sign = glyphs.probed if at in marked else shade(cells[at], glyphs)
            content += Content.styled(sign, f"bold {BUSY}" if at in marked else STYLE)
        lines.append(PaneLine(content))
    each = count(round(bloom.bits / len(cells)), "bit")
    none, most = glyphs.shades[0], glyphs.shades[-1]
    legend = f"each cell has {each}: {none} none of them set, {most} half of them or more"
    if marked:
        legend += f", {glyphs.probed} has a bit of the tested id"
    lines += [PaneLine(Content.styled(f" {one}", DIM)) for one in wrap(legend, across)]
    return lines


def shade(share: float, glyphs: Glyphs) -> str:
    """Return the sign of a share of set bits; whatever is set shows."""
    top = len(glyphs.shades) - 1
    return glyphs.shades[min(top, ceil(top * share / HALF)) if share > 0 else 0]


def cell_of(position: int, bloom: BloomInfo, cells: int) -> int:
    """Return which of so many equal parts of the filter has the bit at `position`."""
    size = (1 + bloom.bits // WORD_BITS) * (WORD_BITS // 8)  # in bytes, as on the wire
    byte = wire_byte(position)
    return next(at for at in range(cells) if byte < (at + 1) * size // cells)
