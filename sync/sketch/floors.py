"""A sketch from a higher floor on: what is between is taken out of a copy, in short steps."""

from typing import Final

from msgspec.structs import replace

from sync.sketch.prefix import SLICE, Sketch, first_of, hashes_between
from sync.structures.ordered_set import OrderedSet
from sync.structures.sorted_run import Words

BETWEEN_MAX: Final = 20_000
"""Ids that are taken out for a session: 20 ms of work."""


class Lowering:
    """See the module docstring; `sketch` is the result once it is `over`."""

    def __init__(self, sketch: Sketch, items: OrderedSet, floor: int) -> None:
        """Begin with a sketch of `items`, as they were then, and a bucket of the digest."""
        self.floor = max(sketch.floor, floor)
        self.sketch = sketch
        self._left: Words | None = None
        self.fits = True
        """True while so little is between that no other protocol is cheaper."""
        lower, upper = first_of(sketch.floor), first_of(self.floor)
        if floor > sketch.floor:
            self.fits = items.count(lower, upper) <= BETWEEN_MAX
            self._left = hashes_between(items, lower, upper) if self.fits else None

    @property
    def over(self) -> bool:
        """True once the sketch begins at the floor."""
        return self._left is None

    def step(self) -> None:
        """Take some out."""
        if self._left is None:
            return
        sketch = self.sketch
        if sketch.floor < self.floor:  # the first step: what is kept stays as it is
            ids = sketch.ids - len(self._left)
            self.sketch = replace(sketch, symbols=sketch.symbols.copy(), floor=self.floor, ids=ids)
        self.sketch.symbols.put(self._left[:SLICE], sketch.key, -1)
        self._left = self._left[SLICE:] if len(self._left) > SLICE else None
