"""One range of a payload as it is shown, with what both sides say of it."""

from typing import NamedTuple

from sync.machine import Nanos


class RangeDrawn(NamedTuple):
    """A range from `lower` up to, and without, `upper`: timestamps, each with a hash.

    Attributes:
        kind: `equal`, `fingerprint` or `items`, as its sender put it.
        ours: our fingerprint of it; empty where it was not needed.
        theirs: the peer's fingerprint of it; empty where the peer has not said it here.
        held: how many ids we hold in it.
        listed: how many ids an item set lists.
    """

    lower: tuple[Nanos, bytes]
    upper: tuple[Nanos, bytes]
    kind: str
    ours: bytes = b""
    theirs: bytes = b""
    held: int = 0
    listed: int = 0
