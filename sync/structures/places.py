"""Decides who gives way when places run out: links, and the connections of sessions.

Identities cost nothing, addresses cost something, and a key that was met long ago or compared
cannot be made up at all. So, in this order:

1. Whom the person verified goes last.
2. Of an address with more than `CROWD` places somebody goes first.
3. Strangers go before those who share only open channels, whose names everybody can guess; those
   before members of private channels; and all of them before people met in earlier days.
4. Among equals, of the address with most places, and there who came last: who was here first is
   being talked to, and whoever floods pushes out his own.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import Final, Generic, TypeVar

from msgspec import Struct

from sync.machine import Nanos

CROWD: Final = 40
"""Places one address may hold in peace when all are taken: the programs of a terminal server."""

K = TypeVar("K", bound=Hashable)


class Standing(IntEnum):
    """Standing of a peer, in rising order: the higher, the later it gives way."""

    STRANGER = 0
    """Has proved no channel of ours."""
    OPEN = 1
    """Shares open channels only."""
    MEMBER = 2
    """Shares a private channel."""
    KNOWN = 3
    """Was met in an earlier run, over a day ago, or its address was named by the person."""
    VERIFIED = 4
    """The person compared keys with it."""


class Holder(Struct, Generic[K], frozen=True):
    """Somebody who holds a place, since `since`, from the address `host`."""

    key: K
    host: str
    standing: Standing
    since: Nanos


def give_way(holders: Sequence[Holder[K]], room: int) -> list[K]:
    """Return who must go for the others to have no more than `room` places."""
    by_host = Counter(holder.host for holder in holders)
    staying = list(holders)
    going = []
    while len(staying) > room:
        first = max(
            staying,
            key=lambda one: (
                one.standing < Standing.VERIFIED,
                by_host[one.host] > CROWD,
                -one.standing,
                by_host[one.host],
                one.since,
            ),
        )
        staying.remove(first)
        by_host[first.host] -= 1
        going.append(first.key)
    return going


class Places(Generic[K]):
    """So many places; who comes when all are taken may get that of somebody who gives way."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.holders: dict[K, Holder[K]] = {}

    def enter(self, holder: Holder[K]) -> list[K] | None:
        """Take a place; returns whose is taken from them, None if it is for the newcomer to go."""
        going = give_way([*self.holders.values(), holder], self.room)
        if holder.key in going:
            return None
        self.holders[holder.key] = holder
        for key in going:
            del self.holders[key]
        return going

    def leave(self, key: K) -> None:
        """Give a place back, unless it was taken."""
        self.holders.pop(key, None)
