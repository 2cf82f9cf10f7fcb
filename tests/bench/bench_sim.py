"""What the simulator costs: what it does in a second of processor time, every invariant on.

Where the time goes, with 5 people at 10 % loss: a quarter into what SDS does with the two frames a
line shown costs; an eighth each into ticks, writing, and committing and showing; a tenth each into
decoding and checking what is new, and into deadlines. The floor: signing, sealing, encoding and
checking one line takes 120 us, shared by all who see it, and each input of a node 10 us at least.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sync.machine import MILLISECOND
from sync.sim.network import Link
from sync.sim.scenario import Outcome, Scenario, run
from tests.bench.report import Params, Result, at_least, at_most, progress

PER_SECOND: Final = 25_000.0
"""Deliveries a second; of lines to the eye and of frames to a node, as both are called so."""

CROWD_S: Final = 15.0
"""For 1,000 people and 50 lines in all, from the first key to the last repair."""

GROUPS: Final = {2: 2000, 5: 1000, 20: 300}
"""People, and how many lines they write together."""

LINK: Final = Link(
    loss=0.1, delay=(5 * MILLISECOND, 45 * MILLISECOND), duplicate=0.05, reorder=0.05
)
"""What `chat-tui sim` simulates unless told otherwise."""


def simulator(place: Path) -> Iterator[Result]:
    """Groups with links on the usual bad network, then a crowd on one broadcast."""
    del place
    for peers, messages in GROUPS.items():
        progress(f"{peers} simulated people ...")
        every = 500 * MILLISECOND
        outcome, cpu_s = _measured(Scenario(peers, messages, LINK, seed=1, every=every))
        params: Params = {"peers": peers, "messages": messages, "loss": LINK.loss}
        lines, frames = outcome.deliveries / cpu_s, outcome.frames_received / cpu_s
        yield at_least("sim_lines_shown", lines, "lines/s CPU", PER_SECOND, params)
        yield at_least("sim_frames_received", frames, "frames/s CPU", PER_SECOND, params)
    progress("1000 simulated people ...")
    far = Link(loss=0.05, delay=(50 * MILLISECOND, 50 * MILLISECOND))
    outcome, cpu_s = _measured(Scenario(1000, 50, far, seed=1, every=500 * MILLISECOND))
    crowd: Params = {"peers": 1000, "messages": 50, "loss": far.loss, "frames": outcome.frames}
    yield at_most("sim_crowd", cpu_s, "s CPU", CROWD_S, crowd)


def _measured(scenario: Scenario) -> tuple[Outcome, float]:
    began = time.process_time()
    outcome = run(scenario)
    cpu_s = time.process_time() - began
    assert outcome.converged, outcome
    return outcome, cpu_s
