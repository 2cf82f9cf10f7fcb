"""Sketches by the letter of `sync.sketch`, in numbers of Python alone: slow, and right.

`python -m tests.support.sync.sketch.model` writes `tests/vectors/sketch.json`.
"""

import hashlib
import json
import math
import random
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

WORD = 2**64 - 1
VECTORS = Path(__file__).parents[3] / "vectors" / "sketch.json"


def words(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 8}Q", data)


def mix(x: int) -> int:
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & WORD
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & WORD
    return x ^ x >> 33


def checksum(hash_: bytes, key: bytes) -> int:
    c = words(key)[1]
    for h in words(hash_):
        c = mix(c ^ h)
    return c


def places(hash_: bytes, key: bytes) -> Iterator[int]:
    p = mix(words(hash_)[0] ^ words(key)[0]) | 1
    i = 0
    while True:
        yield i
        p = p * 0xDA942042E4DD58B5 & WORD
        r = p >> 32
        i += max(1, math.ceil((i + 1.5) * (65536.0 / math.sqrt(r + 1) - 1)))


def below(hash_: bytes, key: bytes, size: int) -> list[int]:
    return list(takewhile(lambda place: place < size, places(hash_, key)))


@dataclass
class Symbol:
    sum: int = 0
    checksum: int = 0
    count: int = 0

    def put(self, hash_: bytes, key: bytes, sign: int = 1) -> None:
        self.sum ^= int.from_bytes(hash_, "little")
        self.checksum ^= checksum(hash_, key)
        self.count += sign

    @property
    def id(self) -> bytes:
        return self.sum.to_bytes(32, "little")

    def is_pure(self, key: bytes) -> bool:
        return abs(self.count) == 1 and checksum(self.id, key) == self.checksum


def sketch(hashes: Iterable[bytes], key: bytes, size: int) -> list[Symbol]:
    symbols = [Symbol() for _ in range(size)]
    for hash_ in hashes:
        for place in below(hash_, key, size):
            symbols[place].put(hash_, key)
    return symbols


@dataclass
class Decoded:
    theirs: set[bytes] = field(default_factory=set)
    ours: set[bytes] = field(default_factory=set)
    whole: bool = False
    waves: list[int] = field(default_factory=list)


def decoded(ours: list[Symbol], theirs: list[Symbol], key: bytes) -> Decoded:
    """Peel the difference of two sketches of one size."""
    left = [
        Symbol(b.sum ^ a.sum, b.checksum ^ a.checksum, b.count - a.count)
        for a, b in zip(ours, theirs, strict=True)
    ]
    found = Decoded(waves=[0] * len(left))
    wave = 0
    while pure := [at for at, symbol in enumerate(left) if symbol.is_pure(key)]:
        wave += 1
        ids = {left[at].id: left[at].count for at in pure}
        for at in pure:
            found.waves[at] = found.waves[at] or wave
        for hash_, sign in ids.items():
            (found.theirs if sign > 0 else found.ours).add(hash_)
            for place in below(hash_, key, len(left)):
                left[place].put(hash_, key, -sign)
    found.whole = left[0] == Symbol()
    return found


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def wire(symbols: list[Symbol], first: int, ids: int) -> bytes:
    numbers = bytearray()
    for at, symbol in enumerate(symbols, first):
        distance = symbol.count - 2 * ids // (at + 2)
        numbers += varint(2 * distance if distance >= 0 else -2 * distance - 1)
    sums = b"".join([symbol.id for symbol in symbols])
    return sums + b"".join([struct.pack("<Q", one.checksum) for one in symbols]) + bytes(numbers)


def made(count: int, seed: int = 1) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(32) for _ in range(count)]


def vectors() -> dict[str, Any]:
    secret = bytes(range(32))
    key = hashlib.sha256(b"chat-tui.sketch.v1\0" + secret).digest()
    ids = [bytes(32), b"\xff" * 32, *made(6)]
    many = made(200, 2)
    first = sketch(many, key, 12)
    return {
        "secret": secret.hex(),
        "key": key.hex(),
        "mix": [[f"{x:016x}", f"{mix(x):016x}"] for x in (0, 1, 2**32, WORD)],
        "ids": [
            {
                "hash": one.hex(),
                "checksum": f"{checksum(one, key):016x}",
                "places_below_65536": below(one, key, 65536),
            }
            for one in ids
        ],
        "symbols": {
            "hashes": [one.hex() for one in many],
            "sums": [one.id.hex() for one in first],
            "checksums": [f"{one.checksum:016x}" for one in first],
            "counts": [one.count for one in first],
            "wire": wire(first, 0, len(many)).hex(),
            "wire_of_the_last_seven": wire(first[5:], 5, len(many)).hex(),
        },
    }


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(vectors(), indent=1) + "\n")
