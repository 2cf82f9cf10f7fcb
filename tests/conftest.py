"""Hooks and fixtures of pytest that many files share: UTC, and the Spark session, one a run."""

import gc
import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from _pytest.mark.expression import Expression
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.storage.deliveries import Ran

PORTS_EACH: Final = 100
"""For each process that runs tests: more than a chat tries. The first ones are for programs."""


KINDS: Final = ("spark", "slow", "net", "lan", "grid")
"""Marks by which a run chooses its tests."""


NAME_MAX: Final = 200
"""Characters of a value that is part of a test's name."""

LONG_JOBS: Final = ("tests/storage/pipeline/delivery/", "tests/storage/pipeline/test_plans.py")
"""Tests of the jobs that take longest; they take as long as all the others of a Spark session."""

SELDOM: Final = (5_000, 10, 100)
"""When circular garbage is looked for. Python's own (700, 10, 10) goes through all objects of all
modules so often that it takes a quarter of the time of all tests."""


HEARD: Final = (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
)
"""Signals that whoever starts the tests may have switched off, and what they usually do."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file none of whose tests is asked for: to read all takes each process seconds."""
    wanted: str = config.option.markexpr
    used = {*re.findall(r"\w+", wanted)} - {"and", "or", "not"}
    if collection_path.suffix != ".py" or not used or not used <= {*KINDS}:
        return None
    chosen = Expression.compile(wanted)
    if chosen.evaluate(lambda *_, **__: False):  # tests without a mark, which any file may have
        return None
    text = collection_path.read_text(encoding="utf-8")
    named = [kind for kind in KINDS if re.search(rf"\b(mark\.|with_){kind}\b", text)]
    for count in range(1, len(named) + 1):
        for marks in map(frozenset, combinations(named, count)):
            if chosen.evaluate(lambda name, /, marks=marks, **_: name in marks):
                return None
    return True


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by how a long value begins: names go to each process, and some had 16 MB."""
    if not isinstance(val, str | bytes) or len(val) <= NAME_MAX:
        return None
    return f"{val[:40]!a} and {len(val) - 40} more"


def pytest_configure() -> None:
    """Let tests and what they start hear Ctrl+C and a hang-up, also behind `nohup` or with `&`.

    No example of a property has a time to keep, on a busy machine either.
    """
    settings.register_profile("untimed", settings(), deadline=None)
    settings.load_profile("untimed")
    for number, usual in HEARD:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    gc.set_threshold(*SELDOM)


def pytest_collection_finish() -> None:
    """Leave all tests and modules out whenever garbage is looked for: they stay to the end."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Look for garbage once, and no more: pytest and Python do so ten times before they end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # xdist looks at the marks in a hook of its own
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each of two processes one half of all that use a Spark session.

    A session gets quicker with each job it ran, and one process with all of them is twice as long
    at it as the other at the rest.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            where = item.path.relative_to(item.config.rootpath).as_posix()
            half = "delivery" if where.startswith(LONG_JOBS) else "others"
            item.add_marker(pytest.mark.xdist_group(half))


def need_java() -> None:
    """Skip the test where there is no Java, with the fix; in CI there must be one."""
    if shutil.which("java") is None and not os.environ.get("CI"):
        pytest.skip("Spark needs Java 17: apt install default-jre-headless")


@pytest.fixture(name="in_utc")
def _in_utc() -> Iterator[None]:
    """Times of day in UTC, whatever the computer's place is."""
    from tests.support.chat_tui.scenes import utc  # noqa: PLC0415  # the whole screen, which Spark's tests do not need

    with utc():
        yield


@pytest.fixture(autouse=True, scope="session")
def _ports_of_its_own() -> Iterator[None]:
    """Each process that runs tests listens elsewhere: at no known address is somebody else."""
    from sync.net.links import mesh  # noqa: PLC0415  # as late as can be: it takes a while

    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    with pytest.MonkeyPatch.context() as patch:
        port = mesh.DEFAULT_PORT + PORTS_EACH * (1 + int(worker.removeprefix("gw")))
        patch.setattr(mesh, "DEFAULT_PORT", port)
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """One small session for all tests of a process: to start one takes longer than most."""
    need_java()
    from storage.pipeline.spark.session import Cluster, session  # noqa: PLC0415  # 491 MB for few tests

    scratch: Path = tmp_path_factory.mktemp("spark")
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            # what is compiled for all the jobs of all tests does not fit in the usual 48 MB
            patch.setenv("JDK_JAVA_OPTIONS", "-XX:ReservedCodeCacheSize=160m")
            # all lies here: settings for stores would be copied for each file that is opened
            cluster = Cluster("local[1]", "512m")
            started = stack.enter_context(session(cluster, scratch, here=True))
        # a few rows: one task for each step, instead of 200 nearly empty ones
        started.conf.set("spark.sql.shuffle.partitions", "1")
        # and no Java written and compiled for them; the tests that start a Java of their own do so
        started.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        yield started


@pytest.fixture(scope="session")
def delivery(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> "Ran":
    """Return what the job of delivery finds in all stories: it is thirty small queries."""
    from tests.support.storage.deliveries import all_rows, run_job  # noqa: PLC0415

    return run_job(spark, tmp_path_factory.mktemp("delivery"), all_rows())
