"""`limits sketch`: what differs among a million ids by a sketch, beside Waku Sync in the same run.

Both sides are complete but for the entries: messages are encoded and decoded, symbols are those of
the channel's prefix. Bytes and round trips are those before the first body. Seconds are processor
time of one process. A figure whose goal is no multiple of
Waku Sync's stands beside the goal itself.
"""

import gc
import itertools
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sync.machine import ChannelId, PeerId
from sync.sessions.handshake import EntityState, LogState, SyncHandshake
from sync.sessions.protocol import Effect, Finished, GoOn, Load, Opening, Send
from sync.sketch.key import derived
from sync.sketch.messages import Done, decode
from sync.sketch.prefix import BATCH, IDS_MANY, Prefix
from sync.sketch.session import SketchExchange
from sync.structures.differences import Role
from sync.structures.ordered_set import EVERYTHING, OrderedSet, SyncId
from sync.structures.set_digest import Digest, Held
from tests.bench.bench_reconcile import Sets, cpu_of, made, run_session
from tests.bench.limits.figures import Figure, Limit
from tests.bench.report import Params

IDS: Final = 1_000_000
KEY: Final = derived(b"bench")
MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Case:
    """So many differences, where they are, and the goals.

    `bytes_goal` and `cpu_goal` are multiples of Waku Sync's; `bytes_most` is a number of bytes.
    """

    differ: int
    shape: str
    trips: int
    bytes_most: int = 0
    bytes_goal: float = 0.0
    cpu_goal: float | None = None


CASES: Final = (
    Case(1, "uniform", 1, bytes_most=3_200),
    Case(10, "uniform", 1, bytes_most=3_200),
    Case(100, "uniform", 2, bytes_most=14_000),
    Case(1_000, "uniform", 2, bytes_goal=0.12, cpu_goal=0.2),
    Case(1_000, "recent", 2, bytes_goal=0.4),
    Case(10_000, "uniform", 2, bytes_goal=0.14, cpu_goal=0.1),
    Case(10_000, "recent", 2, bytes_goal=1.05),
)
SEEDS: Final = itertools.count(1)
"""Of the sets, another one in each run: how good a guess is, and so how many round trips there are,
depends on the ids."""

INSERT_US: Final = 4.0
MEMORY: Final = 800_000.0
BUILD_MS: Final = 1_300.0
SLICE_MS: Final = 10.0
INSERTED: Final = 40 * BATCH


