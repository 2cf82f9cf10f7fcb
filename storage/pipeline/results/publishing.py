"""Publication of results in the places that `storage.results` names: whole, or not at all.

OUT/spark.log                 what Spark said the last time
"""

import fcntl
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from storage.archive.tables import replace_text
from storage.pipeline.errors import FULL, PipelineError, as_problems
from storage.pipeline.places.place import remove_tree
from storage.results import FORMAT, MANIFEST, RUNS, Figures, Published, manifest_of, published_in

LOG: Final = "spark.log"
LOCK: Final = ".lock"


class Results:
    """The results in one directory, which need not be there before something is written.

    Raises:
        PipelineError: it cannot be read, or holds something else.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self._publishing = threading.Lock()
        try:
            there = {path.name for path in out.iterdir()} if out.exists() else set()
        except OSError as error:
            raise self._unusable(error) from error
        if there and not there & {MANIFEST, RUNS, LOG}:
            raise PipelineError(
                f"{out} holds other files than results; name an empty or a new directory by --out."
            )

    def published(self, job: str) -> Published | None:
        """Return the last good run of a job, None if there is none."""
        with as_problems():
            return published_in(self.out, job)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from writing here, and remove what a killed run has left.

        Raises:
            PipelineError: another one writes here, or nobody can.
        """
        runs = self.out / RUNS
        try:
            runs.mkdir(parents=True, exist_ok=True)
            file = (runs / LOCK).open("w")
        except OSError as error:
            raise self._unusable(error) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise PipelineError(
                    f"Another run writes to {self.out}: wait for it, or name another --out."
                ) from error
            self._tidy()
            try:
                yield
            finally:
                self._tidy()  # what an interrupted run still wrote while it was removed

    @contextmanager
    def run(self, job: str, made: Mapping[str, Any] = MappingProxyType({})) -> Iterator["Run"]:
        """Make a run of a job; it is published if the block ends well, and removed if not.

        `made` says how, as `storage.pipeline.invocation` has it.

        Raises:
            PipelineError: the disk is full, or the manifest cannot be read.
        """
        run = Run(self.out / RUNS / f"{job}-{self._number(job)}")
        before = self.published(job)
        run.directory.mkdir(parents=True)
        try:
            yield run
            self._publish(job, run, made)
        except BaseException as error:
            with suppress(OSError, PipelineError):  # what was raised says more
                if self._is_without(run):
                    remove_tree(run.directory)
            if isinstance(error, OSError) and error.errno in FULL:
                raise PipelineError(
                    f"No space left in {self.out}: free some, or name another --out."
                ) from error
            raise
        for old in self._outdated(job, before):
            if old != run.directory:
                remove_tree(old)

    def _is_without(self, run: "Run") -> bool:
        """Return whether a run is not published; it may be, when Ctrl+C comes right after."""
        kept = self._manifest().values()
        return all(self.out / one["directory"] != run.directory for one in kept)

    def _unusable(self, error: OSError) -> PipelineError:
        return PipelineError(
            f"Cannot write to {self.out} ({error.strerror}); name another one by --out."
        )

    def _tidy(self) -> None:
        kept = {self.out / run["directory"] for run in self._manifest().values()}
        for path in (self.out / RUNS).iterdir():
            if path.is_dir() and path not in kept:
                remove_tree(path)

    def _number(self, job: str) -> int:
        """Return the number of a new run."""
        numbers = (int(path.name.rpartition("-")[2]) for path in self._runs(job))
        return 1 + max(numbers, default=0)

    def _outdated(self, job: str, before: Published | None) -> list[Path]:
        """Return the runs of a job that a new one makes needless; `before` was published."""
        del before  # and whatever else was left here
        return self._runs(job)

    def _runs(self, job: str) -> list[Path]:
        found = (self.out / RUNS).glob(f"{job}-*")
        return [path for path in found if path.name.rpartition("-")[2].isdecimal()]

    def _publish(self, job: str, run: "Run", made: Mapping[str, Any]) -> None:
        directory = str(run.directory.relative_to(self.out))
        with self._publishing:  # jobs side by side; from other processes, `locked` keeps it
            run_of_job = {"directory": directory, "figures": run.figures, "made": dict(made)}
            jobs = self._manifest() | {job: run_of_job}
            self._write_manifest({"format": FORMAT, "jobs": jobs})

    def _write_manifest(self, manifest: dict[str, Any]) -> None:
        """Put a manifest in the place of the one before."""
        replace_text(self.out / MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def _manifest(self) -> dict[str, Any]:
        with as_problems():
            return dict(manifest_of(self.out))


@dataclass(slots=True)
class Run:
    """A run that is being made; its job sets `figures`."""

    directory: Path
    figures: Figures

    def __init__(self, directory: Path) -> None:
        self.directory, self.figures = directory, {}

    @property
    def job(self) -> str:
        """The name of its job."""
        return self.directory.name.rpartition("-")[0]

    def drop(self, name: str) -> None:
        """Remove a table that others were made from."""
        remove_tree(self.directory / name)
