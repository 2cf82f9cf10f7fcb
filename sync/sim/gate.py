"""One gate for all nodes of a world: each distinct frame is decoded once, each entry checked once.

A gate's result depends on the frame's bytes alone, so in a world, where all receivers of a frame
get the very same bytes, one result serves them all. Every frame is still encoded by its sender and
decoded from its bytes; only the second to the last receiver are spared doing it again. Live nodes
have a gate of their own that remembers nothing.
"""

from msgspec import field
from msgspec.structs import replace

from sync.entries.entry import Entry
from sync.group.ingest import Gate
from sync.group.records import StoredMessage
from sync.sds.message import Message

FRAMES_MAX = 16_384
"""Frames remembered, then it begins anew: some 50 MB at 3 kB each, minutes of a busy world."""


class RememberingGate(Gate, frozen=True):
    """A gate whose results are kept by what they were made from; refusals are not."""

    _read: dict[bytes, Message] = field(default_factory=dict)
    """By the frame's bytes."""
    _opened: dict[Message, Entry] = field(default_factory=dict)
    """By the message without filter and requests, which differ from copy to copy."""
    _stored: dict[Message, StoredMessage] = field(default_factory=dict)
    """The same."""
    _checked: dict[int, tuple[Message, StoredMessage]] = field(default_factory=dict)
    """By the identity of a message that was read: hashing it costs each receiver 2 us."""

    def read(self, payload: bytes) -> Message:
        """See `Gate.read`."""
        message = self._read.get(payload)
        if message is None:
            message = Gate.read(self, payload)
            if len(self._read) >= FRAMES_MAX:
                for remembered in (self._read, self._opened, self._stored, self._checked):
                    remembered.clear()
            self._read[payload] = message
        return message

    def check(self, message: Message) -> StoredMessage:
        """See `Gate.check`."""
        known = self._checked.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        plain = _plain(message)
        stored = self._stored.get(plain)
        if stored is None:
            stored = self._stored[plain] = Gate.check(self, plain)
        self._checked[id(message)] = (message, stored)
        return stored

    def check_copy(self, message: Message) -> Entry:
        """See `Gate.check_copy`."""
        plain = _plain(message)
        entry = self._opened.get(plain)
        if entry is None:
            entry = self._opened[plain] = Gate.check_copy(self, plain)
        return entry


def _plain(message: Message) -> Message:
    if message.bloom_filter is None and not message.repair_request:
        return message
    return replace(message, bloom_filter=None, repair_request=())
