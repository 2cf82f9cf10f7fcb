"""The line with the names of the debug pane's tabs, of which a click picks one."""

from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message

from chat_tui.debug.single_line import OneLine
from chat_tui.debug.styled_lines import DIM, TITLE
from chat_tui.debug.tab_table import TABS, Tab


class TabLine(OneLine):
    """The names of all tabs; the one that is shown stands in brackets."""

    @dataclass
    class Picked(Message):
        """The name of a tab was clicked."""

        tab: Tab

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__(id=id)
        self._tab = TABS[0]

    def show_tab(self, tab: Tab, width: int) -> None:
        """Show which tab is shown, in `width` cells."""
        self._tab = tab
        names = [
            Content.styled(f"[{number}{one.value}]", TITLE)
            if one is tab
            else Content.styled(f"{number}{one.value}", DIM)
            for number, one in enumerate(TABS, start=1)
        ]
        full = Content(" ").join(names)
        self.show(full if full.cell_length <= width else full.truncate(width, ellipsis=True))

    def on_click(self, event: Click) -> None:
        """Tell whose name is clicked."""
        at = 0
        for number, tab in enumerate(TABS, start=1):
            at += len(f"{number}{tab.value} ") + (len("[]") if tab is self._tab else 0)
            if event.x < at:
                self.post_message(self.Picked(tab))
                return
