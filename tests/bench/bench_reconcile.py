"""Cost of reconciling two sets: `python -m tests.bench.bench_reconcile --json [A.bin B.bin]`.

Without files it makes data sets: `--items` ids at random times within 30 days, `--diff` of them on
one side only, half on each. `uniform`: any of them; `recent`: of the newest hundredth, or the
newest 2 x `--diff` if those are more. A file is the magic `RBSRSET1`, the count as u64
little-endian, then per id the timestamp in ns as u64 little-endian and 32 bytes of hash, sorted by
both.

Both sides are complete: payloads are encoded and decoded, differences are checked against the sets.
Seconds are processor time of one process; bytes are those of payloads, without length prefixes.

The floor of 100,000 ids of which 10,000 recent ones differ: next to each that differs stands one
that does not. One side has to name its 15,000 recent ids, of 37 bytes, and the other one the 5,000
that only it has: 740 kB, if not one byte is spent on finding them. The goal of 600 kB can only be
met by a protocol that tells one side alone, or sends ids without timestamps.
"""

import argparse
import contextlib
import gc
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np

from sync.check import check
from sync.check.message import SALT_BYTES
from sync.check.wire import decode_frame, encode_frame
from sync.errors import DecodeError
from sync.structures.codec import encode_uvarint
from sync.structures.ordered_set import ZERO_HASH, OrderedSet, SyncId
from sync.structures.set_digest import Digest, Held
from sync.structures.sorted_run import HASH_BYTES, HASH_WORDS, Words
from sync.waku.message import CLUSTER, EVERYTHING, PAYLOAD_BYTES_MAX, RangesData
from sync.waku.reconcile import (
    Begin,
    Continue,
    Differences,
    PayloadReceived,
    Reconciliation,
    Role,
    SendPayload,
)
from sync.waku.turn import PAYLOADS_MAX
from sync.waku.wire import decode_ranges, encode_ranges
from tests.bench.report import Params, Result, at_most, explained, progress

MAGIC: Final = b"RBSRSET1"
ROW: Final = np.dtype([("timestamp", "<u8"), ("hash", "V32")])
BEGAN: Final = 1_700_000_000_000_000_000
SPAN: Final = 30 * 24 * 3600 * 10**9
SHARDS: Final = (5,)
RUNS: Final = 5
INSERTS: Final = 500

CASES: Final = (
    (1_000_000, 0, "uniform"),
    (1_000_000, 10, "uniform"),
    (1_000_000, 1_000, "uniform"),
    (1_000_000, 1_000, "recent"),
    (1_000_000, 10_000, "recent"),
    (1_000_000, 10_000, "uniform"),
    (400_000, 100_000, "uniform"),
    (100_000, 1_000, "uniform"),
    (100_000, 10_000, "recent"),
)

BYTES_GOALS: Final = {
    (1_000_000, 0, "uniform"): 60.0,
    (1_000_000, 1_000, "uniform"): 950_000.0,
    (1_000_000, 1_000, "recent"): 270_000.0,
    (1_000_000, 10_000, "recent"): 1_000_000.0,
    (100_000, 10_000, "recent"): 600_000.0,
}
ROUND_TRIP_GOALS: Final = {(1_000_000, 0, "uniform"): 1.0, (1_000_000, 1_000, "uniform"): 4.0}
MANY: Final = {(1_000_000, 10_000, "uniform"), (400_000, 100_000, "uniform")}
TRIPS_MORE: Final = 4
"""Round trips of these, beside one for each MiB of the larger direction."""
CPU_GOALS: Final = {(1_000_000, 0, "uniform"): 1.0, (1_000_000, 1_000, "uniform"): 200.0}
BUILD_MS: Final = 100.0
TAIL_US: Final = 25.0
LATE_US: Final = 60.0
BYTES_AN_ID: Final = 72.0
HOSTILE_MS: Final = 50.0
STEP_MS: Final = 50.0
"""Of one step of a session: so long it keeps the screen waiting."""
CHECK_BYTES: Final = 150.0
CHECK_MS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Sets:
    """Two sets as columns, and how many ids only one of them has."""

    ours: tuple[Words, Words]
    theirs: tuple[Words, Words]
    have: int
    need: int


