"""Course of how well everybody agrees in a channel: what was lacking over the last minute."""

from collections import deque
from typing import Final

from sync.machine import SECOND, ChannelId, Nanos
from sync.view.view import ChannelInfo

CELLS: Final = 12
STEP: Final[Nanos] = 5 * SECOND
"""A cell for five seconds: a minute in the first line, which then moves seldom."""


class Agreement:
    """Notes what is lacking in the channel in sight, the most of each five seconds."""

    def __init__(self) -> None:
        self._channel: ChannelId | None = None
        self._steps: deque[tuple[int, int]] = deque(maxlen=CELLS)
        """Number of the step, and what was lacking in it."""

    def look(self, info: ChannelInfo, now: Nanos) -> tuple[float, ...]:
        """Return what was lacking in each step of the last minute, oldest first."""
        if info.channel != self._channel:
            self._channel = info.channel
            self._steps.clear()
        step, lacks = now // STEP, lacking(info)
        if self._steps and self._steps[-1][0] >= step:
            lacks = max(lacks, self._steps.pop()[1])
        self._steps.append((step, lacks))
        known = dict(self._steps)
        return tuple([float(known.get(one, 0)) for one in range(step - CELLS + 1, step + 1)])


def lacking(info: ChannelInfo) -> int:
    """Return how many messages one side lacks, as far as is known: ours too that nobody has yet."""
    here = info.missing_count + info.waiting_count + info.loading
    return here + (info.outgoing_count if info.peers else 0)
