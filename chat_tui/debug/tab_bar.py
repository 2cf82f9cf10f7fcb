"""The line with the names of the debug pane's tabs, of which a click picks one."""

from dataclasses import dataclass
from typing import Final

from textual.content import Content
from textual.events import Click
from textual.message import Message

from chat_tui.debug.single_line import OneLine
from chat_tui.debug.styled_lines import DIM, TITLE
from chat_tui.debug.tab_table import TABS, Tab

LABEL_MIN: Final = 4
"""Cells of a name with its number, at least: each is told apart."""


class TabLine(OneLine):
    """The names of all tabs; the one that is shown stands in brackets."""

    @dataclass
    class Picked(Message):
        """The name of a tab was clicked."""

        tab: Tab

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__(id=id)
        self._labels = labels(TABS[0], 0)

    def show_tab(self, tab: Tab, width: int) -> None:
        """Show which tab is shown, in `width` cells."""
        self._labels = labels(tab, width)
        names = [
            Content.styled(label, TITLE if one is tab else DIM)
            for one, label in zip(TABS, self._labels, strict=True)
        ]
        full = Content(" ").join(names)
        self.show(full if full.cell_length <= width else full.truncate(width, ellipsis=True))

    def on_click(self, event: Click) -> None:
        """Tell whose name is clicked."""
        at = 0
        for tab, label in zip(TABS, self._labels, strict=True):
            at += len(label) + 1
            if event.x < at:
                self.post_message(self.Picked(tab))
                return


def labels(shown: Tab, width: int) -> list[str]:
    """Return the names of all tabs with their numbers, which fit in `width` cells if they can.

    Where they do not, the longest lose their ends, but for the one that is shown, in brackets.
    """
    names = [f"{number}{tab.value}" for number, tab in enumerate(TABS)]
    at = TABS.index(shown)
    names[at] = f"[{names[at]}]"
    others = [place for place in range(len(TABS)) if place != at]
    while len(" ".join(names)) > width:
        longest = max(others, key=lambda place: len(names[place]))
        if len(names[longest]) <= LABEL_MIN:
            break
        names[longest] = names[longest][:-1]
    return names
