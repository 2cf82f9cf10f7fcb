"""The machine of this moment: what one verification and one commit take."""

import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from sync.entries.identity import verify
from tests.bench.report import quantile
from tests.support.sync.entries import identity

STEADY: Final = 0.15
"""Share by which neither may have moved during a run; else the run is repeated."""

ROUNDS: Final = 9
VERIFICATIONS: Final = 100
COMMITS: Final = 60
ROW: Final = 600
"""Bytes of a stored message."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Processor time of one Ed25519 verification, and time of one commit that is durable."""

    verification_us: float
    commit_ms: float

    @classmethod
    def taken(cls, place: Path) -> Self:
        """Measure both, in a directory."""
        return cls(_verification_us(), _commit_ms(place / "calibration.db"))

    def moved(self, after: Self) -> bool:
        """Return whether the machine was another one after a run than before it."""
        pairs = (self.verification_us, after.verification_us), (self.commit_ms, after.commit_ms)
        return any(max(pair) > (1 + STEADY) * min(pair) for pair in pairs)


def _verification_us() -> float:
    """Return the median of several rounds."""
    author, data = identity("alice"), os.urandom(300)
    signature = author.sign(data)
    took = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for _ in range(VERIFICATIONS):
            assert verify(author.peer_id, signature, data)
        took.append((time.thread_time() - began) / VERIFICATIONS)
    return quantile(took, 0.5) * 1e6


def _commit_ms(path: Path) -> float:
    """Return the median: the last step of a write is the disk's, and others use it too."""
    took = []
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE IF NOT EXISTS rows (row BLOB)")
        for _ in range(COMMITS):
            began = time.perf_counter()
            db.execute("INSERT INTO rows VALUES (?)", (os.urandom(ROW),))
            took.append(time.perf_counter() - began)
    return quantile(took, 0.5) * 1e3
