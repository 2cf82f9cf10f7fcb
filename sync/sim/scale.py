"""Quantities that the bounds of a node's tables are made of (I7)."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from sync.sessions import table


class Scale(Struct, frozen=True):
    """Quantities that bound the tables of a node.

    Attributes:
        stored: messages on its disk, of all channels.
        links: peers, of all channels together.
        channels: how many channels it is in.
        filter_ids: how many ids a filter holds.
        outside: entries that wait for governance, or were dropped.
        ops: ops of governance, of all channels.
    """

    stored: int
    links: int
    channels: int
    filter_ids: int
    outside: int = 0
    ops: int = 0

    @property
    def sessions(self) -> int:
        """Sessions at once: one a peer, and those just over that may still receive."""
        return 2 * max(self.links, table.SHOWN_MAX)


Bound: TypeAlias = int | Callable[[Scale], int]
