"""The Wire tab of the debug pane: one line a frame."""

from collections.abc import Sequence
from functools import partial

from textual.content import Content

from chat_tui.debug import frame_text
from chat_tui.debug.styled_lines import BUSY, DIM, PaneLine
from chat_tui.debug.tabs.page import TEXT_CELLS, Shown, _dim
from chat_tui.debug.wording import choose
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.text.times import count
from chat_tui.wording.glyphs import ASCII
from sync.view.view import FrameInfo, Inspection


class WirePage:
    """One line a frame, the newest first."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.words = ""
        self.held: Sequence[FrameInfo] | None = None
        """The frames of the moment that the whole pane holds, if it does."""
        self._paused: Sequence[FrameInfo] | None = None

    @property
    def paused(self) -> bool:
        """True if the list stands still."""
        return self._paused is not None

    def press(self, what: str) -> bool:
        """Let the list stand still, or go on."""
        if what == "pause":
            self._paused = self.inspection.frames() if self._paused is None else None
        return what == "pause"

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        frames = self._paused if self._paused is not None else self.held
        frames = self.inspection.frames() if frames is None else frames
        chosen = choose(shown.snapshot, frames, self.words, width, ascii_only=shown.glyphs is ASCII)
        head = [*self._head(frames, chosen, width), PaneLine(Content(""))]
        if not chosen:
            empty = "none has these words" if self.words else "nothing was sent or received yet"
            return [*head, PaneLine(_dim(f" {empty}"))]
        return [
            *head,
            *(
                PaneLine(
                    Content(f" {clip_cells(text, width - 1)}"),
                    f"frame/{frame.number}",
                    partial(frame_text.frame_detail, shown.snapshot, frame),
                )
                for frame, text in chosen
            ),
        ]

    def _head(
        self, frames: Sequence[FrameInfo], chosen: Sequence[object], width: int
    ) -> list[PaneLine]:
        words = [f"{len(chosen):,} of {count(len(frames), 'frame')}"]
        if self.words:
            words.append(f"with “{clip_cells(self.words, TEXT_CELLS)}”")
        if self._paused is not None:
            newest = self.inspection.frames()
            since = newest[-1].number - self._paused[-1].number if newest and self._paused else 0
            words.append(f"paused, {since:,} since")
        if self.inspection.recorded is not None:
            words.append(f"recording to {self.inspection.recorded}")
        style = BUSY if len(words) > 1 else DIM
        lines = wrap(" · ".join(words), width - 2)
        return [PaneLine(Content.styled(f" {line}", style)) for line in lines]
