"""Bytes and time that a newcomer needs to fetch all, from one, four and sixteen who have it.

Simulated, so that the figures are those of the network alone: each of them sends 2 Mbit/s at most,
a trip takes 1 to 10 ms. Seconds are those of the network from the first link until everything is on
the disk; bytes are those of all streams to the newcomer, until everybody has proved to be equal.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.manager.registry import LOG_HEIGHT, WHOLE_BY
from sync.sim.network import Link
from sync.sim.world import Terms, World
from sync.waku.session import WAKU_SYNC
from tests.bench.report import Params, Result, at_most, progress
from tests.support.storage.archives import archive

HISTORY: Final = 5_000
SLOW: Final = Link(uplink=250_000, delay=(MILLISECOND, 10 * MILLISECOND))
SEEDS: Final = range(3)
BYTES_MAX: Final = 1.1
SECONDS_MAX: Final = 0.6
WITHIN: Final = 5 * MINUTE


def newcomer(place: Path) -> Iterator[Result]:
    """One who has nothing, among one, four and sixteen who have 5,000 lines.

    By author logs one peer brings all, so the bound of time is that of Waku Sync alone.
    """
    del place
    for protocol in (WAKU_SYNC.name, LOG_HEIGHT.name):
        yield from _by(protocol)


def _by(protocol: str) -> Iterator[Result]:
    runs = {}
    for peers in (1, 4, 16):
        progress(f"a newcomer among {peers}, by {protocol} ...")
        tried = sorted(_fetched(protocol, peers, seed) for seed in SEEDS)
        runs[peers] = tried[len(SEEDS) // 2]
    for peers, (seconds, size) in runs.items():
        params: Params = {"protocol": protocol, "peers": peers, "messages": HISTORY}
        params = {**params, "uplink": SLOW.uplink or 0}
        yield Result("newcomer_bytes_a_line", size / HISTORY, "bytes", params=params)
        if peers == 1:
            yield Result("newcomer_bytes", size, "bytes", params=params)
            yield Result("newcomer_seconds", seconds, "s", params=params)
            continue
        yield at_most("newcomer_bytes", size, "bytes", BYTES_MAX * runs[1][1], params)
        if protocol == WAKU_SYNC.name:
            yield at_most("newcomer_seconds", seconds, "s", SECONDS_MAX * runs[1][0], params)
        else:
            yield Result("newcomer_seconds", seconds, "s", params=params)


def _fetched(protocol: str, peers: int, seed: int) -> tuple[float, int]:
    """Return seconds and bytes."""
    world = World(peers + 1, seed, SLOW, Terms(protocols=WHOLE_BY[protocol]))
    late = world.nodes[peers]
    world.crash(late.number)
    for number in range(peers):
        world.preload(number, archive("carol", HISTORY))
    world.run(20 * SECOND)
    received = world.streams.uplinks.received
    before = received[late.number]
    world.restart(late.number)
    while not late.joined:
        world.run(MILLISECOND)
    began = world.now
    while len(late.disk.rows) < HISTORY:
        assert world.now < began + WITHIN, "the history does not come"
        world.run(10 * MILLISECOND)
    took = world.now - began
    world.run(MINUTE)
    assert world.converged(), "the newcomer shows less than the others"
    return took / SECOND, received[late.number] - before


BENCHMARKS: Final = (newcomer,)
