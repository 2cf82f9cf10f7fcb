"""Places of authors among the colours, kept in the profile: a small file, written whole.

Rule: losing this file loses only which colour somebody had. So a damaged file counts as none.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storage.profile.profile import read_small, write_whole
from sync.machine import PeerId

AUTHORS_MAX: Final = 1_000
"""Authors whose place is kept, the first ones: some 70 kB, and more than anybody tells apart."""

SIZE_MAX: Final = 1_000_000
"""Bytes of a file that is read at all."""

PLACE_MAX: Final = 99
"""Colours there could ever be."""

KEY_DIGITS: Final = 64


class AuthorColours:
    """The places in the file at `path`; all of this waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[PeerId, int]:
        """Return the place of each author; none if the file is not there or cannot be read."""
        places: dict[PeerId, int] = {}
        for author, place in read_small(self._path, SIZE_MAX).items():
            is_place = isinstance(place, int) and not isinstance(place, bool)
            if not is_place or not 0 <= place <= PLACE_MAX or not _is_key(author):
                return {}
            places[PeerId(author)] = place
        return places

    def save(self, places: Mapping[PeerId, int]) -> None:
        """Keep these instead of those of before.

        Raises:
            OSError: the disk refuses; those of before are still there.
        """
        kept = dict(list(places.items())[:AUTHORS_MAX])
        write_whole(self._path, json.dumps(kept, separators=(",", ":")) + "\n")


def _is_key(author: str) -> bool:
    return len(author) == KEY_DIGITS and all(digit in "0123456789abcdef" for digit in author)
