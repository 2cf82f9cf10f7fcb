"""The Buffers tab of the debug pane: waiting items, what left them last, timers, the clock."""

from collections.abc import Sequence

from chat_tui.debug import state_sections
from chat_tui.debug.departure_rows import left_section
from chat_tui.debug.state_sections import Order
from chat_tui.debug.styled_lines import PaneLine, said_lines
from chat_tui.debug.tabs.page import NOWHERE, ORDERS, Shown, _dim
from sync.machine import ChannelId, Nanos
from sync.view.departures import DepartureInfo
from sync.view.view import ChannelInfo, Inspection, Snapshot


class BuffersPage:
    """Buffers, timers and clock of the channel: each waiting item, its reason and its deadline."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.order = Order.TIME
        self._at: tuple[ChannelId, Nanos] | None = None
        self._left: Sequence[DepartureInfo] = ()

    def press(self, what: str) -> bool:
        """Sort by the next thing."""
        if what == "sort":
            self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        return what == "sort"

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        info = shown.info
        if info is None:
            return said_lines(NOWHERE, width)
        sections = [
            *state_sections.buffers(shown.snapshot, info, self.order),
            left_section(shown.snapshot, self._departures(shown.snapshot, info)),
            state_sections.timers(shown.snapshot, info),
            state_sections.clock(shown.snapshot),
        ]
        head = [] if self.order is Order.TIME else [PaneLine(_dim(f" sorted {self.order.value}"))]
        return [*head, *shown.drawn(sections, width)]

    def _departures(self, snapshot: Snapshot, info: ChannelInfo) -> Sequence[DepartureInfo]:
        """Return what left the buffers by the moment that is shown; looked up once a moment."""
        moment = info.channel, snapshot.now
        if moment != self._at:
            self._at, self._left = moment, self.inspection.departures(info.channel)
        return self._left
