"""Inputs that wait long, as while the disk refuses: where only the newest counts, only it waits.

Whatever peers say meanwhile, no more waits of each than one input of each kind and channel.
"""

from sync.group import values
from sync.runner.input_queue import Addressed
from sync.runner.input_rules import KEPT_NEWEST, VOID_ONCE_GONE


class Newest:
    """See the module docstring.

    The newest stands where an older one stood: of a link that is told twice, what was told on it
    in between must not come first.
    """

    def __init__(self) -> None:
        self._kept: dict[object, Addressed] = {}
        self._number = 0
        """Number of the next input that counts by itself."""

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, addressed: Addressed) -> None:
        """Have an input wait, instead of older ones that it makes void."""
        channel, event = addressed.channel, addressed.event
        kind = type(event)
        if kind not in KEPT_NEWEST:
            self._number += 1
            self._kept[self._number] = addressed
            return
        peer = event.peer  # type: ignore[union-attr]  # its type says so
        if kind is values.PeerGone:
            for void in VOID_ONCE_GONE:
                self._kept.pop((void, channel, peer), None)
        self._kept[kind, channel, peer] = addressed

    def take_all(self) -> list[Addressed]:
        """Return what waits, in order; nothing does from then on."""
        taken = list(self._kept.values())
        self._kept.clear()
        return taken
