"""Messages of a session by sketch in a few words, as its card shows them."""

from sync.sketch.messages import (
    AskMore,
    Done,
    Entries,
    Message,
    MoreSymbols,
    Opening,
    Stop,
    Wanted,
)
from sync.structures.sorted_run import HASH_BYTES


def said(message: Message) -> str:
    """Return what a message says."""
    match message:
        case Opening(_, _, ids, symbols):
            return f"{len(symbols):,} symbols of {ids:,} messages"
        case MoreSymbols(first, _, symbols):
            return f"{len(symbols):,} symbols more" if first else f"{len(symbols):,} symbols"
        case AskMore():
            return "more symbols, please"
        case Wanted(owed, hashes):
            return f"{len(hashes) // HASH_BYTES:,} wanted, {owed:,} owed"
        case Entries(contents):
            return "1 entry" if len(contents) == 1 else f"{len(contents):,} entries"
        case Done():
            return "all sent"
        case Stop(reason):
            return f"stops: {reason.words}"
