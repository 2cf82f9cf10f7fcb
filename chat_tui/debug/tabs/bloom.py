"""The Bloom tab of the debug pane: the filter, and a test of an id."""

from functools import partial

from textual.content import Content

from chat_tui.debug import explanations, state_sections
from chat_tui.debug.bloom_cells import cells_in, field_lines
from chat_tui.debug.section import Row, Section
from chat_tui.debug.styled_lines import PaneLine, said_lines
from chat_tui.debug.tabs.page import NOWHERE, Keyless, Shown
from chat_tui.debug.wording import bits, verdict
from chat_tui.text.safe_text import clip_cells
from sync.view.view import Inspection, ProbeInfo


class BloomPage(Keyless):
    """The filter, a test of an id, and who has what."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.tested: str | None = None

    def probe(self, shown: Shown) -> ProbeInfo | None:
        """Return the test of the id that was asked for."""
        if self.tested is None or shown.info is None:
            return None
        return self.inspection.probe(shown.info.channel, self.tested)

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        info = shown.info
        if info is None:
            return said_lines(NOWHERE, width)
        sections = state_sections.knowledge(shown.snapshot, info)
        if not sections:
            return said_lines("the filter is not known yet", width)
        filled, *others = sections
        probe = self.probe(shown)
        cells = self.inspection.filter_cells(info.channel, cells_in(width))
        assert info.bloom is not None
        field = field_lines(info.bloom, cells, width, shown.glyphs, probe)
        test = Section(
            "Test of an id", 0, self._test(shown, probe), "/ and an id, or its beginning"
        )
        head = shown.drawn([filled], width)
        rest = shown.drawn([test, *others], width)
        return [*head, *field, PaneLine(Content("")), *rest]

    def _test(self, shown: Shown, probe: ProbeInfo | None) -> tuple[Row, ...]:
        if probe is None:
            return ()
        assert shown.info is not None
        opens = partial(explanations.probe, probe, shown.info.bloom)
        return (
            Row(verdict(probe), subject=clip_cells(probe.message_id, 6), opens=opens),
            Row(f"bits {bits(probe)}", opens=opens),
        )
