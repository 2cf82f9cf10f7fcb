"""Ids of entries that a session brought on its own stream, 40 bytes each."""

from array import array
from typing import Final

import numpy as np

from sync.check.message import ASIDE_MAX, Aside
from sync.structures.ordered_set import Columns, SyncId
from sync.structures.sorted_run import HASH_WORDS

ID_BYTES: Final = 40

LOOKED_AFTER: Final = 256
"""Entries between two looks whether there is still room: a page."""


class Brought:
    """See the module docstring; one that came twice is there twice."""

    def __init__(self) -> None:
        self._timestamps = array("Q")
        self._hashes = bytearray()
        self._aside: list[bytes] = []
        """Of these, hashes of what is kept aside; up to one more than can be told."""

    def __len__(self) -> int:
        return len(self._timestamps)

    @property
    def size(self) -> int:
        """Bytes taken."""
        return ID_BYTES * len(self)

    @property
    def aside(self) -> Aside:
        """Hashes of what is kept aside, to be told; None if it is more than can be told."""
        return None if len(self._aside) > ASIDE_MAX else tuple(self._aside)

    def add(self, sync_id: SyncId, *, aside: bool = False) -> None:
        """Keep one more; `aside`: nobody may count on our having it."""
        self._timestamps.append(sync_id.timestamp)
        self._hashes += sync_id.hash
        if aside and len(self._aside) <= ASIDE_MAX:
            self._aside.append(sync_id.hash)

    def clear(self) -> None:
        """Let go of all."""
        self._timestamps, self._hashes, self._aside = array("Q"), bytearray(), []

    def columns(self) -> Columns:
        """Return a copy of them, in the order they came."""
        timestamps = np.array(self._timestamps, np.uint64)
        hashes = np.frombuffer(bytes(self._hashes), np.uint64).reshape(-1, HASH_WORDS)
        return Columns(timestamps, hashes)
