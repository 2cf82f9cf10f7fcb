"""Mode 0, log heights: both sides tell all of theirs, and each knows what is lacking."""

from collections.abc import Iterable
from typing import NamedTuple

from sync.p2panda.bounds import Place
from sync.p2panda.heads import Heads


class Span(NamedTuple):
    """Entries of a log from the number after `after` up to `height`."""

    key: bytes
    log: int
    after: int
    height: int


class Comparison(NamedTuple):
    """The entries that each side lacks, in the order of logs."""

    owed: tuple[Span, ...]
    expected: tuple[Span, ...]


def compare(ours: Heads, theirs: Iterable[Place]) -> Comparison:
    """Compare our heights with all those that a peer tells (section 2.2).

    What the peer has of a log that is lower here, or not here at all, it will send; what is higher
    here, or not with the peer at all, we send.
    """
    told = {(key, log): height for key, log, height in theirs}
    logs = [(key, log, height, told.get((key, log), 0)) for key, log, height in ours]
    owed = [Span(key, log, there, here) for key, log, here, there in logs if here > there]
    expected = [
        Span(key, log, here, there)
        for (key, log), there in sorted(told.items())
        if there > (here := ours.height(key, log))
    ]
    return Comparison(tuple(owed), tuple(expected))
