"""The names of the debug pane's tabs, of which a click picks one."""

from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from chat_tui.debug.styled_lines import DIM, TITLE
from chat_tui.debug.tab_table import TABS, Tab


class TabLine(Static):
    """The names of all tabs, on as many lines as they need; the one shown stands in brackets."""

    @dataclass
    class Picked(Message):
        """The name of a tab was clicked."""

        tab: Tab

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__("", id=id, markup=False)
        self._rows: list[list[tuple[Tab, str]]] = []

    def show_tab(self, tab: Tab, width: int) -> None:
        """Show which tab is shown, in `width` cells."""
        rows = rows_of(tab, width)
        if rows == self._rows:
            return
        self._rows = rows
        lines = [
            Content("").join(
                Content.styled(label, TITLE if one is tab else DIM) for one, label in row
            )
            for row in rows
        ]
        self.update(Content("\n").join(lines))

    def on_click(self, event: Click) -> None:
        """Tell whose name is clicked."""
        at = 0
        for tab, label in self._rows[event.y] if event.y < len(self._rows) else ():
            at += len(label)
            if event.x < at:
                self.post_message(self.Picked(tab))
                return


def rows_of(shown: Tab, width: int) -> list[list[tuple[Tab, str]]]:
    """Return the names of all tabs with their numbers, line by line, none of them cut.

    Each has room for the brackets around the one that is shown, so that none moves; they are
    closer together where that saves a line.
    """
    roomy = [_label(f"{number}{tab.value}", tab is shown) for number, tab in enumerate(TABS)]
    close = [f"{number}{tab.value}" for number, tab in enumerate(TABS)]
    at = TABS.index(shown)
    close[at] = f"[{close[at]}]"
    if len("".join(roomy)) > width >= len(" ".join(close)):
        return [[(tab, f"{label} ") for tab, label in zip(TABS, close, strict=True)]]
    rows: list[list[tuple[Tab, str]]] = [[]]
    for tab, label in zip(TABS, roomy, strict=True):
        if rows[-1] and sum(len(one) for _, one in rows[-1]) + len(label) > width:
            rows.append([])
        rows[-1].append((tab, label))
    return rows


def _label(name: str, is_shown: bool) -> str:  # noqa: FBT001
    return f"[{name}]" if is_shown else f" {name} "
