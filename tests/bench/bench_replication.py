"""Cost of comparing logs by p2panda: `python -m tests.bench.bench_replication --json`.

`logs` of `authors` authors, of which `grown` have more entries on one of the sides, by set
reconciliation (`sets`) and by log heights (`logheight`); seeds 1 to 3. Both sides are complete:
messages are encoded and decoded, and what each side owes is checked against plain tables. Seconds
are processor time of one process; what a group keeps between sessions, the sorted heads and their
sums, is there before (`replication_freeze` is what it costs to make it anew). Bytes are those of
messages, without frames and Noise.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from sync.p2panda.bounds import KEY_BYTES, Place
from sync.p2panda.heads import Heads
from sync.p2panda.log_heights import compare
from sync.p2panda.messages import Have, Message, SyncRequest, decode, encode
from sync.p2panda.set_reconciliation import Owed, Reconciliation, Say
from sync.structures.log_spans import LogSpan
from tests.bench.report import (
    Params,
    Result,
    Stopwatch,
    at_most,
    explained,
    fresh_watch,
    progress,
)

SEEDS: Final = (1, 2, 3)
RUNS: Final = 3
HEIGHT_MAX: Final = 300
MORE_MAX: Final = 5
CHANNEL: Final = "chat_4bd7ba79d4cbf16da21c07a16e41fddc"


class Goals(NamedTuple):
    """The most a row may cost; None where it only explains others."""

    bytes: float | None = None
    trips: float | None = None
    cpu_ms: float | None = None


class Case(NamedTuple):
    """Logs of so many authors, so many of them grown, in one mode."""

    mode: str
    logs: int
    authors: int
    grown: int


CASES: Final = {
    Case("logheight", 18, 18, 9): Goals(2_100, 1),
    Case("logheight", 512, 512, 50): Goals(),
    Case("logheight", 1_000, 1_000, 50): Goals(),
    Case("logheight", 10_000, 10_000, 50): Goals(),
    Case("sets", 18, 18, 9): Goals(),
    Case("sets", 512, 512, 50): Goals(18_000, 3),
    Case("sets", 1_000, 1_000, 50): Goals(22_000, 3),
    Case("sets", 10_000, 10_000, 0): Goals(2_400, 1),
    Case("sets", 10_000, 10_000, 1): Goals(),
    Case("sets", 10_000, 10_000, 50): Goals(34_000, 4, 25),
    Case("sets", 10_000, 1_000, 50): Goals(46_000, 4, 25),
}


class Run(NamedTuple):
    """The cost of one session, and whether both sides found what they owe."""

    bytes: int
    messages: int
    trips: int
    seconds: float
    right: bool


def replication(place: Path) -> Iterator[Result]:
    """Yield the figures of all cases and seeds."""
    del place
    for case, goals in CASES.items():
        progress(f"replication: {case} ...")
        for seed in SEEDS:
            params: Params = {**case._asdict(), "seed": seed}
            yield from _measured(case, goals, params, _made(case, seed))
    watch = fresh_watch()
    ours, _ = _made(Case("sets", 10_000, 10_000, 0), 1)
    with watch:
        frozen(ours)
    yield Result("replication_freeze", 1e3 * watch.seconds, "ms", params={"logs": 10_000})


def _measured(
    case: Case, goals: Goals, params: Params, sides: tuple[list[Place], list[Place]]
) -> Iterator[Result]:
    ours, theirs = (frozen(side) for side in sides)
    run_case = by_sets if case.mode == "sets" else by_log_heights
    run = sorted([run_case(ours, theirs) for _ in range(RUNS)], key=lambda one: one.seconds)[
        RUNS // 2
    ]
    yield Result("replication_right", float(run.right), "1 if right", 1.0, run.right, params)
    yield Result("replication_messages", float(run.messages), "messages", params=params)
    figures = (
        ("replication_bytes", float(run.bytes), "bytes", goals.bytes),
        ("replication_round_trips", float(run.trips), "round trips", goals.trips),
        ("replication_cpu", 1e3 * run.seconds, "ms", goals.cpu_ms),
    )
    for name, value, unit, goal in figures:
        if goal is None:
            yield Result(name, value, unit, params=params)
        else:
            result = at_most(name, value, unit, goal, params)
            yield explained(result, lambda: run_case(ours, theirs)) if unit == "ms" else result


def _made(case: Case, seed: int) -> tuple[list[Place], list[Place]]:
    """Return the heads of two sides, as the module's docstring says."""
    rng = random.Random(seed)
    authors = [rng.randbytes(KEY_BYTES) for _ in range(case.authors)]
    ours = [
        Place(authors[number % case.authors], rng.getrandbits(64), rng.randint(1, HEIGHT_MAX))
        for number in range(case.logs)
    ]
    theirs = list(ours)
    for number in rng.sample(range(case.logs), case.grown):
        grown = rng.choice((ours, theirs))
        grown[number] = grown[number]._replace(
            height=grown[number].height + rng.randint(1, MORE_MAX)
        )
    return ours, theirs


