"""Throughput of the simulator in a second of processor time, every invariant on.

The floor is what the machines alone take of the same run, as if bringing them their inputs, the
network, commits, deadlines and the invariants cost nothing: two thirds of it, so that with 2 and 5
people they cannot do 25,000 frames a second however little the rest takes. They are the engine of
live nodes. A line costs its author 120 us to sign, seal, encode and check, shared by all who see
it, so the fewer see it the more of that falls on a frame: with 20 people the goal is met for
frames. A line shown takes two frames at 5 people and five at 20, for copies, acknowledgements,
requests and answers. Where the rest of the time goes is told on standard error.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

from sync.group.group import Group
from sync.group.values import Effect, Input
from sync.machine import MILLISECOND, Nanos
from sync.sim.network import Link
from sync.sim.scenario import Outcome, Scenario, run
from tests.bench.report import (
    Params,
    Result,
    Stopwatch,
    at_least,
    at_most,
    explained,
    floor,
    fresh_watch,
    progress,
)

PER_SECOND: Final = 25_000.0
"""Deliveries a second; of lines to the eye and of frames to a node, as both are called so."""

CROWD_S: Final = 15.0
"""For 1,000 people and 50 lines in all, from the first key to the last repair."""

GROUPS: Final = {2: 2000, 5: 1000, 20: 300}
"""People, and how many lines they write together."""

LINK: Final = Link(
    loss=0.1, delay=(5 * MILLISECOND, 45 * MILLISECOND), duplicate=0.05, reorder=0.05
)
"""Defaults of `chat-tui sim`."""


def simulator(place: Path) -> Iterator[Result]:
    """Groups with links on the usual bad network, then a crowd on one broadcast."""
    del place
    for peers, messages in GROUPS.items():
        progress(f"{peers} simulated people ...")
        scenario = Scenario(peers, messages, LINK, seed=1, every=500 * MILLISECOND)
        outcome, cpu_s = _measured(scenario)
        machines_s = _machines_seconds(scenario)
        params: Params = {"peers": peers, "messages": messages, "loss": LINK.loss}
        name, count, unit = "sim_lines_shown", outcome.deliveries, "lines/s CPU"
        shown = at_least(name, count / cpu_s, unit, PER_SECOND, params)
        yield explained(shown, partial(_measured, scenario))
        yield floor(name, count / machines_s, unit, params)
        name, count, unit = "sim_frames_received", outcome.frames_received, "frames/s CPU"
        yield at_least(name, count / cpu_s, unit, PER_SECOND, params)
        yield floor(name, count / machines_s, unit, params)
    progress("1000 simulated people ...")
    far = Link(loss=0.05, delay=(50 * MILLISECOND, 50 * MILLISECOND))
    outcome, cpu_s = _measured(Scenario(1000, 50, far, seed=1, every=500 * MILLISECOND))
    crowd: Params = {"peers": 1000, "messages": 50, "loss": far.loss, "frames": outcome.frames}
    yield at_most("sim_crowd", cpu_s, "s CPU", CROWD_S, crowd)


def _measured(scenario: Scenario) -> tuple[Outcome, float]:
    with fresh_watch() as watch:
        outcome = run(scenario)
    assert outcome.converged, outcome
    return outcome, watch.seconds


def _machines_seconds(scenario: Scenario) -> float:
    """Seconds that the machines alone take of a run: what they are given costs nothing to bring."""
    watch = Stopwatch()
    with patch.object(Group, "handle", _timed(Group.handle, watch)):
        run(scenario)
    return watch.seconds


def _timed(
    handle: Callable[[Group, Input, Nanos], Sequence[Effect]], watch: Stopwatch
) -> Callable[[Group, Input, Nanos], Sequence[Effect]]:
    def timed(group: Group, event: Input, now: Nanos) -> Sequence[Effect]:
        with watch:
            return handle(group, event, now)

    return timed
