"""The demo as lines: for pipes, screen readers and tests. The same run as on the screen."""

from collections.abc import Callable, Sequence

from chat_tui.demo.run import Run
from chat_tui.demo.scenario import Scenario, Verdict
from chat_tui.demo.words import clock_tenths


def tell(
    scenarios: Sequence[Scenario], seed: int, echo: Callable[[str], object], *, formulas: bool
) -> int:
    """Play each scenario to its end; returns 0 if every check of all of them holds."""
    failed = 0
    for scenario in scenarios:
        run = Run(scenario, seed)
        tell_run(run, echo, formulas=formulas)
        failed += not all(verdict.holds for verdict in run.verdicts)
        echo("")
    return 1 if failed else 0


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


def in_words(verdict: Verdict) -> str:
    """Return what a check found as a line without signs."""
    return f"{'holds' if verdict.holds else 'FAILS'}: {verdict.claim} ({verdict.because})"
