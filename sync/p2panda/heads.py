"""The heights of a channel's logs as one session sees them: frozen, sorted, with running sums.

Rules:
1. Ranges lie on a circle: [lower, upper) goes on from the last place to the first one where `upper`
   is not above `lower`, and [x, x) is everything.
2. A fingerprint is the sum modulo 2**128 of the XXH3 hashes of the items in a range.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Final

import xxhash

from sync.p2panda import cbor
from sync.p2panda.bounds import KEY_BYTES, Place, beginning, between
from sync.structures.log_spans import LogHeight
from sync.structures.made_once import made_once

FINGERPRINT_BYTES: Final = 16
MODULUS: Final = 1 << 8 * FINGERPRINT_BYTES

CUT_SHIFT_MIN: Final = 12
"""Items by which a cut may move to where the author changes; there, a bound is a few bytes."""


def lift(item: Place) -> int:
    """Return the number of one item: the XXH3 hash of 128 bits of its CBOR."""
    return int.from_bytes(xxhash.xxh3_128_digest(cbor.encode(item)), "big")


class Heads:
    """The heads of logs, in order.

    Args:
        heads: a place for each log, in any order; one height a log.
    """

    def __init__(self, heads: Iterable[Place] = ()) -> None:
        self.items = sorted(heads)
        assert all(len(item.key) == KEY_BYTES and item.height > 0 for item in self.items), (
            "a head has a whole key and a height"
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Place]:
        return iter(self.items)

    @cached_property
    def _sums(self) -> list[int]:
        """Sums of the numbers of the first n items; made only where fingerprints are asked for."""
        return list(accumulate(map(lift, self.items), initial=0))

    @cached_property
    def _heights(self) -> dict[tuple[bytes, int], int]:
        return {(key, log): height for key, log, height in self.items}

    def height(self, key: bytes, log: int) -> int:
        """Return how high a log is here, 0 if it is not."""
        return self._heights.get((key, log), 0)

    def count(self, lower: Place, upper: Place) -> int:
        """Return how many items lie in [lower, upper)."""
        start, stop = self._span(lower, upper)
        return stop - start

    def fingerprint(self, lower: Place, upper: Place) -> bytes:
        """Return the fingerprint of the items in [lower, upper)."""
        start, stop = self._span(lower, upper)
        total = self._sum_to(stop) - self._sum_to(start)
        return (total % MODULUS).to_bytes(FINGERPRINT_BYTES, "big")

    def within(self, lower: Place, upper: Place) -> list[Place]:
        """Return the items in [lower, upper), as one meets them going round from `lower`."""
        start, stop = self._span(lower, upper)
        size = len(self.items)
        return self.items[start : min(stop, size)] + self.items[: max(stop - size, 0)]

    def split(self, lower: Place, upper: Place, parts: int) -> list[Place]:
        """Return the upper bounds of at most `parts` ranges that tile [lower, upper).

        Every range holds an item. Cuts are moved to where the author changes, if that is near.
        """
        start, stop = self._span(lower, upper)
        parts = min(parts, stop - start)
        near = max((stop - start) // (2 * max(parts, 1)), CUT_SHIFT_MIN)
        bounds = []
        last = start
        for part in range(1, parts):
            at = self._author_change(start + (stop - start) * part // parts, (last, stop), near)
            if last < at < stop:
                bounds.append(self._bound_at(at))
                last = at
        return [*bounds, upper]

    def beginning(self) -> Place:
        """Return the bound that lies below all items and begins the circle."""
        return beginning(self.items[0])

    def _span(self, lower: Place, upper: Place) -> tuple[int, int]:
        """Return the first index in the range and the one behind it, counted on past the end."""
        start, stop = bisect_left(self.items, lower), bisect_left(self.items, upper)
        return (start, stop) if lower < upper else (start, stop + len(self.items))

    def _sum_to(self, index: int) -> int:
        size = len(self.items)
        return self._sums[index] if index <= size else self._sums[size] + self._sums[index - size]

    def _bound_at(self, index: int) -> Place:
        """Return the shortest bound right before an item: what is below it stays below."""
        at = index % len(self.items)
        return between(self.items[at - 1], self.items[at]) if at else self.beginning()

    def _author_change(self, index: int, limits: tuple[int, int], near: int) -> int:
        """Return the index nearest to `index`, between the limits, where another author begins."""
        size = len(self.items)
        turn, at = index - index % size, index % size
        key = self.items[at].key
        changes = [
            turn + bisect_left(self.items, Place(key)),
            turn + bisect_left(self.items, Place(key + b"\0")),
        ]
        lowest, highest = limits
        within = [
            change
            for change in changes
            if lowest < change < highest and abs(change - index) <= near
        ]
        return min(within, key=lambda change: abs(change - index), default=index)


@made_once
def heads_of(heights: tuple[LogHeight, ...]) -> Heads:
    """Return heights as heads; a peer may offer one session after another over the same."""
    return Heads(Place(*one) for one in heights)
