"""Decoding: ids that two sets differ in, wave by wave, in short steps.

Symbols that no honest peer sends are found out: an id that comes out of a symbol it has no place
in, or twice, or more waves than there can be, or something left where nothing can be.
"""

from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sync.sketch.key import SketchKey
from sync.sketch.places import Placed, placed
from sync.sketch.symbols import WORDS, Symbols
from sync.structures.sorted_run import HASH_WORDS, Words

FOUND_MAX: Final = 11_800
"""Ids that are decoded: as many as the longest sketch can tell."""

STEP_IDS: Final = 2_048
"""Ids taken out in one step, and those that new symbols are cleared of at once: 2 ms."""


WAVES_MAX: Final = 1_000
"""Waves of a session, 0.15 ms each if they are of one id: honest symbols take 20 or so each time
that more of them come. A chain of made ones would go on for two seconds."""


class Progress(Enum):
    """State of decoding."""

    GOING = "there is more to do"
    STUCK = "more symbols are needed"
    DONE = "all differences are known"
    MANY = "more differs than a session may ask for"
    POISONED = "no honest peer sends these symbols"


class Peeling:
    """See the module docstring; one use of `extend` and `step` until it is no longer `GOING`."""

    def __init__(self, key: SketchKey, ours: Symbols) -> None:
        """Begin; `ours` are all symbols that we keep, of which nothing is changed."""
        self.progress = Progress.STUCK
        self.waves: NDArray[np.int32] = np.empty(0, np.int32)
        """For each symbol, the wave in which it became pure, from 1 on; 0 if in none yet."""
        self.wave = 0
        self._key = key
        self._ours = ours
        self._left = Symbols.empty(0)
        """The difference, as far as it is left."""
        self._found = [_nothing()]
        """Ids of each wave, as rows of symbols, with their signs."""
        self._count = 0
        self.taken = 0
        """Ids that were taken out so far: what decoding takes time for."""
        self._again: tuple[Words, NDArray[np.int32]] = _nothing()
        """Ids found before that are to be taken out of new symbols yet, with their signs."""
        self._first = 0
        """The first new symbol."""
        self._pure: NDArray[np.intp] = np.empty(0, np.intp)
        """Symbols of this wave."""
        self._due: tuple[Words, NDArray[np.int32]] = _nothing()
        """Ids of this wave that are to be taken out yet, with their signs."""
        self._touched: list[NDArray[np.uint16]] = []

    def __len__(self) -> int:
        return len(self._left)

    def hashes(self, sign: int) -> Words:
        """Return what was found, (n, 4): with a sign of 1 theirs, of -1 ours."""
        found = np.concatenate([rows[signs == sign] for rows, signs in self._found])
        return found[:, :HASH_WORDS]

    def extend(self, theirs: Symbols) -> None:
        """Take the peer's next symbols, no more than are left of ours."""
        assert self.progress is Progress.STUCK, "it has all, or is not through with what it has"
        first = len(self._left)
        fresh = theirs.less(self._ours.part(first, first + len(theirs)))
        self._left = self._left.with_more(fresh)
        self.waves = np.concatenate((self.waves, np.zeros(len(theirs), np.int32)))
        ids, signs = zip(*self._found, strict=True)
        self._again = np.concatenate(ids), np.concatenate(signs)
        self._found = [self._again]
        self._first = first
        self.progress = Progress.GOING
        if not self._count:
            self._begin_wave(np.arange(first, len(self._left)))

    def step(self) -> None:
        """Do the next part: of what was found before, of a wave, or its end."""
        if self.progress is not Progress.GOING:
            return
        ids, signs = self._again
        if len(ids):
            self._again = ids[STEP_IDS:], signs[STEP_IDS:]
            self._take_out(ids[:STEP_IDS], signs[:STEP_IDS], self._first)
            if len(ids) <= STEP_IDS:
                self._begin_wave(np.arange(self._first, len(self._left)))
            return
        ids, signs = self._due
        if len(ids):
            part, self._due = slice(STEP_IDS), (ids[STEP_IDS:], signs[STEP_IDS:])
            self._touched.append(self._take_out(ids[part], signs[part]).places)
            if len(self._due[0]):
                return
        if self._left.part_at(self._pure).is_empty:
            touched, self._touched = self._touched, []
            changed = np.zeros(len(self._left), np.bool_)
            for places in touched:
                changed[places] = True
            self._begin_wave(np.flatnonzero(changed))
        else:
            self.progress = Progress.POISONED

    def _begin_wave(self, among: NDArray[np.intp]) -> None:
        """Look which symbols are pure; the ids of all of them are one wave."""
        self._pure = self._left.pure(self._key, among)
        if not len(self._pure):
            self.progress = self._judged()
            return
        rows, counts = self._left.rows[self._pure], self._left.counts[self._pure]
        first = _firsts(rows[:, HASH_WORDS])
        self._due = rows[first], counts[first]
        self._found.append(self._due)
        self._count += len(first)
        self.wave += 1
        self.waves[self._pure[self.waves[self._pure] == 0]] = self.wave
        if self._count > FOUND_MAX:
            self.progress = Progress.MANY
        elif self.wave > WAVES_MAX:
            self.progress = Progress.POISONED

    def _judged(self) -> Progress:
        """Return how it stands once no symbol is pure."""
        if not self._left.part(0, 1).is_empty:
            return Progress.STUCK
        found = np.sort(np.concatenate([rows[:, HASH_WORDS] for rows, _ in self._found]))
        twice = bool((found[1:] == found[:-1]).any())
        return Progress.POISONED if twice or not self._left.is_empty else Progress.DONE

    def _take_out(self, ids: Words, signs: NDArray[np.int32], first: int = 0) -> Placed:
        """Take ids out of all their places from `first` on, and return these."""
        where = placed(ids[:, :HASH_WORDS], self._key, len(self._left))
        if first:
            later = where.places >= first
            where = Placed(where.members[later], where.places[later])
        self._left.put_at(where, ids, -signs)
        self.taken += len(ids)
        return where


def _firsts(values: Words) -> NDArray[np.intp]:
    """Return, rising, one place of each value; `np.unique` would import masked arrays."""
    order = values.argsort()
    ranked = values[order]
    first = np.ones(len(values), np.bool_)
    first[1:] = ranked[1:] != ranked[:-1]
    return np.sort(order[first])


def _nothing() -> tuple[Words, NDArray[np.int32]]:
    return np.empty((0, WORDS), np.uint64), np.empty(0, np.int32)
