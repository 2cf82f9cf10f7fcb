"""The Buffers tab of the debug pane: waiting items, timers, the clock."""

from chat_tui.debug import state_sections
from chat_tui.debug.state_sections import Order
from chat_tui.debug.styled_lines import PaneLine, section_lines
from chat_tui.debug.tabs.page import NOWHERE, ORDERS, Shown, _dim, _said


class BuffersPage:
    """Buffers, timers and clock of the channel: each waiting item, its reason and its deadline."""

    def __init__(self) -> None:
        self.order = Order.TIME

    def press(self, what: str) -> bool:
        """Sort by the next thing."""
        if what == "sort":
            self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        return what == "sort"

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        info = shown.info
        if info is None:
            return _said(NOWHERE)
        sections = [
            *state_sections.buffers(shown.snapshot, info, self.order),
            state_sections.timers(shown.snapshot, info),
            state_sections.clock(shown.snapshot),
        ]
        head = [] if self.order is Order.TIME else [PaneLine(_dim(f" sorted {self.order.value}"))]
        return [*head, *section_lines(sections, width, shown.glyphs)]
