"""`limits signatures`: what the floors take by libsodium, beside the floors by OpenSSL.

The chat verifies and signs by libsodium (`sync/entries/ed25519.py`), and the goals were set beside
floors by OpenSSL. A ratio of `limits` divided by one of these is the ratio to a floor with the
library of the chat. One verification alone is told, too.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.limits import floor_pair
from tests.bench.limits.figures import Figure, Limit
from tests.bench.limits.floor_messages import SIGNATURES, Signatures
from tests.bench.report import Params, quantile

COUNT: Final = 10_000
ROUNDS: Final = 9
VERIFICATIONS: Final = 200
SIZE: Final = 300
"""Bytes that are signed: a header has about as many."""


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of one run."""
    assert not words, "this takes no words"
    for library in SIGNATURES:
        (place / library).mkdir()
    openssl, sodium = (floor_pair.measure(place / name, COUNT, name) for name in SIGNATURES)
    params: Params = {"messages": COUNT}
    for name in ("sender_us", "receiver_us", "rate"):
        unit = "messages/s" if name == "rate" else "us a message"
        floor = getattr(openssl, name)
        yield Figure(f"floor_{name}", getattr(sodium, name), floor, unit, None, params=params)
    alone, floor = (_verification_us(SIGNATURES[name]()) for name in ("sodium", "openssl"))
    yield Figure("verification", alone, floor, "us", None)


def _verification_us(signatures: Signatures) -> float:
    """Return the processor time of one verification, the median of several rounds."""
    data = os.urandom(SIZE)
    signature, took = signatures.sign(data), []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for _ in range(VERIFICATIONS):
            signatures.check(signatures.public_key, signature, data)
        took.append((time.thread_time() - began) / VERIFICATIONS)
    return quantile(took, 0.5) * 1e6


LIMIT: Final = Limit("signatures", measure, named_only=True)
