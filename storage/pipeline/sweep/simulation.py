"""One simulated run on an executor, and what is kept of it.

An executor imports this and the simulator; it needs neither Spark's tables nor a network.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from msgspec.structs import replace

from storage.archive.tables import replace_text
from sync.machine import MILLISECOND, SECOND
from sync.sds.parameters import LAN, Parameters
from sync.sim.measure import Sort
from sync.sim.network import Link
from sync.sim.scenario import Outcome, Scenario, run
from sync.structures.bloom_parameters import BloomParameters

KEY_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class Point:
    """One run. `t_min`, `t_max` and `resend` are seconds, `loss` percent, `filter_size` ids."""

    peers: int
    loss: float
    t_min: float
    t_max: float
    filter_size: int
    resend: float
    messages: int
    seed: int

    @property
    def scenario(self) -> Scenario:
        """Return the run: one broadcast reaches all, whatever the size, so that sizes compare."""
        return Scenario(
            peers=self.peers,
            messages=self.messages,
            link=Link(
                loss=self.loss / 100,
                delay=(5 * MILLISECOND, 45 * MILLISECOND),
                duplicate=0.05,
                reorder=0.05,
            ),
            seed=self.seed,
            parameters=self._parameters,
            mesh=False,
        )

    @property
    def _parameters(self) -> Parameters:
        t_max = int(self.t_max * SECOND)
        return replace(
            LAN,
            bloom=BloomParameters(self.filter_size, LAN.bloom.error_rate),
            t_min=int(self.t_min * SECOND),
            t_max=t_max,
            # what a large group adds keeps its proportion, or there T_max would not matter
            t_max_per_responder=LAN.t_max_per_responder * t_max // LAN.t_max,
            resend_after=int(self.resend * SECOND),
        )


@dataclass(frozen=True, slots=True)
class Simulation:
    """Simulates points, and keeps what came of each in `directory`, which all executors see.

    `code` says which engine ran: what another one gave is not taken for this one's.
    """

    directory: str
    code: str

    def path(self, point: Point) -> Path:
        """Return where the run of `point` is kept."""
        text = json.dumps([asdict(point), self.code], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]
        return Path(self.directory) / f"{key}.json"

    def __call__(self, point: Point) -> int:
        """Simulate one point, and keep it; returns 1, to be counted."""
        replace_text(self.path(point), json.dumps(simulated(point)) + "\n")
        return 1

    def kept(self, point: Point) -> dict[str, Any] | None:
        """Return the kept run of `point`, None if there is none."""
        try:
            record = json.loads(self.path(point).read_text())
        except (OSError, ValueError):  # not there, or not whole: it is run again
            return None
        return record if isinstance(record, dict) else None


def simulated(point: Point) -> dict[str, Any]:
    """Return the point and what came of it: the columns of `sweep.RUNS`."""
    try:
        return asdict(point) | _measured(run(point.scenario)) | {"broken": None}
    except AssertionError as error:  # a promise of the chat did not hold: a finding, not a failure
        return asdict(point) | {"broken": str(error.__cause__ or error)}


def _measured(outcome: Outcome) -> dict[str, Any]:
    latency, repairs = outcome.latency_ms, outcome.repairs
    size = {sort: sent.size for sort, sent in outcome.sent.items()}
    return {
        "converged": outcome.converged,
        "convergence_s": outcome.seconds_to_converge,
        "latency_p50_ms": latency.p50,
        "latency_p95_ms": latency.p95,
        "latency_p99_ms": latency.p99,
        "bytes": sum(size.values()),
        "content_bytes": size.get(Sort.CONTENT, 0),
        "sync_bytes": size.get(Sort.SYNC, 0),
        "resend_bytes": size.get(Sort.RESEND, 0),
        "answer_bytes": size.get(Sort.ANSWER, 0),
        "lost_messages": repairs.messages,
        "losses": repairs.losses,
        "loss_p95_s": repairs.seconds.p95,
        "requests_p50": repairs.requests_of_message.p50,
        "requests_p95": repairs.requests_of_message.p95,
        "responses_p50": repairs.responses_of_message.p50,
        "responses_p95": repairs.responses_of_message.p95,
        "hints": outcome.hints,
        "false_hints": outcome.false_hints,
        "gaps": outcome.gaps,
        "failed": outcome.failed,
        "simulated_s": outcome.seconds,
        "digest": outcome.digest,
    }


def code_digest() -> str:
    """Return a SHA-256 over the engine and its simulator, as they are here."""
    spec = find_spec("sync")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    digest = hashlib.sha256()
    for name, code in sorted(_code(root)):
        digest.update(name.encode() + code)
    return digest.hexdigest()


def _code(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files of a package, which may lie in a zip."""
    archive = next((one for one in root.parents if one.is_file()), None)
    if archive is None:
        for path in root.rglob("*.py"):
            yield path.relative_to(root).as_posix(), path.read_bytes()
        return
    inside = root.relative_to(archive).as_posix() + "/"
    with ZipFile(archive) as files:
        for name in files.namelist():
            if name.startswith(inside) and name.endswith(".py"):
                yield name.removeprefix(inside), files.read(name)
