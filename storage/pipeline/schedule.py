"""Schedule of the jobs: each runs once its inputs are there, one at a time or side by side.

A small job leaves most of a computer idle: while one of its steps is planned, nothing is worked on.
So small ones run side by side, each in a thread. Of large ones, each wants all the memory.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Final

from storage import report

NEEDS: Final[dict[str, Sequence[str]]] = {"audit": ("consolidate",)}
"""Jobs whose results a job reads; they may come from an earlier command with the same --out."""


AFTER: Final[Mapping[str, Sequence[str]]] = NEEDS | {"fingerprints": ("consolidate",)}
"""The same, and jobs whose results one prefers to read, if they run together."""


def awaited(job: str, jobs: Sequence[str]) -> Sequence[str]:
    """Return which of `jobs` must be done before one of them: the report tells of all others."""
    before = jobs[: jobs.index(job)]
    return before if job == report.JOB else [one for one in before if one in AFTER.get(job, ())]


def one_at_a_time(jobs: Sequence[str], run: Callable[[str], None]) -> None:
    """Run jobs in their order, up to the first that raises."""
    for job in jobs:
        run(job)


def side_by_side(jobs: Sequence[str], run: Callable[[str], None], pool: Executor) -> None:
    """Run each job as soon as those it waits for are done; `pool` has a thread for each.

    Where one raises, those that wait for it do not run, and all others do: their results are good.
    Then what was raised is raised here; if several did, what the first of them in `jobs` did.
    """
    waiting, done = list(jobs), set[str]()
    running: dict[Future[None], str] = {}
    failed: dict[str, BaseException] = {}
    while True:
        for job in [job for job in waiting if done.issuperset(awaited(job, jobs))]:
            waiting.remove(job)
            running[pool.submit(run, job)] = job
        if not running:
            break
        for ended in wait(running, return_when=FIRST_COMPLETED).done:
            job = running.pop(ended)
            if (error := ended.exception()) is None:
                done.add(job)
            else:
                failed[job] = error
    for job in jobs:
        if job in failed:
            raise failed[job]
