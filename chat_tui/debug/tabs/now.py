"""The Now tab of the debug pane: the last minute in sparklines, and what goes on."""

from chat_tui.debug.now_details import NowInfo, collect
from chat_tui.debug.now_sections import now_sections
from chat_tui.debug.styled_lines import PaneLine
from chat_tui.debug.tabs.page import Keyless, Shown
from sync.machine import Nanos
from sync.view.view import Inspection


class NowPage(Keyless):
    """The last minute, collected once a moment, however often it is drawn."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self._at: Nanos | None = None
        self._info: NowInfo | None = None

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        if self._info is None or self._at != shown.snapshot.now:
            self._at = shown.snapshot.now
            self._info = collect(self.inspection, shown.snapshot, shown.info)
        sections = now_sections(shown.snapshot, shown.info, self._info)
        return shown.drawn(sections, width)
