"""The ways to compare two histories, by the names that /sync takes.

Imported by the input for its completion, so it imports nothing that the first paint could do
without.
"""

from typing import Final

from sync.errors import LocalError

WAKU: Final = "waku"

THERE_IS: Final = {
    WAKU: "Waku Sync: ranges of ids, compared by fingerprints (RBSR)",
    "rbsr": "the same, by the name of what it does",
    "logheight": "p2panda's log heights: whole author logs, in causal order",
    "sets": "p2panda's set reconciliation: the same where there are many logs",
    "live": "one of the two, which then stays and passes on what is new",
    "delta": "Calimero's deltas: what is missing by its ids, and the rest by a filter",
    "sketch": "a sketch: symbols of all messages, which tell what differs (rateless IBLT)",
    "snapshot": "Calimero's snapshot, for a channel that is empty here",
    "hash": "Calimero's comparison of hashes: topic, pins, profiles and marks, node by node",
    "level": "the same, level by level",
}

NAMED: Final = {"rbsr": WAKU}
"""Protocols of ways that have another name than theirs."""

WRITE: Final = (
    f"leave it out, or write {WAKU}, logheight, sets, live, delta, sketch, snapshot, hash or level."
)


def protocol_of(word: str) -> str:
    """Return the protocol of a way to compare histories; no word at all means any, which is "".

    Raises:
        LocalError: there is no such way here; says which there are.
    """
    wanted = word.casefold()
    if not wanted or wanted in THERE_IS:
        return NAMED.get(wanted, wanted)
    raise LocalError(f"There is no way to compare called {word}: {WRITE}")
