"""The newest entries are missing: what each protocol takes to find that out, over the same stores.

A store of 100,000 entries, by `logs` of as many authors at random times within 30 days; the other
side lacks the newest `missing` of them. Waku Sync compares their ids, `logheight` and `sets` the
heights of the logs. All are exact, or the row `replication_store_right` says 0. Bytes are those of
messages, seconds processor time of both sides.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from sync.p2panda.bounds import KEY_BYTES, Place
from sync.structures.ordered_set import OrderedSet
from sync.structures.sorted_run import HASH_BYTES, HASH_WORDS
from tests.bench.bench_reconcile import BEGAN, SPAN, cpu_of, run_session
from tests.bench.bench_replication import Run, by_log_heights, by_sets, frozen
from tests.bench.report import Params, Result, progress

ENTRIES: Final = 100_000
LOGS: Final = (18, 512, 1_000, 10_000)
MISSING: Final = (1, 50, 2_000)
SEEDS: Final = (1, 2, 3)
RUNS: Final = 3


class Store(NamedTuple):
    """One side: the heights of its logs, and the ids of its entries."""

    heights: list[Place]
    ids: OrderedSet


def replication_stores(place: Path) -> Iterator[Result]:
    """Yield messages, bytes, round trips and seconds of each protocol."""
    del place
    for logs in LOGS:
        for seed in SEEDS:
            rng = random.Random(seed)
            times = np.sort(np.frombuffer(rng.randbytes(8 * ENTRIES), np.uint64) % SPAN) + BEGAN
            hashes = np.frombuffer(rng.randbytes(HASH_BYTES * ENTRIES), np.uint64)
            words = hashes.reshape(-1, HASH_WORDS)
            names = [(rng.randbytes(KEY_BYTES), rng.getrandbits(64)) for _ in range(logs)]
            authors = [rng.randrange(logs) for _ in range(ENTRIES)]
            whole = _store(names, authors, times, words)
            for missing in MISSING:
                progress(f"replication: {missing} newest of {logs} logs missing, seed {seed} ...")
                count = ENTRIES - missing
                less = _store(names, authors[:count], times[:count], words[:count])
                for protocol, run in _runs(less, whole, missing).items():
                    params: Params = {
                        "protocol": protocol,
                        "logs": logs,
                        "missing": missing,
                        "seed": seed,
                    }
                    yield from _rows(run, params)


def _store(
    names: list[tuple[bytes, int]],
    authors: list[int],
    times: "np.typing.NDArray[np.uint64]",
    words: "np.typing.NDArray[np.uint64]",
) -> Store:
    counts = np.bincount(np.array(authors), minlength=len(names))
    heights = [
        Place(*name, int(height)) for name, height in zip(names, counts, strict=True) if height
    ]
    ids = OrderedSet()
    ids.fill(times.copy(), words.copy())
    return Store(heights, ids)


def _runs(less: Store, whole: Store, missing: int) -> dict[str, Run]:
    """Return the session of the middle duration of each protocol; who lacks entries begins."""
    ours, theirs = frozen(less.heights), frozen(whole.heights)
    return {
        "waku": _middle([_waku(less.ids, whole.ids, missing) for _ in range(RUNS)]),
        "logheight": _middle([by_log_heights(ours, theirs) for _ in range(RUNS)]),
        "sets": _middle([by_sets(ours, theirs) for _ in range(RUNS)]),
    }


def _middle(runs: list[Run]) -> Run:
    return sorted(runs, key=lambda one: one.seconds)[len(runs) // 2]


def _waku(ours: OrderedSet, theirs: OrderedSet, missing: int) -> Run:
    run = run_session(ours, theirs)
    (initiator, responder), turns, messages = run
    lacking = set(initiator.need)
    right = (
        len(lacking) == len(initiator.need) == missing
        and lacking == set(responder.have)
        and all(one in theirs and one not in ours for one in lacking)
        and not initiator.have
        and not responder.need
    )
    size = initiator.sent + responder.sent
    return Run(size, messages, (turns + 1) // 2, sum(cpu_of(run)), right)


def _rows(run: Run, params: Params) -> Iterator[Result]:
    yield Result("replication_store_right", float(run.right), "1 if right", 1.0, run.right, params)
    yield Result("replication_store_messages", float(run.messages), "messages", params=params)
    yield Result("replication_store_bytes", float(run.bytes), "bytes", params=params)
    yield Result("replication_store_round_trips", float(run.trips), "round trips", params=params)
    yield Result("replication_store_cpu", 1e3 * run.seconds, "ms", params=params)
