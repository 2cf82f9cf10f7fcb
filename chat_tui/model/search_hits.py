"""Going through what a search found, the newest first, and round again."""

from typing import TYPE_CHECKING, Final

from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clean_text, clip_cells
from sync.view.view import Line

if TYPE_CHECKING:
    from chat_tui.model.command_findings import Hits

KEYS: Final = "{reading_next} older · {reading_previous} newer · {close} ends"

SIGNS_SHOWN: Final = 24
"""Cells of a query or message repeated in the line of the keys."""


class HitWalk:
    """Position of the reader among the hits of a search."""

    def __init__(self, hits: "Hits") -> None:
        self._hits = hits
        self._at = len(hits.lines) - 1 - hits.chosen if hits.chosen >= 0 else 0

    @property
    def line(self) -> Line:
        """The hit of now."""
        return self._hits.lines[-1 - self._at]

    def step(self, steps: int) -> None:
        """Go to an older hit, or back, if negative."""
        self._at = (self._at + steps) % len(self._hits.lines)

    def said(self, chosen: Chosen = USUAL, now: Line | None = None) -> str:
        """Return which words were searched for, which hit of how many this is, and the keys.

        `now` is the hit as it is by now, which may not have the words any more.
        """
        lines = self._hits.lines
        of = f"the newest {len(lines):,}" if self._hits.more else f"{len(lines):,}"
        if self._hits.more and self._hits.total is not None:
            of += f" of {self._hits.total:,}"
        query = clip_cells(" ".join(clean_text(self._hits.query).split()), SIGNS_SHOWN)
        changed = "" if now is None or now.text == self.line.text else ", changed since"
        begins = f"{query}: " if query else ""
        return f"{begins}hit {self._at + 1:,} of {of}{changed} · {with_keys(KEYS, chosen)}"
