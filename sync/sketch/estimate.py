"""Size of a difference, guessed from its first symbols; and how many symbols decode it."""

from math import ceil, sqrt
from typing import Final

import numpy as np

from sync.sketch.symbols import Symbols

OPENING: Final = 64
"""Symbols that a session opens with, 2.6 kB: up to 30 differences they decode at once."""

SPARE: Final = 0.3
FURTHER: Final = 0.25
"""Part of the expected symbols that is sent beyond these, since the guess is one; and part of the
symbols sent so far that follows where these were too few."""

AT_ONCE: Final = 480
"""Symbols that take as long as a round trip, 20 kB: no more are spare."""

FURTHER_OF_MANY: Final = 0.1
"""Least part that follows, where many were too few: to go on by what is worth a round trip would
take too many of these."""

EACH: Final = 1.35
EACH_ROOT: Final = 1.3
"""Symbols that decode d differences, in the middle: 1.35 d + 1.3 sqrt(d)."""


FIRST: Final = 8
"""Symbols that no guess is made from: by the rule of places, what is in the first ones is up to 4 %
less than 1 / (1 + i/2), which where one side has all the more counts by its square."""

SPREAD: Final = 0.19
"""Standard deviation of the guess from 64 symbols, by the guess."""


def differences(difference: Symbols) -> int:
    """Return about how many ids differ, from the first symbols of the difference.

    Symbol 0 says by how many ids one side has more, D. Each other one has a number whose mean is
    p D and whose variance is p (1 - p) d, where p = 1 / (1 + i/2): each gives a guess of d, which
    are equally good, whichever side has more. Of 64 the guess is off by `SPREAD`, of n symbols by
    the root of 2 / n: by 1.5 % of 10,000.
    """
    counts = difference.counts.astype(np.float64)
    if len(counts) <= FIRST:
        return int(abs(counts[0]))
    chances = 1 / (1 + np.arange(FIRST, len(counts)) / 2)
    guesses = (counts[FIRST:] - chances * counts[0]) ** 2 / (chances * (1 - chances))
    return max(int(abs(counts[0])), round(float(guesses.mean())))


def needed(count: int) -> int:
    """Return how many symbols to send for so many differences."""
    expected = _expected(count)
    return ceil(expected + _worth_a_trip(SPARE * expected))


def are_too_few(known: int, guess: int) -> bool:
    """Return whether so many symbols need not be tried, by a guess from these."""
    return known < _expected(guess) * (1 - 3 * sqrt(2 / known))


def further(told: int) -> int:
    """Return how many symbols follow so many that were too few."""
    return max(int(_worth_a_trip(FURTHER * told)), least_further(told))


def least_further(told: int) -> int:
    """Return how many symbols follow at least, where there are as many."""
    return max(int(FURTHER_OF_MANY * told), 1)


def asks(known: int, guess: int, kept: int) -> int:
    """Return how often to ask, at once, so that there are as many symbols as a guess needs.

    The peer may send up to a quarter more each time, as programs did, and refuses to be asked for
    more than the `kept` symbols that it has.
    """
    number, told, most = 0, known, float(known)
    while not number or (told < needed(guess) and most < kept):
        number, told, most = number + 1, told + further(told), most * (1 + FURTHER)
    return number


def _expected(count: int) -> float:
    return EACH * count + EACH_ROOT * sqrt(count)


def _worth_a_trip(symbols: float) -> float:
    return min(symbols, AT_ONCE)