@dataclass(slots=True)
class Side:
    """One side of a session: its exchange, what that cost, and what it owed."""

    exchange: SketchExchange
    seconds: float = 0.0
    longest: float = 0.0
    sent: int = 0
    owed: int = 0
    finished: bool = False

    def take(self, payload: bytes | None) -> list[bytes]:
        """Take a payload, or begin; return what is answered."""
        exchange = self.exchange
        effects = self._timed(
            lambda: exchange.open(0) if payload is None else exchange.payload(payload, 0)
        )
        answer: list[bytes] = []
        while effects:
            more: list[Effect] = []
            for one in effects:
                match one:
                    case Send(sent):
                        answer.append(sent)
                    case GoOn():
                        more += self._timed(lambda: exchange.go_on(0))
                    case Load(ids=ids):
                        self.owed += len(ids)
                        more += exchange.loaded((), 0, more=False)
                    case Finished():
                        self.finished = one.checked
                    case _:
                        pass
            effects = more
        for sent in answer:
            if not isinstance(decode(sent), Done):
                self.sent += len(sent)
        return answer

    def _timed(self, step: Callable[[], Sequence[Effect]]) -> list[Effect]:
        began = time.process_time()
        effects = step()
        took = time.process_time() - began
        self.seconds += took
        self.longest = max(self.longest, took)
        return list(effects)


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of one run."""
    del place
    count = int(words[0]) if words else IDS
    seed = next(SEEDS)
    for case in CASES:
        yield from _case(case, count, seed)
    yield from _prefix(count)


def _case(case: Case, count: int, seed: int) -> Iterator[Figure]:
    """Yield bytes, round trips and time of one case, beside Waku Sync."""
    sets = made(count, case.differ, case.shape, seed)
    ours, theirs = _filled(sets)
    sides, turns = _compared(ours, theirs)
    run = run_session(ours, theirs)
    (first, second), waku_turns, _ = run
    waku = first.sent + second.sent
    sent = sum(one.sent for one in sides)
    assert all(one.finished for one in sides), "both know all"
    assert sum(one.owed for one in sides) == case.differ
    params: Params = {
        "ids": count,
        "differ": case.differ,
        "shape": case.shape,
        "waku_bytes": waku,
        "waku_trips": (waku_turns + 1) // 2,
    }
    name = f"sketch_{case.differ}_{case.shape}"
    if case.bytes_most:
        yield Figure(f"{name}_bytes", sent, case.bytes_most, "bytes", 1.0, params=params)
    else:
        yield Figure(f"{name}_bytes", sent, waku, "bytes", case.bytes_goal, params=params)
    yield Figure(f"{name}_trips", turns, case.trips, "round trips", 1.0, params=params)
    took, floor = sum(one.seconds for one in sides), sum(cpu_of(run))
    params = params | {"longest_step_ms": round(MS * max(one.longest for one in sides), 2)}
    yield Figure(f"{name}_cpu", MS * took, MS * floor, "ms", case.cpu_goal, params=params)


def _filled(sets: Sets) -> tuple[OrderedSet, OrderedSet]:
    both = OrderedSet(), OrderedSet()
    for items, columns in zip(both, (sets.ours, sets.theirs), strict=True):
        items.fill(*columns)
    return both


def _compared(ours: OrderedSet, theirs: OrderedSet) -> tuple[tuple[Side, Side], int]:
    """Run one session; return its sides, and the round trips until all is known."""
    gc.collect()
    state = EntityState(bytes(32), 0, 0)
    sides = []
    for role, items in ((Role.INITIATOR, ours), (Role.RESPONDER, theirs)):
        prefix = _made(items)[0]
        frozen = items.frozen()
        held = Held(frozen, Digest())
        peer, channel = PeerId("00" * 32), ChannelId("c0" * 16)
        opening = Opening(role, channel, peer, frozen, held, EVERYTHING, 0, lambda: IDS)
        opening = replace(opening, log=prefix.frozen(frozen, 0, 0))
        handshake = SyncHandshake(bytes(32), LogState(bytes(32), len(frozen)), state, 0)
        sides.append(Side(SketchExchange(opening, handshake, handshake)))
    initiator, responder = sides
    takes, other, ways = responder, initiator, 0
    waiting = initiator.take(None)
    while waiting:  # all of them are on their way together
        ways += any(not isinstance(decode(one), Done) for one in waiting)
        waiting = [answer for one in waiting for answer in takes.take(one)]
        takes, other = other, takes
    return (initiator, responder), (ways + 1) // 2


def _made(items: OrderedSet) -> tuple[Prefix, float, float]:
    """Return the prefix of a set, its processor seconds, and those of the longest slice."""
    prefix = Prefix(KEY, items)
    prefix.begin_anew(0)
    total = longest = 0.0
    while (due := prefix.deadline()) is not None:
        began = time.process_time()
        prefix.tick(due)
        took = time.process_time() - began
        total, longest = total + took, max(longest, took)
    return prefix, total, longest


def _prefix(count: int) -> Iterator[Figure]:
    """Yield what it takes to make and keep a prefix."""
    sets = made(count + INSERTED, 0, "uniform", 1)
    items = OrderedSet()
    items.fill(*(column[:count] for column in sets.ours))
    prefix, total, longest = _made(items)
    params: Params = {"ids": count}
    yield Figure("sketch_build", MS * total, BUILD_MS, "ms", 1.0, params=params)
    yield Figure("sketch_slice", MS * longest, SLICE_MS, "ms", 1.0, params=params)
    timestamps, hashes = (column[count:] for column in sets.ours)
    more = [SyncId(int(at), bytes(one)) for at, one in zip(timestamps, hashes, strict=True)]
    began = time.process_time()
    for one in more:
        prefix.add(one, 0)
    took = (time.process_time() - began) / len(more)
    yield Figure("sketch_insert", 1e6 * took, INSERT_US, "us", 1.0, params=params)
    yield Figure("sketch_memory", float(_memory()), MEMORY, "bytes", 1.0, params=params)


def _memory() -> int:
    """Return the bytes of a prefix of the longest kind, with what waits to be put in."""
    sets = made(IDS_MANY + 1 + BATCH, 0, "uniform", 1)
    items = OrderedSet()
    items.fill(*(column[: IDS_MANY + 1] for column in sets.ours))
    gc.collect()
    tracemalloc.start()
    prefix = _made(items)[0]
    timestamps, hashes = (column[IDS_MANY + 1 :] for column in sets.ours)
    for at, one in zip(timestamps[: BATCH - 1], hashes[: BATCH - 1], strict=True):
        prefix.add(SyncId(int(at), bytes(one)), 0)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert prefix.memory
    return taken


LIMIT: Final = Limit("sketch", measure)
