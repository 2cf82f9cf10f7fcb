"""Hooks and fixtures of pytest that many files share: UTC, and the Spark session, one a run."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from _pytest.mark.expression import Expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PORTS_EACH: Final = 100
"""For each process that runs tests: more than a chat tries. The first ones are for programs."""


KINDS: Final = ("spark", "slow", "net", "lan", "grid", "repair_grid")
"""Marks by which a run chooses its tests."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file none of whose tests is asked for: to read all takes each process seconds."""
    wanted: str = config.option.markexpr
    used = {*re.findall(r"\w+", wanted)} - {"and", "or", "not"}
    if collection_path.suffix != ".py" or not used or not used <= {*KINDS}:
        return None
    text = collection_path.read_text(encoding="utf-8")
    named = [kind for kind in KINDS if re.search(rf"\bmark\.{kind}\b", text)]
    chosen = Expression.compile(wanted)
    for count in range(len(named) + 1):
        for marks in map(frozenset, combinations(named, count)):
            if chosen.evaluate(lambda name, /, marks=marks, **_: name in marks):
                return None
    return True


def pytest_configure() -> None:
    """Let tests and what they start hear Ctrl+C, also where a shell began them with `&`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
    """One small session for all tests: to start one takes longer than all of them."""
    need_java()
    from storage.pipeline.spark.session import Cluster, session  # noqa: PLC0415  # 491 MB for few tests

    scratch: Path = tmp_path_factory.mktemp("spark")
    with session(Cluster("local[1]", "512m"), scratch) as started:
        # a few rows: one task for each step, instead of 200 nearly empty ones
        started.conf.set("spark.sql.shuffle.partitions", "1")
        # and no Java written and compiled for them; the tests that start a Java of their own do so
        started.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        yield started
