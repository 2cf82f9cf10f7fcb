"""Bytes that peers sent and nobody has taken yet, of all streams of a node: one budget.

A frame that is not complete is kept until the rest of it comes, so whoever begins large ones on
many connections takes memory for nothing.

Rules:
1. All streams together hold so many bytes and no more; where there are more, streams are cut.
2. Strangers go first, then those who share only open channels, as in `sync.structures.places`;
   among equals of the address that holds most, and there who holds most. A cut stream is dialled or
   asked for anew.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

from sync.machine import PeerId
from sync.net.links.stream import SecureStream
from sync.structures.places import Standing

RECEIVED_MAX: Final = 16 * 1024 * 1024
"""Bytes held: a payload of each session there may be (1 MiB, over slow Wi-Fi it takes seconds), or
64 kB of each link. On a network that works a frame is complete within milliseconds."""


class Received:
    """See the module docstring; `standing` tells how much speaks for keeping a peer."""

    def __init__(self, standing: Callable[[PeerId], Standing], most: int = RECEIVED_MAX) -> None:
        self.total = 0
        """Bytes held."""
        self._heard: set[PeerId] = set()
        self._standing = standing
        self._most = most
        self._held: dict[SecureStream, int] = {}

    def watch(self, stream: SecureStream) -> None:
        """Count what `stream` holds from now on."""
        stream.tell_held(self._note)

    def forget(self, stream: SecureStream) -> None:
        """Count it no more: nobody reads it."""
        stream.tell_held(None)
        self.total -= self._held.pop(stream, 0)

    def take_heard(self) -> set[PeerId]:
        """Return of whom anything came since this was last asked, on any stream."""
        heard, self._heard = self._heard, set()
        return heard

    def _note(self, stream: SecureStream, held: int) -> None:
        """Take note of how many bytes a stream holds; where that is too much, cut streams."""
        more = held - self._held.pop(stream, 0)
        self.total += more
        if more > 0:
            self._heard.add(stream.peer)
        if held:
            self._held[stream] = held
        while self.total > self._most:
            self._first_to_go().abort("holds memory that others need")

    def _first_to_go(self) -> SecureStream:
        by_host: Counter[str] = Counter()
        for stream, held in self._held.items():
            by_host[stream.remote_address[0]] += held

        def order(stream: SecureStream) -> tuple[int, int, int]:
            host, _ = stream.remote_address
            return -self._standing(stream.peer), by_host[host], self._held[stream]

        return max(self._held, key=order)
