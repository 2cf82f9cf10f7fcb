"""The key of a channel's sketches, and the words that are made of it."""

import hashlib
import sys
from typing import Final

import numpy as np
from msgspec import Struct

from sync.structures.sorted_run import HASH_WORDS, Words

CONTEXT: Final = b"chat-tui.sketch.v1\0"
"""Makes the key another value than any other hash of the same secret."""

KEY_SIZE: Final = 32


class SketchKey(Struct, frozen=True):
    """Key of 32 bytes; `placing` and `checking` are its first two words, k0 and k1."""

    placing: np.uint64
    checking: np.uint64

    @classmethod
    def of(cls, key: bytes) -> "SketchKey":
        """Return the words of a key."""
        assert len(key) == KEY_SIZE, f"{len(key)} bytes instead of {KEY_SIZE}"
        words = np.frombuffer(key, "<u8").astype(np.uint64)
        return cls(words[0], words[1])


def derived(secret: bytes) -> bytes:
    """Return the key of a channel from what all its members know and others do not.

    That is its secret, or the id of the op that founded it where epochs change secrets: what is
    kept of the symbols must outlive these. The secret cannot be found out from it.
    """
    return hashlib.sha256(CONTEXT + secret).digest()


def words_of(hashes: bytes) -> Words:
    """Return hashes that lie one after the other as words, (n, 4)."""
    return np.frombuffer(hashes, np.uint64).reshape(-1, HASH_WORDS)


def as_numbers(hashes: Words) -> Words:
    """Return the words of hashes as the numbers that they are read as, little-endian."""
    return hashes if sys.byteorder == "little" else hashes.byteswap()
