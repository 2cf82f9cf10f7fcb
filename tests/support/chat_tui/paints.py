"""Widgets that note what they ask to be painted."""

from typing import Self

from textual.geometry import Region
from textual.widget import Widget


class PaintsNoted(Widget):
    """The last base of a widget under test: what it asks of `Widget` is noted here first."""

    asked: list[Region | str]
    """Regions, `all`, or `layout` where the size may be another; from the first moment on."""

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        asked: list[Region | str] = self.__dict__.setdefault("asked", [])
        asked += regions
        if layout or not regions:
            asked.append("layout" if layout else "all")
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    @property
    def regions(self) -> list[Region]:
        """The regions among what was asked for."""
        return [one for one in self.asked if isinstance(one, Region)]
