"""`chat-tui sim`: real engines on a virtual clock and a bad network, and what came of each run."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import click
from msgspec import Struct
from msgspec.structs import asdict
from rich.console import Console
from rich.progress import Progress, TaskID

from chat_tui.cli.export import simulated_export
from chat_tui.cli.sim_outcome import as_json, as_text
from chat_tui.cli.simulation_options import MESH_PEERS_MAX
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.manager.registry import BY_RULE, WHOLE_BY, WITH_P2PANDA
from sync.sds.parameters import PROFILES
from sync.sessions.protocol import Protocols
from sync.sim.network import Link
from sync.sim.scenario import Crash, Outcome, Partition, Recorded, Scenario, Trouble, run
from sync.sim.shapes import line

CRASH_LASTS: Final[Nanos] = 3 * SECOND
"""From a crash to the start after it."""

PEERS: Final = 5
"""People of a run where no option says how many."""

PATIENCE_S: Final = 2.0
"""Seconds of computing before a bar shows how far it is."""


class Request(Struct, frozen=True):
    """Options of the command line; each field is the option of its name, in its unit.

    `loss`, `duplicate` and `reorder` are percent of the frames to each receiver; `delay`, `jitter`
    and `every` milliseconds; `partition` and `duration` seconds.
    """

    peers: int
    messages: int
    loss: float
    delay: float
    jitter: float
    duplicate: float
    reorder: float
    partition: float
    crash: int
    hostile: int
    duration: float
    every: float
    seed: int
    seeds: int
    profile: str
    reconcile: bool
    mesh: bool | None
    export: Path | None = None
    """Where histories and protocol logs are written; of several seeds, each below it."""
    layout: str = "one"
    line: bool = False
    rooms: tuple[int, ...] = ()
    protocol: str | None = None
    """By which whole histories are compared; None for whatever suits."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Return what the options say: rooms say how many people there are, and reconcile.

        Raises:
            click.UsageError: options that contradict each other, or one without another.
        """
        if options["layout"] is not None and options["export"] is None:
            raise click.UsageError("--layout says how to export: name --export DIR as well.")
        rooms = options["rooms"]
        peers = sum(rooms) or PEERS if options["peers"] is None else options["peers"]
        if options["line"]:
            if rooms:
                raise click.UsageError("A line is rooms of one: name --line or --rooms, not both.")
            if peers > MESH_PEERS_MAX:
                raise click.UsageError(f"A line has {MESH_PEERS_MAX} people at most.")
            rooms = line(peers)
        elif rooms and peers != sum(rooms):
            sizes = ",".join(map(str, rooms))
            raise click.UsageError(f"--rooms {sizes} are {sum(rooms)} people: leave --peers out.")
        if rooms and (options["hostile"] or options["mesh"] is False):
            other = "--hostile" if options["hostile"] else "--broadcast"
            raise click.UsageError(f"{other} needs all to reach all: no --line, and no --rooms.")
        if peers - options["hostile"] < 2:  # noqa: PLR2004  # a conversation takes two
            raise click.UsageError("At least two participants must not be hostile.")
        if options["hostile"] and options["mesh"] is False:
            raise click.UsageError("--hostile needs links: leave out --broadcast.")
        compares = bool(rooms) or options["protocol"] is not None
        if compares and options["reconcile"] is False:
            raise click.UsageError("--line, --rooms and --protocol reconcile: no --no-reconcile.")
        settled = {
            "peers": peers,
            "rooms": rooms,
            "reconcile": compares or bool(options["reconcile"]),
            "layout": options["layout"] or "one",
        }
        return cls(**{**options, **settled})

    def scenario(self, seed: int) -> Scenario:
        """Return the run of `seed`."""
        link = Link(
            loss=self.loss / 100,
            delay=(
                max(0, int((self.delay - self.jitter) * MILLISECOND)),
                int((self.delay + self.jitter) * MILLISECOND),
            ),
            duplicate=self.duplicate / 100,
            reorder=self.reorder / 100,
        )
        return Scenario(
            peers=self.peers,
            messages=self.messages,
            link=link,
            seed=seed,
            every=int(self.every * MILLISECOND),
            troubles=self._troubles(seed),
            within=int(self.duration * SECOND),
            parameters=PROFILES[self.profile],
            reconcile=self.reconcile,
            mesh=self.mesh,
            hostile=self.hostile,
            rooms=self.rooms,
            protocols=_spoken(self.protocol),
        )

    def command(self, seed: int) -> str:
        """Return the command that runs `seed` alone, exactly as it ran here."""
        words = ["chat-tui sim"]
        for name, value in asdict(self).items():
            if name == "reconcile":
                words.append("--reconcile" if value else "--no-reconcile")
            elif name == "mesh":
                words += [] if value is None else ["--mesh" if value else "--broadcast"]
            elif name == "protocol":
                words += [] if value is None else [f"--protocol {value}"]
            elif name in {"line", "rooms"}:
                words += self._shape() if name == "rooms" else []
            elif name not in {"seed", "seeds", "export", "layout"}:
                words.append(f"--{name} {value}")
        return " ".join([*words, f"--seed {seed}", "--seeds 1"])

    def _shape(self) -> list[str]:
        if self.line:
            return ["--line"]
        return [f"--rooms {','.join(map(str, self.rooms))}"] if self.rooms else []

    @contextmanager
    def recorded(self, seed: int) -> Iterator[Recorded | None]:
        """Yield what the run of `seed` leaves behind, if anything.

        Raises:
            ExportError: pyarrow is missing, or the directory is not empty or cannot be written.
        """
        if self.export is None:
            yield None
            return
        where = self.export if self.seeds == 1 else self.export / f"seed-{seed}"
        with simulated_export(where, seed, self.layout) as recorded:
            yield recorded

    def _troubles(self, seed: int) -> tuple[Trouble, ...]:
        """A cut through the middle, and power cuts of drawn peers, while lines are written."""
        rng = random.Random(seed)  # noqa: S311  # a seeded run, not a secret
        writing = int(self.messages * self.every * MILLISECOND)
        troubles: list[Trouble] = []
        if self.partition:
            lasts = int(self.partition * SECOND)
            troubles.append(Partition(writing // 3, lasts, self.peers // 2))
        for number in range(self.crash):
            at = int(rng.random() * writing)
            node = rng.randrange(self.peers)
            troubles.append(Crash(at, CRASH_LASTS, node, in_commit=number % 2 == 1))
        return tuple(troubles)


def _spoken(protocol: str | None) -> Protocols:
    """Return what everybody speaks, by the name of a protocol, or of how one is picked."""
    if protocol is None:
        return WITH_P2PANDA
    return WHOLE_BY.get(protocol) or BY_RULE[protocol]


def simulate(request: Request, echo: Callable[[str], object], *, json_lines: bool) -> int:
    """Run everything asked for; returns 0 if every run converged and every invariant held."""
    failed: list[int] = []
    done = 0
    with _Bar(request.seeds) as bar:
        try:
            for seed in range(request.seed, request.seed + request.seeds):
                result = _result(request, seed, bar.show)
                done += 1
                if not result.good:
                    failed.append(seed)
                with bar.hidden():
                    echo(result.line if json_lines else result.text)
        finally:  # after an interruption too
            with bar.hidden():
                if done and not json_lines:
                    echo(_summary(request, done, failed))
    return 1 if failed else 0


class _Result(Struct, frozen=True):
    """Result of one run, as text and as JSON."""

    good: bool
    text: str
    line: str


def _result(request: Request, seed: int, tell: Callable[[float], None]) -> _Result:
    began = time.process_time()
    outcome: Outcome | None = None
    broken = ""
    with request.recorded(seed) as recorded:
        try:
            outcome = run(request.scenario(seed), tell, recorded)
        except AssertionError as error:
            broken = str(error.__cause__ or error)
    cpu_s = time.process_time() - began
    good = outcome is not None and outcome.converged
    text = as_text(seed, outcome, broken, cpu_s)
    if not good:
        text += f"\n  replay     {request.command(seed)}"
    replay = {"replay": request.command(seed)}
    return _Result(good, text, json.dumps(as_json(seed, outcome, broken, cpu_s) | replay))


def _summary(request: Request, done: int, failed: list[int]) -> str:
    stopped = "" if done == request.seeds else f"; stopped before the other {request.seeds - done}"
    if failed:
        seeds = ", ".join(str(seed) for seed in failed)
        return f"{len(failed)} of {done} runs failed: seed {seeds}{stopped}"
    return f"{done} of {done} runs converged, and every invariant held{stopped}"


class _Bar:
    """Progress bar of the runs, on stderr, once they have taken a while."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._done = 0.0
        self._console = Console(stderr=True)
        self._progress = Progress(
            console=self._console,
            transient=True,
            redirect_stdout=False,  # results go to stdout, which may be a file
        )
        self._task: TaskID | None = None
        self._began = time.process_time()

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._progress.stop()

    def show(self, share: float) -> None:
        """`share` of the current run is over; 1 ends it."""
        total = self._done + share
        if share >= 1:
            self._done += 1
        if self._task is None:
            if not self._console.is_terminal or self._age_s < PATIENCE_S:
                return
            self._task = self._progress.add_task("Simulating", total=self._runs)
            self._progress.start()
        self._progress.update(self._task, completed=total)

    @property
    def _age_s(self) -> float:
        return time.process_time() - self._began

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take it off the screen while something is printed."""
        if self._task is None:
            yield
            return
        self._progress.stop()
        yield
        self._progress.start()
