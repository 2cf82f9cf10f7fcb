"""Places of authors among the colours of names: assigned once in a profile, then remembered.

Rules:
1. Whoever is seen first gets the place that follows from the key, if nobody has it; else the first
   one that is free. So the first eight never share a colour, also of the eight that `ansi` has.
2. When all are taken, somebody new shares one that fewest have.
3. It is the same in every channel. A colour that an author chose goes before it.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from sync.machine import PeerId

HUES: Final = 10
"""Colours of names in a theme (`chat_tui.terminal.themes.AUTHORS`)."""

ANSI_HUES: Final = 8
"""The same in the terminal's own colours."""

AUTHORS_MAX: Final = 1_000
"""Authors whose places are remembered; later ones have that of their key."""


class AuthorPlaces:
    """See the module docstring; `remembered` are those of earlier runs."""

    def __init__(self, remembered: Mapping[PeerId, int] | None = None) -> None:
        self.places: dict[PeerId, int] = dict(remembered or {})
        self._held = Counter(self.places.values())

    def place_of(self, author: PeerId) -> int:
        """Return the place of an author, assigned now if there is none yet."""
        place = self.places.get(author)
        if place is None:
            place = by_key(author)
            if len(self.places) < AUTHORS_MAX:
                place = self._free(place)
                self.places[author] = place
                self._held[place] += 1
        return place

    def _free(self, wished: int) -> int:
        order = [wished, *[place for place in range(HUES) if place != wished]]
        if len(self.places) < ANSI_HUES:
            taken = {place % ANSI_HUES for place in self._held}
            order = [place for place in order if place % ANSI_HUES not in taken] or order
        return min(order, key=lambda place: self._held[place])


def by_key(author: PeerId) -> int:
    """Return the place that follows from an author's key."""
    return int(author[:8], 16) % HUES