def frozen(side: list[Place]) -> Heads:
    """Return heads whose sums are made."""
    heads = Heads(side)
    heads.fingerprint(Place(b""), Place(b""))
    heads.height(b"", 0)
    return heads


def by_sets(ours: Heads, theirs: Heads) -> Run:
    """Run one session in mode 1; the request travels with the first batch."""
    machines = Reconciliation(0, ours), Reconciliation(0, theirs)
    owed: tuple[list[LogSpan], list[LogSpan]] = ([], [])
    watch = fresh_watch()
    size, messages, turns = len(encode(SyncRequest(0, 1, (CHANNEL,)))), 1, 0
    with watch:
        pending = [encode(one.message) for one in machines[0].begin() if isinstance(one, Say)]
    while pending:
        size, messages, turns = size + sum(map(len, pending)), messages + len(pending), turns + 1
        side = turns % 2
        with watch:
            answer = []
            for data in pending:
                for effect in machines[side].receive(decode(data)):
                    if isinstance(effect, Say):
                        answer.append(encode(effect.message))
                    elif isinstance(effect, Owed):
                        owed[side].append(effect.span)
        pending = answer
    return _run(size, messages, turns, watch, owed, (ours, theirs))


def by_log_heights(ours: Heads, theirs: Heads) -> Run:
    """Run one session in mode 0: a Have right after the request, ours in answer."""
    owed: tuple[list[LogSpan], list[LogSpan]] = ([], [])
    watch = fresh_watch()
    request = encode(SyncRequest(0, 0, (CHANNEL,)))
    with watch:
        haves = [encode(Have(0, tuple(heads))) for heads in (ours, theirs)]
        for side, heads, data in zip(owed, (ours, theirs), reversed(haves), strict=True):
            side.extend(compare(heads, _heights(decode(data))).owed)
    return _run(len(request) + sum(map(len, haves)), 3, 2, watch, owed, (ours, theirs))


def _heights(message: Message) -> tuple[Place, ...]:
    assert isinstance(message, Have)
    return message.heights


def _run(
    size: int,
    messages: int,
    turns: int,
    watch: Stopwatch,
    owed: tuple[list[LogSpan], list[LogSpan]],
    heads: tuple[Heads, Heads],
) -> Run:
    expected = [_owed(*heads), _owed(*reversed(heads))]
    right = [sorted(spans) for spans in owed] == expected
    return Run(size, messages, (turns + 1) // 2, watch.seconds, right)


def _owed(ours: Heads, theirs: Heads) -> list[LogSpan]:
    """Return what one side owes, by looking at all logs."""
    there = {item[:2]: item.height for item in theirs}
    rows = [(key, log, there.get((key, log), 0), height) for key, log, height in ours]
    return [LogSpan(*row) for row in rows if row[3] > row[2]]


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    parser.parse_args()
    for result in replication(Path()):
        print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
