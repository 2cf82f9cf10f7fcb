"""A run made anew a slice at a time: with room behind its end, and late ids in their places.

The rows of a run never change, so what is copied of it stays true, whoever reads the run meanwhile
and whatever is appended to it.
"""

from bisect import bisect_left
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sync.structures.sorted_run import ROW_BYTES, Run, rows_of

SLICE: Final = 16_384
"""Rows that are copied at one time, some 3 ms."""


class Rebuilding:
    """See the module docstring."""

    def __init__(self, long: Run, late: Run) -> None:
        """Begin; no id of `late` is above all of `long`."""
        self._long, self._late = long, late.snapshot()
        self._run = Run.with_room(long.group, len(long) + len(late))
        self._places: list[int] = long.places_for(late).tolist()
        """Before which row of the long run each of the late ids belongs."""
        self._copied = self._woven = 0
        """Rows of the two that are done."""

    def step(self) -> Run | None:
        """Copy a slice; returns the run once it is whole."""
        first, last = self._copied, min(self._copied + SLICE, len(self._long))
        is_last = last == len(self._long)
        begin = self._woven
        end = len(self._places) if is_last else bisect_left(self._places, last)
        rows = slice(self._long.start + first, self._long.start + last)
        late = slice(self._late.start + begin, self._late.start + end)
        places = [place - first for place in self._places[begin:end]]
        # Word by word, as they lie: all words of an id together take twice as long.
        hashes = [
            np.insert(words[rows], places, others[late])
            for words, others in zip(self._long.hashes.T, self._late.hashes.T, strict=True)
        ]
        timestamps = np.insert(self._long.timestamps[rows], places, self._late.timestamps[late])
        self._run.extend(timestamps, np.stack(hashes, axis=1))
        self._copied, self._woven = last, end
        return self._run if is_last else None

    def rest_of(self, late: Run) -> Run:
        """Return what of the late ids, which are more by now, is not in the new run."""
        gone = _byte_rows(late).searchsorted(_byte_rows(self._late))
        return Run.of(
            late.group,
            np.delete(late.timestamps[late.start : late.end], gone),
            np.delete(late.hashes[late.start : late.end], gone, axis=0),
        )


def rebuilt(long: Run, late: Run) -> Run:
    """Return one run of both at once."""
    rebuilding = Rebuilding(long, late)
    while (run := rebuilding.step()) is None:
        pass
    return run


def _byte_rows(run: Run) -> NDArray[np.bytes_]:
    """Return the ids of a run as rows that compare like them."""
    raw = rows_of(run.timestamps[run.start : run.end], run.hashes[run.start : run.end])
    rows: NDArray[np.bytes_] = np.frombuffer(raw, f"S{ROW_BYTES}")
    return rows
