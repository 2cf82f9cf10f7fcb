"""Author-log sessions and relays through loss, partitions, crashes and restarts: one log, proved.

Nodes speak Waku Sync and p2panda replication; what they have not compared for a day comes by author
logs, on every link. Where not all reach each other, live sessions pass on what is new.
"""

from typing import Final

import pytest
from msgspec.structs import replace

from sync.machine import MILLISECOND, SECOND
from sync.manager.registry import WITH_P2PANDA
from sync.p2panda.session import Mode, Replication
from sync.sessions.protocol import Opening
from sync.sim.scenario import Crash, Partition, Scenario, run
from tests.support.sync.scenarios import check, troubled

WHOLE_GRID: Final = range(50)
SHAPES: Final[dict[str, tuple[int, ...]]] = {
    "mesh of four": (),
    "line of three": (1, 1, 1),
    "two rooms": (3, 2),
}
LOSSES: Final = (0.05, 0.1, 0.3)


def apart(shape: str, seed: int) -> Scenario:
    """A minute with lines from everybody, two partitions, two power cuts and a full disk."""
    rooms = SHAPES[shape]
    peers = sum(rooms) or 4
    plain = troubled(peers, LOSSES[seed % len(LOSSES)], seed)
    first = seed % peers
    more = (
        Partition(45 * SECOND, 10 * SECOND, side=1, first=first),
        Crash(50 * SECOND + 500 * MILLISECOND, 4 * SECOND, first, in_commit=bool(seed % 2)),
    )
    return replace(plain, troubles=plain.troubles + more, protocols=WITH_P2PANDA, rooms=rooms)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Mode]:
    """Return the modes of the log sessions that begin, one for each end."""
    modes: list[Mode] = []
    exchange = Replication.exchange

    def noted(self: Replication, opening: Opening) -> object:
        modes.append(self.mode)
        return exchange(self, opening)

    monkeypatch.setattr(Replication, "exchange", noted)
    return modes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", SHAPES)
def test_sessions_over_author_logs_bring_all_to_one_log(
    shape: str, seed: int, begun: list[Mode]
) -> None:
    scenario = apart(shape, seed)

    check(scenario, run(scenario))

    assert len(begun) >= 2 * (scenario.peers - 1)


@pytest.mark.slow
@pytest.mark.grid
@pytest.mark.parametrize("shape", SHAPES)
def test_the_whole_grid_of_author_log_sessions_comes_to_one_log(
    shape: str, begun: list[Mode]
) -> None:
    slowest = 0.0
    for seed in WHOLE_GRID:
        scenario = apart(shape, seed)
        outcome = run(scenario)
        check(scenario, outcome)
        slowest = max(slowest, outcome.seconds_to_converge)

    print(f"\n{shape}: {len(WHOLE_GRID)} runs, {len(begun)} ends of log sessions, {slowest:.1f} s")
