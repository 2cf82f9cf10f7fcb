"""A row of a conversation, and how rows change: the words between the model and its painters."""

from typing import TypeAlias

from msgspec import Struct

from chat_tui.text.me_actions import as_shown
from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.wording.acts import Called, name_of, plainly_called, sentence
from chat_tui.wording.glyphs import DELETED, FOLDED, REPLACED, hidden_by
from sync.view.governance_infos import Lateness
from sync.view.view import Line


class Row(Struct, frozen=True):
    """One message and what stands above it; `text` and `nick` are safe to show."""

    line: Line
    text: str
    nick: str
    full_name: bool = False
    """Another author uses this name too: the fingerprint has to be shown with it."""
    day: str = ""
    """The day that begins with this message, else empty."""
    aside: str = ""
    """Line above the first of some messages that wait for their time, else empty."""
    new: int = 0
    """Number of unread messages that begin here, else 0."""
    begins: bool = False
    """Whether another author wrote the message before this one."""
    folds: int = 0
    """Number of lines that are folded away and that this row stands for, its own the first."""
    tucked: bool = False
    """Whether a row above stands for this one, which fills no line then."""
    gap_hidden: bool = False
    """Whether the reader does not want to be told of the gap any more."""
    pinned: bool = False
    quote: str = ""
    """Line above a reply: who wrote what it answers; safe to show."""
    read_by: str = ""
    """The readers of whom this is the newest own message that they have read; safe to show."""

    @property
    def dim(self) -> bool:
        """True if the message is shown before it is delivered."""
        return self.line.loading or self.line.parked or self.line.pending

    @property
    def unfolded(self) -> bool:
        """True if somebody wanted to see what is folded away."""
        folded = self.line.late is Lateness.FOLDED and not self.line.deleted
        return folded and not self.folds and not self.tucked

    @property
    def gap(self) -> bool:
        """True if a line says that a message before this one could not be found."""
        return self.line.after_gap and not self.gap_hidden


class Inserted(Struct, frozen=True):
    """`count` rows now begin at `index`; those after have moved down."""

    index: int
    count: int


class Removed(Struct, frozen=True):
    """`count` rows that began at `index` are gone."""

    index: int
    count: int


class Changed(Struct, frozen=True):
    """The row at `index` has to be painted again."""

    index: int


Change: TypeAlias = Inserted | Removed | Changed
"""To be applied one after the other: each index counts the changes before it."""


def shown_text(line: Line, called: Called = plainly_called) -> str:
    """Return what stands where the text of a message does; `called` names the people of acts."""
    if line.act is not None:
        return sentence(line, called)
    if line.hidden_by is not None:
        return hidden_by(name_of(line.hidden_by, called))
    if line.late is Lateness.FOLDED and not line.deleted:
        return FOLDED
    if line.deleted:
        return REPLACED if line.replaced else DELETED
    return as_shown(clean_nick(line.nick), clean_text(line.text))