@dataclass(slots=True)
class Side:
    """One side of a session: its machine, what it cost, and what it found."""

    machine: Reconciliation
    seconds: float = 0.0
    longest: float = 0.0
    """Seconds of the longest step: decoding a payload, some of an answer, encoding one."""
    sent: int = 0
    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)

    def receive(self, data: bytes | None) -> list[bytes]:
        """Take a payload, or begin without one; return the payloads of the answer."""
        answer: list[bytes] = []
        goes_on = self._step(data, answer)
        while goes_on:
            goes_on = self._step(Continue(), answer)
        return answer

    def _step(self, said: bytes | Continue | None, answer: list[bytes]) -> bool:
        """Take a step, timed; return whether there is another one."""
        began = time.process_time()
        event = PayloadReceived(decode_ranges(said)) if isinstance(said, bytes) else said
        effects = self.machine.handle(event or Begin(), 0)
        sent = [encode_ranges(one.payload) for one in effects if isinstance(one, SendPayload)]
        took = time.process_time() - began
        self.seconds += took
        self.longest = max(self.longest, took)
        self.sent += sum(map(len, sent))
        answer += sent
        for effect in effects:
            if isinstance(effect, Differences):
                self.need += effect.need
                self.have += effect.have
        return Continue() in effects


def reconcile(place: Path) -> Iterator[Result]:
    """Reconcile sets of all shapes."""
    del place
    for items, diff, shape in CASES:
        progress(f"reconcile: {items} ids, {diff} differ, {shape} ...")
        case = (items, diff, shape)
        params: Params = {"items": items, "diff": diff, "shape": shape, "seed": 1}
        yield from measured(made(items, diff, shape, 1), params, case)


