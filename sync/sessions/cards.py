"""Payloads of a session as they are shown: a row each, and the ranges it is about."""

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


class Round(NamedTuple):
    """One payload of a session as it is shown.

    Attributes:
        sent: whether we sent it.
        size: its bytes.
        skips, fingerprints, item_sets: how many of its ranges are equal, to be compared, or listed.
        items: ids of all item sets.
        cells: what it says of our ids from the oldest to the newest (`sync.view.infos.RoundInfo`);
            empty where it is not about ranges.
        raw: bytes that the same takes without delta encoding; 0 where there is none.
        ranges: the first of its ranges.
        words: what it says, of a protocol that compares no ranges.
        waves: of its first symbols, the wave of decoding in which each became pure, from 1 on; 0 if
            in none. Empty where it has none, or nobody here has decoded them.
    """

    sent: bool
    size: int
    skips: int = 0
    fingerprints: int = 0
    item_sets: int = 0
    items: int = 0
    cells: str = ""
    raw: int = 0
    ranges: tuple[RangeDrawn, ...] = ()
    words: str = ""
    waves: tuple[int, ...] = ()
