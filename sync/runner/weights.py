"""Bytes of what peers sent that wait to be handled: of all together, and of each sender.

A count alone bounds no memory: a frame of a link may have 256 kB, a payload of a session 1 MiB.
"""

from typing import Final

from sync.group import values
from sync.runner.input_rules import LISTS, OF_LINKS, OF_TRANSFERS, PAYLOADS, SHARING

BYTES_CROWDED: Final = 8 * 1024 * 1024
"""Bytes waiting at which nobody is read: eight turns, some tenth of a second of work."""

BYTES_SHARED: Final = 4 * 1024 * 1024
BYTES_OF_ONE: Final = 1024 * 1024
"""Bytes of one sender at which it is not read; of many senders each has its share of the former.
Who has nothing waiting is read whatever the others have, so all that waits is at most
`BYTES_CROWDED`, and one frame of each link."""

BYTES_OF_TURN: Final = 1024 * 1024
"""Bytes after which a turn ends: they are held until they are committed. It is the largest payload,
or 512 lines of 2 kB."""

INPUT_BYTES: Final = 256
"""Memory of an input beside its payload."""

TRANSFER: Final = "transfer of "
"""Before the key of a peer: what it transfers is apart from what it says live."""


class Weights:
    """See the module docstring. A sender is a peer's link, its transfers, or a session."""

    def __init__(self) -> None:
        self.total = 0
        """Bytes of all that waits."""
        self._of: dict[str | values.SessionId, int] = {}

    def add(self, event: values.Input) -> None:
        """Count an input that waits from now on."""
        kind = type(event)
        if kind in SHARING:
            self._change(kind, event, 1)

    def take_bytes(self, event: values.Input) -> int:
        """Count an input that waits no more; returns its bytes."""
        kind = type(event)
        return -self._change(kind, event, -1) if kind in SHARING else 0

    def clear(self) -> None:
        """Nothing waits."""
        self.total = 0
        self._of.clear()

    def bytes_of(self, sender: str | values.SessionId) -> int:
        """Return the bytes of a sender that wait."""
        return self._of.get(sender, 0)

    def is_full(self, sender: str | values.SessionId) -> bool:
        """Return whether nothing more should be read of a sender for now."""
        held = self._of.get(sender)
        if held is None:
            return False
        return held >= min(BYTES_OF_ONE, BYTES_SHARED // len(self._of))

    def _change(self, kind: type[values.Input], event: values.Input, by: int) -> int:
        # Twice a frame: `kind` is the type of the event, and is not looked up again.
        if kind is values.Arrived or kind in OF_LINKS:
            sender: str | values.SessionId = event.peer  # type: ignore[union-attr]  # its type
        elif kind in OF_TRANSFERS:
            sender = TRANSFER + event.peer  # type: ignore[union-attr]
        else:
            sender = event.session  # type: ignore[union-attr]
        if kind in PAYLOADS:
            size = by * (INPUT_BYTES + len(event.payload))  # type: ignore[union-attr]
        elif kind in LISTS:
            contents: tuple[bytes, ...] = event.contents  # type: ignore[union-attr]
            size = by * (INPUT_BYTES + sum([len(one) for one in contents]))
        else:
            size = by * INPUT_BYTES
        self.total += size
        left = self._of.get(sender, 0) + size
        if left:
            self._of[sender] = left
        else:
            del self._of[sender]
        return size
