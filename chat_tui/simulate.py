"""`chat-tui sim`: real engines on a virtual clock and a bad network; a line a run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.progress import track

from sync.machine import SECOND
from sync.sds.message import PROFILES
from sync.sim.network import Link
from sync.sim.scenario import Outcome, Partition, Scenario, run

PARTITION_AT = 2 * SECOND
"""Late enough that something is written before the cut, early enough that most comes after."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for; `loss` in percent, `partition` in seconds."""

    peers: int
    messages: int
    loss: float
    partition: float
    seed: int
    runs: int
    profile: str


def scenarios(request: Request) -> list[Scenario]:
    """Return one scenario a run, with seeds that follow each other."""
    link = Link(loss=request.loss / 100, duplicate=0.05, reorder=0.05)
    lasts = int(request.partition * SECOND)
    troubles = (Partition(PARTITION_AT, lasts, request.peers // 2),) if lasts else ()
    return [
        Scenario(
            peers=request.peers,
            messages=request.messages,
            link=link,
            seed=seed,
            troubles=troubles,
            parameters=PROFILES[request.profile],
        )
        for seed in range(request.seed, request.seed + request.runs)
    ]


def simulate(request: Request, echo: Callable[[str], object]) -> int:
    """Run everything asked for; returns 0 if every run converged and every invariant held."""
    failed = 0
    asked: Iterable[Scenario] = scenarios(request)
    if request.runs > 1:
        console = Console(stderr=True)
        asked = track(asked, "Simulating", console=console, transient=True)
    for scenario in asked:
        try:
            outcome = run(scenario)
        except AssertionError as error:
            failed += 1
            echo(f"seed {scenario.seed}: broken: {error}")
            continue
        failed += not outcome.converged
        echo(f"seed {scenario.seed}: {sentence(outcome)}")
    if failed:
        echo(f"{failed} of {request.runs} runs failed; the same --seed replays each exactly.")
    return 1 if failed else 0


def sentence(outcome: Outcome) -> str:
    """Return what came of one run."""
    if not outcome.converged:
        return f"not converged; {outcome.written} lines written, {outcome.deliveries} shown"
    return (
        f"same log everywhere {outcome.seconds_to_converge:.1f} s after the last line; "
        f"{outcome.written} lines, shown {outcome.deliveries} times, {outcome.gaps} after a gap, "
        f"all received after {outcome.seconds_to_settle:.1f} s; "
        f"{outcome.frames} frames, {outcome.frame_bytes / 1000:.0f} kB, "
        f"{outcome.sessions} session ends, {outcome.session_bytes / 1000:.0f} kB"
    )
