"""Cost of agreeing on state and messages: `python -m tests.bench.bench_state_sync --json`.

Two states that differ by so many pins are brought to agreement by every kind of session, over a
perfect stream. `bytes` are those before the entries themselves; a round trip counts as 20 kB, as
in the rule that picks a kind (`sync.sessions.selection`). `state_chosen` is the cost of the one
that the rule picks beside the cheapest of the row (`peer`). Processor time is of both ends,
signatures left out: an entry costs that beside. Rows about messages are those of
`tests.bench.comparing.log_rows`.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from msgspec import structs

from sync.calimero.handshake import encode_handshake
from sync.calimero.state.comparing import spread_of
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.exchange import Comparison
from sync.calimero.state.exchange import Result as Ended
from sync.calimero.state.registers import Registers
from sync.sessions.handshake import EntityState, LogState, SyncHandshake, SyncKind, flags
from sync.sessions.protocol import ROUND_TRIP
from sync.sessions.selection import select
from sync.sessions.values import Plane
from tests.bench.comparing.log_rows import log_rows
from tests.bench.report import Params, Result, Stopwatch, at_most, fresh_watch, progress
from tests.support.sync.state_pairs import StatePair
from tests.support.sync.states import pin_of

ROWS: Final = ((200, (1, 20, 200)), (2_000, (1, 20, 100, 1_000)), (20_000, (1, 50, 10_000)))
"""Entries, and how many of them differ."""

PINS: Final = 100
"""Pins of each author."""

CHOSEN_MAX: Final = 1.2
CHOSEN_OF_MANY_MAX: Final = 1.3
MANY: Final = 20_000
ENTRY_IN_TREE_MAX_US: Final = 60.0
HANDSHAKE_MAX_B: Final = 1_000
ONE_OF_MANY_MAX_B: Final = 600
ONE_OF_MANY_TRIPS_MAX: Final = 3
PUTS: Final = 500

KINDS: Final = {SyncKind.HASH: Comparison.HASH, SyncKind.LEVEL: Comparison.LEVEL}


def state_sync(place: Path) -> Iterator[Result]:
    """Yield the figures of all rows, of the tree, and of a handshake."""
    del place
    for entries, changes in ROWS:
        progress(f"state: {entries} entries ...")
        pool = _pool(entries)
        for changed in changes:
            yield from _row(pool, changed)
    yield from _tree(_pool(MANY))
    yield _handshake(_pool(MANY))
    yield from log_rows()


def _pool(entries: int) -> list[StateEntry]:
    numbers = range(entries)
    return [pin_of(1 + one // PINS, one % PINS, 5 + one % PINS) for one in numbers]


def _row(pool: list[StateEntry], changed: int) -> Iterator[Result]:
    rng = random.Random(changed)
    numbers = rng.sample(range(len(pool)), changed)
    newer = [pin_of(1 + one // PINS, one % PINS, 1_000) for one in numbers]
    costs: dict[SyncKind, float] = {}
    for kind, comparison in KINDS.items():
        left, right = Registers(pool), Registers([*pool, *newer])
        assert left.tree.root != right.tree.root  # worked out before the session
        pair = StatePair(left, right)
        watch = fresh_watch()
        with watch:
            ended = pair.run(comparison)
        assert ended is Ended.CONVERGED
        params: Params = {"entries": len(pool), "changed": changed, "kind": kind.name.lower()}
        one_of_many = (len(pool), changed, kind) == (2_000, 1, SyncKind.HASH)
        goals = (ONE_OF_MANY_MAX_B, ONE_OF_MANY_TRIPS_MAX) if one_of_many else (None, None)
        yield _figure("state_bytes", float(pair.cost.ids), "B", goals[0], params)
        yield _figure("state_round_trips", float(pair.cost.round_trips), "", goals[1], params)
        yield Result("state_cpu", 1e3 * watch.seconds, "ms", params=params)
        costs[kind] = pair.cost.ids + ROUND_TRIP * pair.cost.round_trips
    chosen = select(_told(Registers(pool)), _told(Registers([*pool, *newer])), Plane.STATE).kind
    assert chosen is not None
    most = CHOSEN_OF_MANY_MAX if len(pool) >= MANY else CHOSEN_MAX
    cheapest = min(costs.values())
    row: Params = {"entries": len(pool), "changed": changed, "kind": chosen.name.lower()}
    result = at_most("state_chosen", costs[chosen], "B", most * cheapest, row)
    yield replace(result, peer=cheapest, ratio=costs[chosen] / cheapest)


def _figure(name: str, value: float, unit: str, goal: float | None, params: Params) -> Result:
    if goal is None:
        return Result(name, value, unit, params=params)
    return at_most(name, value, unit, float(goal), params)


def _tree(pool: list[StateEntry]) -> Iterator[Result]:
    """Yield the time of an entry that comes into a large tree, with the root after it."""
    registers = Registers(pool)
    assert registers.tree.root
    numbers = random.Random(1).sample(range(len(pool)), PUTS)
    newer = [pin_of(1 + one // PINS, one % PINS, 2_000) for one in numbers]
    for entry in newer:
        assert entry.key  # these are worked out when an entry is opened
        assert entry.leaf
    watch = Stopwatch()
    with watch:
        for entry in newer:
            registers.put(entry)
            assert registers.tree.root
    took = 1e6 * watch.seconds / PUTS
    yield at_most("state_entry", took, "us", ENTRY_IN_TREE_MAX_US, {"entries": len(pool)})


def _handshake(pool: list[StateEntry]) -> Result:
    """Return the size of the largest handshake: all that equal roots cost, each way."""
    told = _told(Registers(pool))
    heads = tuple(bytes([number]) * 32 for number in range(16))
    whole = structs.replace(told, log=structs.replace(told.log, heads=heads))
    return at_most("state_handshake", float(len(encode_handshake(whole))), "B", HANDSHAKE_MAX_B, {})


def _told(registers: Registers) -> SyncHandshake:
    tree = registers.tree
    state = EntityState(tree.root, len(tree), tree.depth, spread_of(tree))
    return SyncHandshake(bytes(32), LogState(bytes(32), 0), state, flags(*SyncKind))


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    parser.parse_args()
    for result in state_sync(Path()):
        print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
