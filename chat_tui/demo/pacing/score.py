"""The score of a scenario: what will happen when, found out by playing it once, beside the screen.

A run is a function of scenario, seed and acts, so what was found is what will be shown, until
somebody meddles; then it is found out again.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from chat_tui.demo.acts import Lose, LosePart, Loss, Write
from chat_tui.demo.cast import Weight
from chat_tui.demo.pacing.bending import Bent, Timetable
from chat_tui.demo.pacing.reading import time_to_read
from chat_tui.demo.pacing.traffic import QUICK, ends_of, kind_of
from chat_tui.demo.run import Intervention, Run
from chat_tui.demo.scenario import Scenario
from sync.machine import SECOND, Nanos

BUSY_AFTER: Final[Nanos] = 10 * SECOND
"""Time after the last line of a crowd in which nearly all is asked for and answered."""

BUSY_FOR, QUIET_FOR = 32 * SECOND, 8 * SECOND
"""Viewer's time for a crowd until then, and after; to play it before it is shown takes too long."""

SETTINGS: Final = (Lose, LosePart, Loss)
"""Acts that do nothing yet which anybody could see."""


class Score(Struct, frozen=True):
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
    return score_from(run, acts)


def score_from(run: Run, acts: Sequence[Intervention] = ()) -> Score:
    """Return what happened in a run of few that is over, with these acts."""
    flights = run.traffic.flights
    timetable = Timetable(
        flights=[(one.sent_at, one.at) for one in flights if kind_of(one) not in QUICK],
        quick=[(one.sent_at, one.at) for one in flights if kind_of(one) in QUICK],
        waits=[(one.began, ends_of(one)) for one in run.traffic.waits],
        marks=[said.at for said in run.said],
        turns=[(one.at, time_to_read(one)) for one in run.said if one.weight is Weight.TURN],
    )
    bent = Bent(run.began, run.now, timetable)
    lost = [(one.at, True) for one in flights if one.lost]
    return Score(run.began, run.now, bent, (*_acts(run.scenario, run.began, acts), *lost))


def _sketch(scenario: Scenario, seed: int, acts: Sequence[Intervention]) -> Score:
    began = Run(scenario, seed).began
    ends = began + scenario.lasts
    written = max(after for after, act in scenario.acts if isinstance(act, Write))
    quiet = min(began + written + BUSY_AFTER, ends - 1)
    bent = Bent.through((began, 0), (quiet, BUSY_FOR), (ends, BUSY_FOR + QUIET_FOR))
    return Score(began, ends, bent, _acts(scenario, began, acts))


def _acts(
    scenario: Scenario, began: Nanos, acts: Sequence[Intervention]
) -> tuple[tuple[Nanos, bool], ...]:
    planned = [began + after for after, act in scenario.acts if not isinstance(act, SETTINGS)]
    return tuple([(at, False) for at in (*planned, *(one.moment.now for one in acts))])
