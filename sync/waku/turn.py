"""The peer's turn: the payloads of one answer.

The specification has one payload answer one payload. Where both sides have said that they take
more (`payloads_max`), an answer may go on in further payloads: each but the last ends before the
answer's end, and the next one is nothing but `Skip` up to there. So a round trip brings as much as
there is to say, and no payload gets so large that whoever answers it has no time for anything else.
"""

from typing import Final, NamedTuple

from sync.errors import RemoteError
from sync.structures.ordered_set import ORIGIN, SyncId
from sync.waku.ranges import SKIP, Ranges

PAYLOADS_MAX: Final = 6
"""Payloads of a turn that we take, and send at most: 4 MiB, half of what a stream may hold that is
not read. Turns are rarely longer: this is 75,000 ranges."""

BYTES_MAX: Final = 672 * 1024
"""Bytes of each of our own payloads, where a turn may have several. It is a full one of ids; one of
1 MiB, of ids and fingerprints, takes half as long again to read, and that is one step."""


class Received(NamedTuple):
    """A payload of the peer's turn."""

    ranges: Ranges
    first: bool
    """Whether its turn is the first one."""
    last: bool
    """Whether its turn ends with it."""
    settled: bool
    """Whether its turn has been nothing but `Skip`."""


class Turn:
    """See the module docstring."""

    def __init__(self, end: SyncId | None, *, several: bool) -> None:
        """Begin before the first turn.

        Args:
            end: where every answer ends; None if the first payload says so.
            several: whether the peer knows of turns of several payloads.
        """
        self.payloads_max = PAYLOADS_MAX if several else 1
        """Payloads of a turn that we take."""
        self._end = end
        self._first = True
        self._payloads = 0
        self._reached = ORIGIN
        self._settled = True

    def take(self, ranges: Ranges) -> Received:
        """Take the next payload, which has ranges.

        Raises:
            RemoteError: it does not go on where the one before it ended, or is one too many;
                nothing has changed.
        """
        upper = ranges.upper(-1)
        if self._payloads and (upper <= self._reached or _begins(ranges) < self._reached):
            raise RemoteError("a payload does not go on where the one before it ended")
        end = self._end or upper
        last = self.payloads_max == 1 or upper >= end
        if not last and self._payloads + 1 == PAYLOADS_MAX:
            raise RemoteError(f"an answer is not over after {PAYLOADS_MAX} payloads")
        settled = self._settled and ranges.settled
        received = Received(ranges, self._first, last, settled)
        self._end = end
        if last:
            self._first, self._payloads, self._reached, self._settled = False, 0, ORIGIN, True
        else:
            self._payloads, self._reached, self._settled = self._payloads + 1, upper, settled
        return received


def _begins(ranges: Ranges) -> SyncId:
    """Return where the first range begins that is no `Skip`; else where all end."""
    first = len(ranges) - len(ranges.kinds.lstrip(bytes([SKIP])))
    return ranges.upper(-1) if first == len(ranges) else ranges.bounds(first).lower
