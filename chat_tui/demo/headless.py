"""The demo as lines: for pipes, screen readers and tests. The same run as on the screen."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from chat_tui.demo.phrases import clock_tenths
from chat_tui.demo.run import Run
from chat_tui.demo.scenario import SEED, Verdict
from chat_tui.demo.scenarios import scenario

if TYPE_CHECKING:  # a demo needs nothing of the network
    from chat_tui.demo.trace_player import TracePlayer


def tell_run(run: Run, echo: Callable[[str], object], *, formulas: bool) -> None:
    """Play a run to its end, and say every sentence when it is told."""
    echo(f'Scenario {run.scenario.number}, "{run.scenario.title}", seed {run.seed}')
    echo(run.scenario.about)
    told = 0
    going = True
    while going:
        going = run.step()
        for said in run.said[told:]:
            echo(f"{clock_tenths(said.at)}  {said.plain}")
            if formulas:
                echo(f"            {said.formula}")
        told = len(run.said)
    for verdict in run.verdicts:
        echo(in_words(verdict))


class LeftError(Exception):
    """Nobody waits any more for what is told."""


def told(number: int, is_left: Callable[[], bool]) -> str:
    """Return a scenario from its first sentence to what was checked at its end.

    Raises:
        LeftError: `is_left` said so in the middle of it.
    """
    lines: list[str] = []

    def echo(line: str) -> None:
        if is_left():
            raise LeftError
        lines.append(line)

    tell_run(Run(scenario(number), SEED), echo, formulas=False)
    return "\n".join(lines)


def tell_trace(player: "TracePlayer", echo: Callable[[str], object], *, formulas: bool) -> None:
    """Play a trace to its end, and say every step that tells something."""
    while player.forward():
        said = player.shot.said[-1]
        echo(f"{clock_tenths(said.at)}  {said.plain}")
        if formulas:
            echo(f"            {said.formula}")
    echo(in_words(player.verdict()))


def in_words(verdict: Verdict) -> str:
    """Return what a check found as a line without signs."""
    return f"{'holds' if verdict.holds else 'FAILS'}: {verdict.claim} ({verdict.because})"
