"""The Wire tab of the debug pane: a row a frame."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from textual.content import Content

from chat_tui.debug import frame_text
from chat_tui.debug.frame_kinds import style_of
from chat_tui.debug.styled_lines import BUSY, DIM, PaneLine
from chat_tui.debug.tabs.page import TEXT_CELLS, Shown, _dim
from chat_tui.debug.wording import choose
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.text.times import count, duration, size
from chat_tui.wording.glyphs import ASCII
from sync.machine import SECOND
from sync.view.view import FrameInfo, Inspection


class WirePage:
    """A line a frame, or a few where its words wrap; the newest first."""

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
        head = [
            *_totals([frame for frame, _ in chosen], width),
            *self._head(frames, chosen, width),
            PaneLine(Content("")),
        ]
        if not chosen:
            empty = "none has these words" if self.words else "nothing was sent or received yet"
            return [*head, PaneLine(_dim(f" {empty}"))]
        named = clip_cells(frame_text.frame_heading(width), width - 1)
        return [
            *head,
            PaneLine(_dim(f" {named}")),
            *[
                PaneLine(
                    _coloured(frame, text) if first else Content(f" {text}"),
                    f"frame/{frame.number}",
                    partial(frame_text.frame_detail, shown.snapshot, frame),
                )
                for frame, line in chosen
                for first, text in _first_and_rest(line.lines(width - 2))
            ],
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


def _first_and_rest(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    return ((number == 0, line) for number, line in enumerate(lines))


def _coloured(frame: FrameInfo, text: str) -> Content:
    """Return the line of a frame with its kind in its colour."""
    kind = frame_text.decoded(frame).kind
    at = text.find(f" {kind} ", frame_text.TIME_CELLS - frame_text.HOURS) + 1
    return Content(f" {text}").stylize(style_of(kind), at + 1, at + 1 + len(kind))


def _totals(frames: Sequence[FrameInfo], width: int) -> list[PaneLine]:
    """Return what these frames are together: their kinds, bytes each way, and how many a second."""
    if not frames:
        return []
    kinds = Counter(frame_text.decoded(frame).kind for frame in frames)
    lines = [Content(" ")]
    for kind, number in kinds.most_common():
        part = Content.assemble((kind, style_of(kind)), f" {number:,}")
        if lines[-1].cell_length + part.cell_length + 2 > width:
            lines.append(Content(" "))
        lines[-1] = lines[-1] + part + "  "
    out = sum(frame.size for frame in frames if frame.sent)
    into = sum(frame.size for frame in frames if not frame.sent)
    times = [frame.at for frame in frames]
    took = max(times) - min(times)
    words = f"{size(out)} out, {size(into)} in, within {duration(took)}"
    if took >= SECOND:
        rate = len(frames) * SECOND / took
        words += f": {rate:.1f} frames/s, {size(round((out + into) * SECOND / took))}/s"
    lines += [_dim(f" {line}") for line in wrap(words, width - 2)]
    return [PaneLine(line) for line in lines]
