"""The score of a scenario: what will happen when, found out by playing it once, beside the screen.

A run is a function of scenario, seed and acts, so what was found is what will be shown, until
somebody meddles; then it is found out again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chat_tui.demo.acts import Lose, LosePart, Loss
from chat_tui.demo.pacing.bending import Bent
from chat_tui.demo.run import Intervention, Run
from chat_tui.demo.scenario import Scenario
from sync.machine import SECOND, Nanos

SKETCHED: Final[Nanos] = 45 * SECOND
"""Viewer's time for a crowd, which takes too long to be played before it is shown."""

SETTINGS: Final = (Lose, LosePart, Loss)
"""Acts that do nothing yet which anybody could see."""


@dataclass(frozen=True, slots=True)
class Score:
    """Length of a run, its map of time, and the events on its scrubber: when, and whether lost."""

    began: Nanos
    ends: Nanos
    bent: Bent
    events: tuple[tuple[Nanos, bool], ...]


def score_of(scenario: Scenario, seed: int, acts: Sequence[Intervention] = ()) -> Score:
    """Return what will happen. Of a crowd, only what its script says."""
    if scenario.people:
        return _sketch(scenario, seed, acts)
    run = Run(scenario, seed, acts)
    run.finish()
    flights = run.traffic.flights
    bent = Bent(
        run.began,
        run.now,
        [(one.sent_at, one.at) for one in flights],
        [said.at for said in run.said],
    )
    lost = [(one.at, True) for one in flights if one.lost]
    return Score(run.began, run.now, bent, (*_acts(scenario, run.began, acts), *lost))


def _sketch(scenario: Scenario, seed: int, acts: Sequence[Intervention]) -> Score:
    began = Run(scenario, seed).began
    ends = began + scenario.lasts
    # As if one frame were on its way all the time: its time is the whole.
    bent = Bent.even(began, ends, SKETCHED)
    return Score(began, ends, bent, _acts(scenario, began, acts))


def _acts(
    scenario: Scenario, began: Nanos, acts: Sequence[Intervention]
) -> tuple[tuple[Nanos, bool], ...]:
    planned = [began + after for after, act in scenario.acts if not isinstance(act, SETTINGS)]
    return tuple([(at, False) for at in (*planned, *(one.moment.now for one in acts))])
