"""Members of a channel as a table, and the hints around it: pure functions of a snapshot."""

from typing import Final

from textual.content import Content

from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.wording import membership
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.membership import Row
from chat_tui.wording.panels import BUSY, DIM, GOOD, TITLE
from sync.view.governance_infos import GovernanceInfo
from sync.view.view import ChannelInfo, Snapshot

NAME_CELLS: Final = 18
STANDING_CELLS: Final = 8
PRESENCE_CELLS: Final = len("gone Nov 2024 ")
LEAD_CELLS: Final = 2
"""Of the cursor, before the columns; what happened ends the row."""

HISTORY_AT: Final = LEAD_CELLS + NAME_CELLS + STANDING_CELLS + PRESENCE_CELLS
HISTORY_CELLS_MIN: Final = 32
"""With less room beside the columns, what happened stands below them."""

KEYS: Final = (
    ("{over_enter}", "details"),
    ("{members_message}", "message"),
    ("{members_add}", "let in"),
    ("{members_remove}", "remove"),
    ("{members_role}", "role"),
    ("{members_invite}", "invite"),
    ("{close}", "close"),
)

STYLES: Final = {"asks": BUSY, "gone": DIM, "owner": TITLE, "admin": TITLE}
HERE: Final = {"here": GOOD, "you": GOOD}


def title(snapshot: Snapshot, info: ChannelInfo, governance: GovernanceInfo, width: int) -> Content:
    """Return how many are in and who may do what, and what to know of it, as lines."""
    first = Content.styled(membership.head(info, governance), TITLE)
    notes = membership.notes(snapshot, info, governance)
    lines = [line for note in notes for line in wrap(note, max(2, width))]
    return Content("\n").join([first, *(Content.styled(line, BUSY) for line in lines)])


def table(
    snapshot: Snapshot, governance: GovernanceInfo, width: int, cursor: int, glyphs: Glyphs
) -> list[Content]:
    """Return a heading and a row for each of `membership.rows`, that at `cursor` marked.

    What happened is wrapped below itself, or below the name where there is little room.
    """
    beside = width - HISTORY_AT >= HISTORY_CELLS_MIN
    last = "how they came, and when" if beside else ""
    heads = _columns(("name", "role", "here"), last)
    rows = [Content.styled(" " * LEAD_CELLS + heads, DIM)]
    for number, row in enumerate(membership.rows(snapshot, governance)):
        at = number == cursor
        lines = _lines(row, glyphs.cursor if at else " ", width, beside=beside)
        if at:  # one ground from edge to edge
            lines = [
                Content.styled(line.pad_right(width - line.cell_length).plain, "bold reverse")
                for line in lines
            ]
        rows.append(Content("\n").join(lines))
    return rows


def _lines(row: Row, lead: str, width: int, *, beside: bool) -> list[Content]:
    name = _cell(row.name, NAME_CELLS)
    standing = Content.styled(
        _cell(row.standing, STANDING_CELLS), STYLES.get(row.standing, "$foreground")
    )
    presence = Content.styled(_cell(row.shortly, PRESENCE_CELLS), HERE.get(row.shortly, DIM))
    first = Content.assemble(f"{lead} ", (name, "bold"), standing, presence)
    indent = HISTORY_AT if beside else 2 * LEAD_CELLS
    history = [Content.styled(line, DIM) for line in wrap(row.history, max(2, width - indent))]
    if beside:
        first += history.pop(0)
    return [first, *(Content(" " * indent) + line for line in history)]


def _columns(cells: tuple[str, str, str], last: str) -> str:
    widths = (NAME_CELLS, STANDING_CELLS, PRESENCE_CELLS)
    return "".join(_cell(cell, width) for cell, width in zip(cells, widths, strict=True)) + last


def _cell(text: str, width: int) -> str:
    """Return text in so many cells, the last of them empty."""
    fitting = Content(clip_cells(text, width - 1))
    return fitting.pad_right(width - fitting.cell_length).plain


def keys(width: int, chosen: Chosen = USUAL) -> Content:
    """Return the keys and what they do; a key and its word stay on one line."""
    lines = [Content("")]
    for key, word in KEYS:
        part = Content.assemble((with_keys(key, chosen), "bold $accent"), f" {word}  ")
        if lines[-1].cell_length + part.cell_length - len("  ") > width:
            lines.append(Content(""))
        lines[-1] += part
    return Content("\n").join(lines)
