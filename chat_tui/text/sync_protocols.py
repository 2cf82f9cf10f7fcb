"""The ways to compare two histories, by the names that /sync takes: what there is, and what is not.

Imported by the input for its completion, so it imports nothing that the first paint could do
without.
"""

from typing import Final

from sync.errors import LocalError

WAKU: Final = "waku"

THERE_IS: Final = {
    WAKU: "Waku Sync: ranges of ids, compared by fingerprints (RBSR)",
    "rbsr": "the same, by the name of what it does",
}

NOT_YET: Final = {
    "logheight": "p2panda's log heights",
    "hash": "Calimero's comparison of hashes",
    "level": "Calimero's comparison level by level",
    "delta": "Calimero's deltas",
    "snapshot": "Calimero's snapshot",
}
"""Ways of p2panda and Calimero, which this program does not speak."""


def check_way(word: str) -> None:
    """Refuse what is not a way to compare histories here; no word at all means the usual one.

    Raises:
        LocalError: says which ways there are.
    """
    wanted = word.casefold()
    if not wanted or wanted in THERE_IS:
        return
    if wanted in NOT_YET:
        raise LocalError(
            f"{wanted}, for {NOT_YET[wanted]}, is not part of this program yet: "
            f"leave it out, or write {WAKU}."
        )
    raise LocalError(f"There is no way to compare called {word}: leave it out, or write {WAKU}.")
