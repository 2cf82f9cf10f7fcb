"""Draws the scrubber: how far a scenario is, and the events that it has."""

from textual.content import Content

from chat_tui.demo.pacing.score import Score
from chat_tui.demo.painting.cells import content_of
from chat_tui.demo.painting.setting import Setting
from chat_tui.wording.panels import BAD, DIM
from sync.machine import SECOND, Nanos


def place_of(when: Nanos, score: Score, width: int) -> int:
    """Return the cell of a moment on a scrubber of so many cells."""
    share = score.bent.viewed(when) / score.bent.length
    return min(width - 1, max(0, int(share * width)))


def time_of(cell: int, score: Score, width: int) -> Nanos:
    """Return the moment of a cell; of the last one, the end."""
    share = 1.0 if cell == width - 1 else cell / width
    return score.bent.simulated(int(share * score.bent.length))


def scrubber(score: Score, at: Setting, width: int) -> Content:
    """Return `width` cells: what was shown, where it is, what comes; events stand on it."""
    done, rest, knob, event, lost = "=-O:x" if at.is_ascii else "━─●╋✗"
    here = place_of(at.now, score, width)
    signs = [done if cell < here else rest for cell in range(width)]
    styles = ["$accent" if cell < here else DIM for cell in range(width)]
    for when, is_lost in score.events:
        cell = place_of(when, score, width)
        if signs[cell] != lost:
            signs[cell] = lost if is_lost else event
        if is_lost:
            styles[cell] = BAD
    signs[here], styles[here] = knob, "bold $accent"
    return content_of(signs, styles)


def seconds(when: Nanos) -> str:
    """Return a length as whole seconds."""
    return f"{max(0, when) // SECOND} s"
