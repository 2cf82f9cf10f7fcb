"""Progress of a job on the terminal: stages and rows, as Spark counts them."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

EVERY_S: Final = 0.5
"""Between two looks, a few calls into the JVM each."""


OVER: Final = frozenset({"COMPLETE", "FAILED", "SKIPPED"})
"""Results of a stage; the others are PENDING and ACTIVE."""


@dataclass(frozen=True, slots=True)
class Glance:
    """Progress: stages begun, tasks done of tasks known, rows read from files and shuffles."""

    stages: int = 0
    done: int = 0
    tasks: int = 0
    rows: int = 0

    def __add__(self, other: "Glance") -> "Glance":
        """Return the sum of both."""
        return Glance(
            self.stages + other.stages,
            self.done + other.done,
            self.tasks + other.tasks,
            self.rows + other.rows,
        )


@dataclass(slots=True)
class Watch:
    """Looks at what Spark does; sums over all jobs that begin after this is made."""

    context: "SparkContext"
    _next_job: int = field(init=False)
    _open: set[int] = field(default_factory=set)
    """Stages that were not over when we last looked: Spark remembers only the last thousand."""
    _over: Glance = field(default_factory=Glance)
    """The sum of those that were."""

    def __post_init__(self) -> None:
        newest_first: Any = self._store().jobsList(None)  # of them too, it remembers a thousand
        self._next_job = newest_first.apply(0).jobId() + 1 if newest_first.size() else 0

    def look(self) -> Glance:
        """Return how far it is.

        Raises:
            Py4JError: Spark has ended.
        """
        store = self._store()
        self._find_stages(store)
        running = Glance()
        for stage in sorted(self._open):
            status, seen = _stage(store, stage)
            if status in OVER:
                self._open.remove(stage)
                self._over += seen
            else:
                running += seen
        return self._over + running

    def _store(self) -> Any:  # noqa: ANN401  # py4j tells no types
        return self.context._jsc.sc().statusStore()  # noqa: SLF001  # only there are rows

    def _find_stages(self, store: Any) -> None:  # noqa: ANN401  # py4j tells no types
        while True:
            try:
                found = store.job(self._next_job)
            except Py4JJavaError:  # there is no such job yet
                return
            stages = found.stageIds()
            self._open.update(stages.apply(number) for number in range(stages.size()))
            self._next_job += 1


class Telling:
    """Says which of some jobs run: "audit and delivery (2 and 4 of 5)"; from any thread."""

    def __init__(self, jobs: Sequence[str], tell: Callable[[str], None]) -> None:
        self._jobs, self._tell = jobs, tell
        self._running: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, job: str) -> Iterator[None]:
        """Tell that a job runs, for as long as the block does."""
        with self._lock:
            self._running.add(job)
            self._say()
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(job)
                self._say()

    def _say(self) -> None:
        running = [(job, at) for at, job in enumerate(self._jobs, 1) if job in self._running]
        if not running:  # until the next one
            return
        names = " and ".join(job for job, _ in running)
        places = " and ".join(str(at) for _, at in running)
        self._tell(f"{names} ({places} of {len(self._jobs)})" if len(self._jobs) > 1 else names)


@contextmanager
def shown(spark: "SparkSession", console: Console) -> Iterator[Callable[[str], None]]:
    """Show how far Spark is, where `console` is a terminal; yields what says which job it is."""
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as progress:
        task = progress.add_task("Starting", total=None, counted="")
        over = threading.Event()
        poller = threading.Thread(
            target=_poll, args=(Watch(spark.sparkContext), progress, task, over), daemon=True
        )
        poller.start()
        try:
            yield lambda job: progress.update(task, description=job)
        finally:
            over.set()
            poller.join()


def _poll(watch: Watch, progress: Progress, task: TaskID, over: threading.Event) -> None:
    while not over.wait(EVERY_S):
        try:
            glance = watch.look()
        except (Py4JError, OSError):  # Spark has ended; whoever uses it says so
            return
        counted = f"stage {glance.stages}, {glance.rows:,} rows"
        progress.update(task, completed=glance.done, total=glance.tasks, counted=counted)


def _stage(store: Any, number: int) -> tuple[str, Glance]:  # noqa: ANN401
    """Return the status of a stage, and what is to be added for it."""
    data = store.lastStageAttempt(number)
    status = str(data.status().toString())
    if status == "SKIPPED":  # its rows were there already
        return status, Glance()
    rows = data.inputRecords() + data.shuffleReadRecords()
    begun = int(status != "PENDING")
    return status, Glance(begun, data.numCompleteTasks(), data.numTasks(), rows)
