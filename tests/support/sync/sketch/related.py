"""Ids that lie about each other, made for a key: their XOR and that of their checksums are nothing.

Each step of a checksum is a permutation, so whoever knows the key needs no search for four such
ids. What protects a channel is that an id is the SHA-256 of a message, which nobody can choose.
"""

import random
import re
import struct

import pytest

from sync.group import ingest
from sync.sketch.key import SketchKey
from sync.waku import message as waku_message
from tests.support.sync.sketch.model import mix

NAMED = re.compile(rb"related (\d+)")


def related(key: SketchKey, seed: int = 1) -> list[bytes]:
    """Return a, b, c and d, all in the same places, of which any is the XOR of the other three.

    The first two have a second word s, which leads to S, the others t and T; with third words
    S ^ x, S ^ y, T ^ x and T ^ y the checksum of a is that of c, and the one of b that of d.
    """
    rng = random.Random(seed)
    first, s, t, x, y, last = (rng.getrandbits(64) for _ in range(6))
    begun = mix(int(key.checking) ^ first)
    led = {word: mix(begun ^ word) for word in (s, t)}
    return [
        struct.pack("<4Q", first, word, led[word] ^ third, last)
        for word, third in ((s, x), (s, y), (t, x), (t, y))
    ]


def choose_hashes(monkeypatch: pytest.MonkeyPatch, chosen: list[bytes]) -> None:
    """Give messages that say "related 0", "related 1" and so on hashes that SHA-256 never would."""
    hash_of = waku_message.hash_of

    def weak(pubsub: str, content: str, payload: bytes, timestamp: int, meta: bytes = b"") -> bytes:
        named = NAMED.search(payload)
        if named is None:
            return hash_of(pubsub, content, payload, timestamp, meta)
        return chosen[int(named.group(1))]

    for module in (waku_message, ingest):
        monkeypatch.setattr(module, "hash_of", weak)
