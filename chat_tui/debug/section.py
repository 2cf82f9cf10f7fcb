"""Building blocks of the debug pane, for the screen and for line mode."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from msgspec import Struct, structs

from chat_tui.text.times import span
from sync.machine import Nanos
from sync.sds.message import Delivery


class Detail(Struct, frozen=True):
    """Details of an opened row: one plain sentence, then the formula with its values."""

    title: str
    plain: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row: what it is about, the sign before it, a time that draws near, and the rest.

    Attributes:
        text: the rest, in words.
        subject: the beginning of a message id, or which round trip; empty where it needs none.
        mark: how sure we are that somebody has the message; drawn as its sign.
        share: a part of 1, drawn as a bar.
        spark: values over time, oldest first, drawn as a sparkline.
        passes: whether the sparkline moves on by itself, as its minute passes.
        peak: the least value that the highest sign of the sparkline stands for.
        tone: the colour of the subject and the sparkline, where they stand for a kind.
        is_over: whether it is past, and drawn dim.
        cells: what became of each part of our ids in a payload, drawn as a band (`sync.view.view`).
        when: what happens at the end of the time, as `asks in`.
        left: until then.
        who: whom it is about, to be sorted by.
        same: the same for this row in whatever place it stands, where it has no subject.
        opens: gives what opens; called only by who opens it.
    """

    text: str
    subject: str = ""
    mark: Delivery | None = None
    share: float | None = None
    spark: tuple[float, ...] = ()
    passes: bool = False
    peak: float = 0.0
    tone: str = ""
    is_over: bool = False
    cells: str = ""
    when: str = ""
    left: Nanos | None = None
    who: str = field(default="", compare=False)
    same: str = field(default="", compare=False)
    opens: Callable[[], Detail] | None = field(default=None, compare=False, repr=False)


class Section(Struct, frozen=True):
    """One part of the debug pane; `note` stands above its rows, `none` where there are none."""

    title: str
    total: int
    rows: tuple[Row, ...]
    none: str
    note: str = ""


def in_words(row: Row) -> str:
    """Return a row as line mode says it: nothing in it is a drawing."""
    head = [row.subject] if row.subject else []
    if row.left is not None:
        head.append(f"{row.when} {span(row.left)}:")
    return " ".join([*head, row.text])


def detail_in_words(detail: Detail) -> str:
    """Return what a row opens to as line mode says it."""
    return "\n".join([detail.title, f"  {detail.plain}", *(f"  {fact}" for fact in detail.facts)])


def still(section: Section) -> Section:
    """Return a section without what moves by itself: bars that fill, minutes that pass by."""
    rows = [replace(row, share=None, spark=() if row.passes else row.spark) for row in section.rows]
    return structs.replace(section, rows=tuple(rows))
