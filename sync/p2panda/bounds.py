"""Places in the order of log heights, where ranges begin and end.

Rules:
1. The order is that of raw key bytes, a prefix before what it begins, then that of the numbers of
   log and height.
2. An item is a place with a whole key and a height of at least 1.
3. A bound is a place as well; its key may be cut, and then log and height are 0.
"""

from typing import Final, NamedTuple

KEY_BYTES: Final = 32
"""An Ed25519 public key."""


class Place(NamedTuple):
    """A place in the order (key, log, height): a log at a height, or a bound between such."""

    key: bytes
    log: int = 0
    height: int = 0


def between(lower: Place, item: Place) -> Place:
    """Return the shortest bound above `lower` and not above `item`, which is the later one."""
    assert lower < item, "a bound lies between two places in their order"
    if lower.key == item.key:
        return item if lower.log == item.log else Place(item.key, item.log)
    shared = min(len(lower.key), len(item.key))
    same = next((at for at in range(shared) if lower.key[at] != item.key[at]), shared)
    return Place(item.key[: same + 1])


def beginning(item: Place) -> Place:
    """Return the bound of one byte that an order whose lowest item is `item` begins with."""
    return Place(item.key[:1])


def rank(place: Place, start: Place) -> tuple[bool, Place]:
    """Return what sorts places in the order in which one meets them, going round from `start`."""
    return place < start, place
