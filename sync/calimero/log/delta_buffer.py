"""DeltaBuffer: what arrives live while a snapshot is on its way, first in, first out.

It counts nowhere until the snapshot is swapped in, then takes the way of everything that arrives.
What is pushed out is counted, and repaired by the session that follows the snapshot.
"""

from itertools import islice
from typing import Final, Generic, TypeVar

from sync.machine import MessageId

BUFFERED_MAX: Final = 10_000
"""Entries: a busy channel has as many in an hour, and a snapshot takes a minute."""

BUFFERED_BYTES_MAX: Final = 16 * 1024 * 1024
"""Bytes of them together: usual lines have a few hundred, so 10,000 of them fit."""

Item = TypeVar("Item")


class DeltaBuffer(Generic[Item]):
    """See the module docstring."""

    def __init__(self) -> None:
        self._items: dict[MessageId, tuple[int, Item]] = {}
        self._size = 0
        self.dropped = 0
        """Entries that were pushed out."""

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self._items

    @property
    def size(self) -> int:
        """Bytes of all together."""
        return self._size

    def add(self, message_id: MessageId, item: Item, size: int) -> list[MessageId]:
        """Keep an entry of `size` bytes; return those that are pushed out, the oldest first."""
        if message_id in self._items:
            return []
        self._items[message_id] = (size, item)
        self._size += size
        gone: list[MessageId] = []
        while len(self._items) > BUFFERED_MAX or self._size > BUFFERED_BYTES_MAX:
            oldest = next(iter(self._items))
            self._size -= self._items.pop(oldest)[0]
            gone.append(oldest)
        self.dropped += len(gone)
        return gone

    def take(self, most: int) -> list[Item]:
        """Return the oldest ones, and let go of them."""
        taken = list(islice(self._items, most))
        items = [self._items.pop(message_id) for message_id in taken]
        self._size -= sum(size for size, _ in items)
        return [item for _, item in items]
