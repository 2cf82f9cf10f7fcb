"""Probes of a peer's Bloom filter for many messages at once.

A thousand messages without an acknowledgement must not make every received filter cost a
millisecond: the bits of each message are worked out once, numpy looks them up a column at a time,
and what a peer's earlier filter held already is not asked again.
"""

from typing import Final

import numpy as np

from sync.machine import MessageId, PeerId
from sync.structures.bloom import ReceivedFilter, all_positions, wire_bits
from sync.structures.bloom_parameters import BloomParameters

ROWS_MIN: Final = 16
PEERS_MAX: Final = 256
"""Peers whose filters we remember; one forgotten may be told about once more."""


class Probes:
    """The messages whose acknowledgement we look for."""

    def __init__(self, parameters: BloomParameters) -> None:
        self._parameters = parameters
        self._row_of: dict[MessageId, int] = {}
        self._new: dict[MessageId, None] = {}
        """Messages without a row yet: rows are worked out together, when a filter comes."""
        self._ids: list[MessageId | None] = [None] * ROWS_MIN
        self._free = list(range(ROWS_MIN - 1, -1, -1))
        self._columns = np.zeros((parameters.k, ROWS_MIN), np.int64)
        self._looked_for = np.zeros(ROWS_MIN, np.bool_)
        self._held_by: dict[PeerId, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}

    def add(self, message_id: MessageId) -> None:
        """Look for a message from now on."""
        self._new[message_id] = None

    def remove(self, message_id: MessageId) -> None:
        """Look for it no more."""
        if message_id in self._new:
            del self._new[message_id]
            return
        row = self._row_of.pop(message_id)
        self._ids[row] = None
        self._looked_for[row] = False
        self._free.append(row)
        for held in self._held_by.values():
            held[row] = False

    def forget(self, message_id: MessageId) -> None:
        """Take what filters said of a message as not said."""
        row = self._row_of.get(message_id)
        if row is not None:
            for held in self._held_by.values():
                held[row] = False

    def hits(self, bloom_filter: bytes, by: PeerId) -> list[MessageId]:
        """Return what the filter of `by` may hold that none of its earlier ones did.

        Raises:
            DecodeError: the filter tells nothing; see `ReceivedFilter.read`.
        """
        if self._new:
            self._give_rows()
        held = self._held_by.get(by)
        rows = np.flatnonzero(self._looked_for if held is None else self._looked_for & ~held)
        if not len(rows):
            return []
        received = ReceivedFilter.read(bloom_filter, self._parameters)
        rows = received.rows_held(self._columns, rows)
        if not len(rows):
            return []
        if held is None:
            held = self._remember(by)
        held[rows] = True
        return [message_id for row in rows.tolist() if (message_id := self._ids[row]) is not None]

    def _remember(self, by: PeerId) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        if len(self._held_by) >= PEERS_MAX:
            del self._held_by[next(iter(self._held_by))]
        held = self._held_by[by] = np.zeros(len(self._ids), np.bool_)
        return held

    def _give_rows(self) -> None:
        while len(self._free) < len(self._new):
            self._grow()
        rows = [self._free.pop() for _ in self._new]
        for message_id, row in zip(self._new, rows, strict=True):
            self._row_of[message_id] = row
            self._ids[row] = message_id
        positions = all_positions(self._parameters, list(self._new))
        self._columns[:, rows] = wire_bits(positions)
        self._looked_for[rows] = True
        self._new.clear()

    def _grow(self) -> None:
        rows = len(self._ids)
        self._ids += [None] * rows
        self._free += range(2 * rows - 1, rows - 1, -1)
        self._columns = np.hstack((self._columns, np.zeros_like(self._columns)))
        self._looked_for = np.hstack((self._looked_for, np.zeros(rows, np.bool_)))
        for by, held in self._held_by.items():
            self._held_by[by] = np.hstack((held, np.zeros(rows, np.bool_)))
