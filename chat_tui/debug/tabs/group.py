"""The Group tab of the debug pane: who governs the channel, by which ops, and how they come."""

from chat_tui.debug.group_sections import UNGOVERNED, group_sections
from chat_tui.debug.section import Row, Section
from chat_tui.debug.styled_lines import PaneLine, said_lines
from chat_tui.debug.tabs.page import NOWHERE, Keyless, Shown


class GroupPage(Keyless):
    """The history of governance, what waits for it, its secrets by number, and its links."""

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        if shown.info is None:
            return said_lines(NOWHERE, width)
        if shown.info.governance is None:
            sections = [Section("Governance", 0, (Row(UNGOVERNED),), "")]
        else:
            sections = group_sections(shown.snapshot, shown.info.governance)
        return shown.drawn(sections, width)
