"""The Trace tab of the debug pane: the last steps of the engine."""

from textual.content import Content

from chat_tui.debug import state_sections
from chat_tui.debug.section import Section
from chat_tui.debug.styled_lines import BUSY, PaneLine
from chat_tui.debug.tabs.page import Shown
from chat_tui.text.safe_text import clip_cells
from sync.view.view import Inspection


class TracePage:
    """The last steps of the engine, and what was refused."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.words = ""
        self.as_names = False
        """True if steps are shown by the names of their classes."""

    def press(self, what: str) -> bool:
        """Show the names of classes, or words again."""
        if what == "names":
            self.as_names = not self.as_names
        return what == "names"

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        traced = self.inspection.traced
        where = f"every step goes to {traced}" if traced else "no file: /trace on FILE writes one"
        steps = state_sections.steps(
            shown.snapshot, self.words.casefold().split(), as_names=self.as_names
        )
        sections = [Section("Trace file", 0, (), where)]
        sections += [*state_sections.refusals(shown.snapshot), steps]
        if self.words:
            head = [PaneLine(Content.styled(f" with “{clip_cells(self.words, width)}”", BUSY))]
        else:
            head = []
        return [*head, *shown.drawn(sections, width)]
