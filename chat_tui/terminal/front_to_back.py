"""A screen composed from front to back: what is covered, and what did not change, is not rendered.

Textual asks every widget that touches what changed for all of its lines, those below others too,
and cuts them at every edge. Here a widget is asked for those of its lines of which something is in
sight and shall be painted: one line that appears costs one line.

Rule: what comes to the terminal is what Textual's own compositor would paint, to the cell. Its
inner parts are used here and nowhere else; the tests compare both.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Generic, cast

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor, ReflowResult
from textual.await_complete import AwaitComplete
from textual.events import Resize, ScreenResume
from textual.geometry import Region, Size
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

Span = tuple[int, int, int]
"""A line of the screen, and the cells of it from the first to before the last."""


class SpansUpdate(ChopsUpdate):
    """Parts of lines on their way to the terminal; only what shall be painted is there at all."""

    def render_segments(self, console: Console) -> str:
        """Return what the terminal is sent; each part says its place, whatever came before it."""
        sequences: list[str] = []
        for y, x1, x2 in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=True):
                if strip is None or x >= x2 or end <= x1:
                    continue
                shown = strip if end <= x2 else strip.crop(0, x2 - x)
                sequences += Control.move_to(x, y).segment.text, shown.render(console)
        return "".join(sequences)


class FrontToBack(Compositor):
    """Textual's compositor, which renders nothing that is not seen."""

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out; widgets of another size are told of it here.

        Told by Textual each would ask for a second layout of the whole screen, which finds the same
        sizes. Scroll bars that come or go by the new size ask for one as ever.
        """
        found = super().reflow(parent, size)
        for widget in found.shown | found.resized:
            place = self._full_map[widget]
            widget._size_updated(  # noqa: SLF001  # as the screen does right after this
                place.region.size, place.virtual_size, place.container_size, layout=False
            )
        return found

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return what changed since the last time; None if nothing did."""
        changed, width, height = self._dirty_regions.copy(), *self.size
        self._dirty_regions.clear()
        spans = [
            (y, x1, min(x2, width))
            for y, x1, x2 in self._regions_to_spans(changed)
            if y < height and x1 < width
        ]
        if not spans:
            return None
        return SpansUpdate(self._in_front(spans), spans, [cuts[1:] for cuts in self.cuts])

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """Return lines of the screen as parts, by the cell in which each begins."""
        lines = (y for y in range(self.size.height) if is_rendered_line(y))
        parts = self._in_front([(y, *crop.column_span) for y in lines])
        return cast("Sequence[Mapping[int, Strip]]", parts)  # the screen itself is behind all

    def _in_front(self, spans: Sequence[Span]) -> list[dict[int, Strip | None]]:
        """Return the lines of the screen as parts: None where nothing of them is in `spans`."""
        cuts = self.cuts
        parts: list[dict[int, Strip | None]] = [dict.fromkeys(line[:-1]) for line in cuts]
        wanted = _wanted(spans, cuts)
        for widget, (region, clip) in self.visible_widgets.items():
            if not wanted:
                break
            shown = region.intersection(clip)
            left, right = shown.column_span
            for first, count in _runs(_lines_of(shown, wanted)):
                area = Region(left - region.x, first - region.y, right - left, count)
                for y, strip in enumerate(widget.render_lines(area), first):
                    places = [cut for cut in cuts[y] if left <= cut <= right]
                    divided = strip.divide([cut - left for cut in places[1:]])
                    for x, part in zip(places, divided, strict=False):  # a strip may be short
                        if x in wanted[y]:
                            parts[y][x] = part
                            wanted[y].remove(x)
                    if not wanted[y]:
                        del wanted[y]
        return parts


def _wanted(spans: Iterable[Span], cuts: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """Return by line where the parts begin that are to be rendered."""
    wanted: dict[int, set[int]] = {}
    for y, x1, x2 in spans:
        begun = {x for x, end in pairwise(cuts[y]) if x < x2 and end > x1}
        wanted.setdefault(y, set()).update(begun)
    return {y: begun for y, begun in wanted.items() if begun}


def _lines_of(shown: Region, wanted: Mapping[int, set[int]]) -> Iterator[int]:
    """Yield the lines in which a region has something that is still wanted."""
    left, right = shown.column_span
    for y in shown.line_range:
        if y in wanted and any(left <= x < right for x in wanted[y]):
            yield y


def _runs(lines: Iterable[int]) -> list[tuple[int, int]]:
    """Return lines that follow each other as first one and number."""
    runs: list[tuple[int, int]] = []
    for y in lines:
        if runs and sum(runs[-1]) == y:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((y, 1))
    return runs


class FrontScreen(Screen[ScreenResultType], Generic[ScreenResultType]):
    """A screen that is composed from front to back."""

    def __init__(
        self,
        name: str | None = None,
        id: str | None = None,  # noqa: A002  # as Textual has it
        classes: str | None = None,
    ) -> None:
        super().__init__(name, id, classes)
        self._compositor = FrontToBack()
        self._was_shown = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close this screen if it is the one in front.

        Work that took its time may end when it was closed, or another opened over it; Textual would
        close whichever is in front, and the second time end the program.
        """
        if self.app.screen_stack[-1:] != [self]:
            return AwaitComplete()
        return super().dismiss(result)

    def _on_screen_resume(self, event: ScreenResume) -> None:
        """Textual calls this before its own: the first time, all has just been given its style."""
        event.refresh_styles = self._was_shown
        self._was_shown = True

    def _compositor_refresh(self) -> None:
        """Paint what changed; while paints are held (`App.batch_update`), later.

        Textual would render it, drop it and take it for painted: of a window that got another size
        meanwhile, what else does not change would stay as the terminal left it.
        """
        if self.app._batch_count:  # noqa: SLF001  # nothing else tells it
            self._dirty_widgets.add(self)  # it asks for no region: what is due is painted, no more
        else:
            super()._compositor_refresh()

    async def _on_resize(self, event: Resize) -> None:
        """Textual calls this before its own: keys are heard between a first picture and this."""
        del event
        await asyncio.sleep(0)


class FrontModal(ModalScreen[ScreenResultType], FrontScreen[ScreenResultType]):
    """Such a screen over another one; Textual takes the styles of the first base alone."""
