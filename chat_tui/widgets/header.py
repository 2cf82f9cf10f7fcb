"""The first line of the chat: channel, people present, our own name."""

from collections.abc import Sequence
from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal

from chat_tui.widgets.panel import Panel
from chat_tui.wording import panels
from chat_tui.wording.glyphs import Glyphs
from sync.view.view import ChannelInfo, Snapshot

COURSE_FROM: Final = 100
"""Columns from which on the first line has room for a course beside the topic."""

HEADER_PADDING: Final = 5
"""Cells around the two parts of the first line, and one between them."""


class Header(Horizontal):
    """The first line: channel, who is here and topic at the left, who we are at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._right = Panel(id="header"), Panel(id="me")

    def compose(self) -> ComposeResult:
        """Left and right part."""
        yield self._left
        yield self._right

    def show(
        self,
        snapshot: Snapshot,
        info: ChannelInfo | None,
        glyphs: Glyphs,
        lacked: Sequence[float] = (),
    ) -> None:
        """Bring both parts up to date; `lacked` is drawn where a window is wide enough."""
        if self.app.size.width < COURSE_FROM:
            lacked = ()
        state, whoami = panels.header(snapshot, info, glyphs, lacked), panels.whoami(snapshot)
        room = self.app.size.width - state.cell_length - HEADER_PADDING
        if not panels.fits(info, room - whoami.cell_length):
            whoami = panels.name(snapshot)
        state += panels.topic(info, room - whoami.cell_length)
        self._left.show(state)
        self._right.show(whoami)
