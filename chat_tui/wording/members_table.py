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
PRESENCE_CELLS: Final = 11
LEAD_CELLS: Final = 2
"""Of the cursor, before the columns; what happened ends the line."""

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
    """Return a heading and a line for each of `membership.rows`, that at `cursor` marked."""
    heads = _columns(("name", "role", "here"), "how they came, and when")
    lines = [Content.styled(" " * LEAD_CELLS + heads, DIM)]
    for number, row in enumerate(membership.rows(snapshot, governance)):
        at = number == cursor
        line = Content(f"{glyphs.cursor if at else ' '} ") + _line(row)
        line = line.truncate(width, ellipsis=True)
        lines.append(Content.styled(line.plain, "bold reverse") if at else line)
    return lines


def _line(row: Row) -> Content:
    name = _cell(row.name, NAME_CELLS)
    standing = Content.styled(
        _cell(row.standing, STANDING_CELLS), STYLES.get(row.standing, "$foreground")
    )
    presence = Content.styled(_cell(row.shortly, PRESENCE_CELLS), HERE.get(row.shortly, DIM))
    return Content.assemble((name, "bold"), standing, presence, (row.history, DIM))


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
