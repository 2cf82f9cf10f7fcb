"""Each job runs when what it reads is there, alone or beside others."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.pipeline.schedule import awaited, one_at_a_time, side_by_side
from storage.pipeline.spark.progress import Telling

JOBS = ("consolidate", "audit", "fingerprints", "delivery", "report")
WITHIN_S = 60


def test_an_audit_awaits_its_history_and_a_report_everything() -> None:
    assert awaited("consolidate", JOBS) == []
    assert awaited("audit", JOBS) == ["consolidate"]
    assert awaited("audit", ["audit"]) == [], "the history may be of an earlier command"
    assert awaited("report", JOBS) == JOBS[:-1]


def test_what_does_not_wait_runs_at_the_same_time() -> None:
    met = threading.Barrier(2, timeout=WITHIN_S)
    lock, begun, ended = threading.Lock(), list[str](), list[str]()

    def run(job: str) -> None:
        with lock:
            begun.append(job)
        if job in ("consolidate", "delivery"):
            met.wait()
        with lock:
            ended.append(job)

    with ThreadPoolExecutor() as pool:
        side_by_side(JOBS, run, pool)

    assert {*begun[:2]} == {"consolidate", "delivery"}
    for reader in ("audit", "fingerprints"):
        assert ended.index("consolidate") < begun.index(reader)
    assert begun[-1] == "report"
    assert {*ended[:-1]} == {*JOBS[:-1]}


def test_what_waits_for_a_failed_job_does_not_run_and_all_else_does() -> None:
    ran = []

    def run(job: str) -> None:
        if job == "consolidate":
            raise ValueError(job)
        ran.append(job)

    with ThreadPoolExecutor() as pool, pytest.raises(ValueError, match="consolidate"):
        side_by_side(JOBS, run, pool)

    assert ran == ["delivery"]


def test_of_several_failures_the_first_job_is_told() -> None:
    failed = threading.Event()

    def run(job: str) -> None:
        if job == "delivery":
            failed.set()
        elif job == "fingerprints":
            assert failed.wait(WITHIN_S)
        if job in ("fingerprints", "delivery"):
            raise ValueError(job)

    with ThreadPoolExecutor() as pool, pytest.raises(ValueError, match="fingerprints"):
        side_by_side(JOBS, run, pool)


def test_one_at_a_time_is_in_order_and_ends_at_the_first_failure() -> None:
    ran = []

    def run(job: str) -> None:
        ran.append(job)
        if job == "audit":
            raise ValueError(job)

    with pytest.raises(ValueError, match="audit"):
        one_at_a_time(JOBS, run)

    assert ran == ["consolidate", "audit"]


def test_all_that_run_are_told_with_their_places() -> None:
    told: list[str] = []
    telling = Telling(JOBS, told.append)

    with telling.of("consolidate"):
        with telling.of("delivery"):
            pass
        with pytest.raises(ValueError, match="gone"), telling.of("fingerprints"):
            raise ValueError("gone")

    assert told == [
        "consolidate (1 of 5)",
        "consolidate and delivery (1 and 4 of 5)",
        "consolidate (1 of 5)",
        "consolidate and fingerprints (1 and 3 of 5)",
        "consolidate (1 of 5)",
    ]


def test_a_job_alone_is_told_by_its_name() -> None:
    told: list[str] = []

    with Telling(["delivery"], told.append).of("delivery"):
        pass

    assert told == ["delivery"]
