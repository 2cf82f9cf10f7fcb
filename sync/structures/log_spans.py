"""Heights of author logs, and spans of their entries.

`key` is the author's public key (32 bytes), `log` the number of one of its logs; entries count
from 1. A height is sound: exactly one entry is held at each number up to it, with right links.
"""

from typing import NamedTuple


class LogHeight(NamedTuple):
    """A log as far as it is sound; sorted, these are in the order of p2panda replication."""

    key: bytes
    log: int
    height: int


class LogSpan(NamedTuple):
    """Entries of a log from the number after `after` up to `height`."""

    key: bytes
    log: int
    after: int
    height: int
