"""Mode 0, log heights: both sides tell all of theirs, and each knows what is lacking."""

from collections.abc import Iterable
from typing import NamedTuple

from sync.p2panda.bounds import Place
from sync.p2panda.heads import Heads
from sync.structures.log_spans import LogSpan


class Comparison(NamedTuple):
    """The entries that each side lacks, in the order of logs."""

    owed: tuple[LogSpan, ...]
    expected: tuple[LogSpan, ...]


def compare(ours: Heads, theirs: Iterable[Place]) -> Comparison:
    """Compare our heights with all those that a peer tells (section 2.2).

    What the peer has of a log that is lower here, or not here at all, it will send; what is higher
    here, or not with the peer at all, we send.
    """
    told = {(key, log): height for key, log, height in theirs}
    logs = [(key, log, height, told.get((key, log), 0)) for key, log, height in ours]
    owed = [LogSpan(key, log, there, here) for key, log, here, there in logs if here > there]
    expected = [
        LogSpan(key, log, here, there)
        for (key, log), there in sorted(told.items())
        if there > (here := ours.height(key, log))
    ]
    return Comparison(tuple(owed), tuple(expected))
