"""Runs of folded lines, as line mode counts them: lines of one author in one channel in a row.

A run is said once at the end of each step of the program, with all lines that it has by then.
"""

from dataclasses import dataclass

from chat_tui.model.folds import is_folded
from chat_tui.wording.folding import folded_away
from sync.machine import ChannelId, PeerId
from sync.view.view import Line


@dataclass(slots=True)
class Run:
    """The newest run: whose lines they are, how many, and how many of them were said."""

    channel: ChannelId
    author: PeerId
    nick: str
    count: int = 0
    said: int = 0


class FoldedRuns:
    """See the module docstring."""

    def __init__(self) -> None:
        self._run: Run | None = None

    def take(self, line: Line) -> bool:
        """Count a line; False if it is not folded, and ends the run of its channel."""
        run = self._run
        if not is_folded(line):
            if run is not None and run.channel == line.channel:
                self._run = None
            return False
        if run is None or not self.goes_on(line):
            self._run = run = Run(line.channel, line.author, line.nick)
        run.count += 1
        return True

    def goes_on(self, line: Line) -> bool:
        """Return whether a line is one more of the run."""
        run = self._run
        same = run is not None and (run.channel, run.author) == (line.channel, line.author)
        return same and is_folded(line)

    def unsaid(self) -> Run | None:
        """Return the run if it has lines that were not said, once."""
        run = self._run
        if run is None or run.said == run.count:
            return None
        run.said = run.count
        return run


def in_sentence(run: Run, nick: str) -> str:
    """Return a run as a sentence."""
    return folded_away(run.count, nick, opens=False) + "."