def measured(sets: Sets, params: Params, case: tuple[int, int, str]) -> Iterator[Result]:
    """Yield the figures of one case, the middle of a few runs."""
    build, (ours, theirs) = _built(sets)
    runs = sorted(
        (run_session(ours, theirs) for _ in range(RUNS)), key=lambda run: sum(cpu_of(run))
    )
    (initiator, responder), turns, messages = runs[RUNS // 2]
    right = _right(sets, initiator, ours, theirs) and _right(sets, responder, theirs, ours)
    yield Result("reconcile_right", float(right), "1 if right", 1.0, right, params)
    up, down = float(initiator.sent), float(responder.sent)
    yield _judged("reconcile_bytes", up + down, "bytes", BYTES_GOALS.get(case), params)
    yield Result("reconcile_bytes_up", up, "bytes", params=params)
    yield Result("reconcile_bytes_down", down, "bytes", params=params)
    yield Result("reconcile_messages", float(messages), "messages", params=params)
    trips = float((turns + 1) // 2)
    goal = ROUND_TRIP_GOALS.get(case)
    if case in MANY:
        goal = TRIPS_MORE + math.ceil(max(up, down) / (1 << 20))
    yield _judged("reconcile_round_trips", trips, "round trips", goal, params)
    if case in MANY:
        longest = min(max(one.longest for one in sides) for sides, _, _ in runs)
        yield at_most("reconcile_longest_step", 1e3 * longest, "ms", STEP_MS, params)
    ours_ms, theirs_ms = (1e3 * seconds for seconds in cpu_of(runs[RUNS // 2]))
    yield Result("reconcile_initiator_cpu", ours_ms, "ms", params=params)
    yield Result("reconcile_responder_cpu", theirs_ms, "ms", params=params)
    cpu = _judged("reconcile_cpu", ours_ms + theirs_ms, "ms", CPU_GOALS.get(case), params)
    yield explained(cpu, lambda: run_session(ours, theirs))
    yield Result("reconcile_need", float(len(initiator.need)), "ids", params=params)
    yield Result("reconcile_have", float(len(initiator.have)), "ids", params=params)
    yield Result("reconcile_build", 1e3 * build, "ms", params=params)


def reconcile_set(place: Path) -> Iterator[Result]:
    """The ordered set by itself: building, inserting, memory."""
    del place
    count = 1_000_000
    params: Params = {"items": count}
    timestamps, hashes = made(count, 0, "uniform", 1).ours
    seconds = sorted(_build_seconds(timestamps, hashes) for _ in range(RUNS))
    yield at_most("set_build", 1e3 * seconds[RUNS // 2], "ms", BUILD_MS, params)
    ordered = OrderedSet()
    ordered.fill(timestamps.copy(), hashes.copy())
    yield at_most(
        "set_memory", round(ordered.memory / count, 3), "bytes an id", BYTES_AN_ID, params
    )
    ordered.insert(SyncId(BEGAN + SPAN, os.urandom(HASH_BYTES)))  # the columns grow once
    newest = [BEGAN + SPAN + number for number in range(1, INSERTS + 1)]
    yield at_most("set_insert_tail", _insert_us(ordered, newest), "us", TAIL_US, params)
    late = [BEGAN + SPAN // 2 + 1_000 * number for number in range(INSERTS)]
    yield at_most("set_insert_late", _insert_us(ordered, late), "us", LATE_US, params)


def reconcile_check(place: Path) -> Iterator[Result]:
    """Measure the check's cost in a session of equal sets whose buckets were hashed before."""
    del place
    params: Params = {"items": 1_000_000, "diff": 0}
    _, (ours, theirs) = _built(made(1_000_000, 0, "uniform", 1))
    held = [Held(items.frozen(), Digest.of(items)) for items in (ours, theirs)]
    runs = sorted(_check(*held) for _ in range(RUNS))
    seconds, size = runs[RUNS // 2]
    yield at_most("check_bytes", float(size), "bytes", CHECK_BYTES, params)
    yield at_most("check_cpu", 1e3 * seconds, "ms", CHECK_MS, params)


def _check(ours: Held, theirs: Held) -> tuple[float, int]:
    """Return processor seconds of both sides, and bytes, of a check that finds them equal."""
    began = time.process_time()
    first = check.Check(Role.INITIATOR, ours, 0, os.urandom(SALT_BYTES), 0)
    second = check.Check(Role.RESPONDER, theirs, 0, os.urandom(SALT_BYTES), 0)
    effects, receiver, other = first.handle(check.Begin(), 0), second, first
    size = 0
    while frames := [one.frame for one in effects if isinstance(one, check.SendFrame)]:
        [data] = map(encode_frame, frames)
        size += len(data)
        effects = receiver.handle(check.FrameReceived(decode_frame(data)), 0)
        receiver, other = other, receiver
    [finished] = effects
    assert isinstance(finished, check.CheckFinished)
    assert finished.result is check.Result.EQUAL
    return time.process_time() - began, size


def reconcile_hostile(place: Path) -> Iterator[Result]:
    """Decoding one frame of 1 MiB that somebody made to hurt."""
    del place
    head = encode_ranges(RangesData(CLUSTER, SHARDS))
    far, near = encode_uvarint(2**62), encode_uvarint(1)
    items = (PAYLOAD_BYTES_MAX - 100) // (1 + HASH_BYTES)
    rising = [near + number.to_bytes(HASH_BYTES, "big") for number in range(items)]
    sets = [b"\1\2" + near + encode_uvarint(number) + ZERO_HASH + b"\0" for number in range(20_000)]
    frames = {
        "skips": head + b"\1\0" * ((PAYLOAD_BYTES_MAX - 100) // 2),
        "fingerprints": head + (b"\1\1" + ZERO_HASH) * ((PAYLOAD_BYTES_MAX - 100) // 34),
        "garbage": os.urandom(PAYLOAD_BYTES_MAX),
        "items": head + far + b"\2" + encode_uvarint(items) + b"".join(rising) + b"\0",
        "item sets of one": head + b"".join(sets),
        "a count of 2^60": head + far + b"\2" + encode_uvarint(2**60) + b"".join(rising),
    }
    for name, frame in frames.items():
        seconds = sorted(_decode_seconds(frame) for _ in range(RUNS))
        params: Params = {"frame": name, "bytes": len(frame)}
        yield at_most("reconcile_hostile", 1e3 * seconds[RUNS // 2], "ms", HOSTILE_MS, params)


def made(items: int, diff: int, shape: str, seed: int) -> Sets:
    """Return sets as the module's docstring says."""
    rng = np.random.default_rng(seed)
    timestamps = np.sort(rng.integers(BEGAN, BEGAN + SPAN, items).astype(np.uint64))
    hashes = np.frombuffer(rng.bytes(HASH_BYTES * items), np.uint64).reshape(-1, HASH_WORDS)
    first = 0 if shape == "uniform" else max(0, items - max(items // 100, 2 * diff))
    different = first + rng.permutation(items - first)[:diff]
    half = diff // 2
    ours, theirs = (
        (np.delete(timestamps, lost), np.delete(hashes, lost, axis=0))
        for lost in (different[:half], different[half:])
    )
    return Sets(ours, theirs, have=diff - half, need=half)


def read(ours: Path, theirs: Path) -> Sets:
    """Return the sets of two files.

    Raises:
        SystemExit: a file is not what the module's docstring says.
    """
    sides = _read(ours), _read(theirs)
    mine, others = (
        {*zip(timestamps.tolist(), hashes.view("V32")[:, 0].tolist(), strict=True)}
        for timestamps, hashes in sides
    )
    return Sets(*sides, have=len(mine - others), need=len(others - mine))


def _read(path: Path) -> tuple[Words, Words]:
    data = path.read_bytes()
    count = int.from_bytes(data[8:16], "little")
    if data[:8] != MAGIC or len(data) != 16 + count * ROW.itemsize:
        raise SystemExit(f"{path} is no data set: {MAGIC!r}, a count, and 40 bytes an id.")
    rows = np.frombuffer(data, ROW, offset=16)
    hashes = np.frombuffer(rows["hash"].tobytes(), np.uint64).reshape(-1, HASH_WORDS)
    return rows["timestamp"].astype(np.uint64), hashes


def _built(sets: Sets) -> tuple[float, tuple[OrderedSet, OrderedSet]]:
    began = time.process_time()
    ours = OrderedSet()
    ours.fill(*sets.ours)
    seconds = time.process_time() - began
    theirs = OrderedSet()
    theirs.fill(*sets.theirs)
    return seconds, (ours, theirs)


Run: TypeAlias = tuple[tuple[Side, Side], int, int]
"""The sides of a session, and how many turns and payloads it had."""


def run_session(ours: OrderedSet, theirs: OrderedSet) -> Run:
    """Run one session."""
    gc.collect()
    initiator, responder = (
        Side(Reconciliation(role, local.frozen(), SHARDS, 0, payloads_max=PAYLOADS_MAX))
        for role, local in ((Role.INITIATOR, ours), (Role.RESPONDER, theirs))
    )
    turns = messages = 0
    receiver, other = responder, initiator
    pending = initiator.receive(None)
    while pending:
        turns, messages = turns + 1, messages + len(pending)
        pending = [answer for data in pending for answer in receiver.receive(data)]
        receiver, other = other, receiver
    return (initiator, responder), turns, messages


def cpu_of(run: Run) -> tuple[float, float]:
    (initiator, responder), _, _ = run
    return initiator.seconds, responder.seconds


def _right(sets: Sets, side: Side, mine: OrderedSet, other: OrderedSet) -> bool:
    """Return whether a side found exactly what only one of the two sets has."""
    counts = sorted((len(side.need), len(side.have)))
    distinct = len({*side.need}) == len(side.need) and len({*side.have}) == len(side.have)
    return (
        distinct
        and counts == sorted((sets.need, sets.have))
        and all(one in other and one not in mine for one in side.need)
        and all(one in mine and one not in other for one in side.have)
    )


def _build_seconds(timestamps: Words, hashes: Words) -> float:
    columns = timestamps.copy(), hashes.copy()
    began = time.process_time()
    OrderedSet().fill(*columns)
    return time.process_time() - began


def _insert_us(ordered: OrderedSet, timestamps: list[int]) -> float:
    """Return the median of inserting one id and asking for the fingerprint of everything."""
    seconds = []
    for timestamp in timestamps:
        sync_id = SyncId(timestamp, os.urandom(HASH_BYTES))
        began = time.perf_counter()
        ordered.insert(sync_id)
        ordered.fingerprint(*EVERYTHING)
        seconds.append(time.perf_counter() - began)
    return 1e6 * sorted(seconds)[len(seconds) // 2]


def _decode_seconds(frame: bytes) -> float:
    began = time.process_time()
    with contextlib.suppress(DecodeError):
        decode_ranges(frame)
    return time.process_time() - began


def _judged(name: str, value: float, unit: str, goal: float | None, params: Params) -> Result:
    return Result(name, value, unit, goal, None if goal is None else value <= goal, params)


BENCHMARKS: Final = (reconcile, reconcile_check, reconcile_set, reconcile_hostile)


def main() -> None:
    """Print every figure as soon as it is known."""
    parser = argparse.ArgumentParser(prog="tests.bench.bench_reconcile", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="A.bin B.bin")
    parser.add_argument("--items", type=int, help="ids in both sets together")
    parser.add_argument("--diff", type=int, default=1_000, help="ids in one of them only")
    parser.add_argument("--shape", choices=("uniform", "recent"), default="uniform")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for result in _chosen(options, parser):
        print(result.to_json(), flush=True)


def _chosen(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Iterator[Result]:
    if options.files:
        if len(options.files) != 2:
            parser.error("name two files, A.bin and B.bin, or none")
        sets = read(*options.files)
        params: Params = {"a": options.files[0].name, "b": options.files[1].name}
        yield from measured(sets, params, (0, 0, ""))
    elif options.items is not None:
        case = (options.items, options.diff, options.shape)
        if not 0 <= options.diff <= options.items:
            parser.error("--diff must be between 0 and --items")
        params = {"items": case[0], "diff": case[1], "shape": case[2], "seed": options.seed}
        yield from measured(made(*case, options.seed), params, case)
    else:
        for benchmark in BENCHMARKS:
            yield from benchmark(Path())


if __name__ == "__main__":
    main()
