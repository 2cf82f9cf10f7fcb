"""Ctrl+C ends a command as a stop wherever it falls, and what was published stays."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.pipeline.interrupts import Stopped, stoppable
from storage.pipeline.results.publishing import Results
from sync.machine import HOUR
from tests.conftest import need_java
from tests.support.chat_tui.appearing import appearing
from tests.support.interrupting import Interrupter, begun, interrupted
from tests.support.storage.archived import export
from tests.support.storage.archives import scattered
from tests.support.sync.entries import CHANNEL

SMALL = ("--master", "local[1]", "--memory", "512m")
STARTED_WITHIN_S = 60.0
WAITING_JAVA = """\
#!/bin/sh
case "$1" in -version) echo 'openjdk version "17.0.1"' >&2; exit;; esac
: > {started}/java
exec cat
"""
"""It starts, and then does nothing as long as the pipeline holds its input open."""


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    return export(tmp_path / "exports", scattered(20, HOUR, channel=CHANNEL), ["a", "b"])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Results with a published run, as an earlier command left them."""
    results = Results(tmp_path / "out")
    with results.run("fingerprints") as run:
        (run.directory / "minutes").mkdir()
        run.figures["messages"] = 7
    return results.out


def check_stopped(ended: "subprocess.CompletedProcess[str]", out: Path) -> None:
    """Exit status 130, one sentence, and all that is published is whole."""
    assert ended.returncode == 130, ended.stderr
    assert ended.stderr.strip() == f"chat-tui pipeline: Stopped; {out} keeps what was finished."
    assert ended.stdout == ""
    jobs = json.loads((out / "manifest.json").read_text())["jobs"]
    published = {out / job["directory"] for job in jobs.values()}
    assert {path for path in (out / "runs").iterdir() if path.is_dir()} == published


@pytest.mark.slow
def test_before_java_starts(exports: Path, out: Path) -> None:
    manifest = (out / "manifest.json").read_bytes()

    check_stopped(
        interrupted("call:check_files", "pipeline", "all", exports, "--out", out, *SMALL), out
    )

    assert (out / "manifest.json").read_bytes() == manifest


@pytest.mark.slow
def test_while_java_starts(exports: Path, out: Path, tmp_path: Path) -> None:
    """The terminal sends the signal to all of its processes, Java too."""
    java, started = tmp_path / "java" / "bin" / "java", tmp_path / "started"
    java.parent.mkdir(parents=True)
    started.mkdir()
    java.write_text(WAITING_JAVA.format(started=started))
    java.chmod(0o755)
    words = ["pipeline", "fingerprints", str(exports), "--out", str(out), *SMALL]
    command = [sys.executable, "-m", "chat_tui", *words]
    env = os.environ | {"JAVA_HOME": str(java.parent.parent)}
    with appearing(started) as files, begun(*command, env=env, process_group=0) as process:
        files.next("java", STARTED_WITHIN_S, process.pid)
        os.killpg(process.pid, signal.SIGINT)
        said, complained = process.communicate(timeout=STARTED_WITHIN_S)

    check_stopped(
        subprocess.CompletedProcess(command, process.returncode, said, complained),
        out,
    )
    assert Results(out).published("fingerprints") is not None


@pytest.mark.spark
@pytest.mark.parametrize(
    ("moment", "job"),
    [
        pytest.param(
            "return:SparkContext._do_init", "fingerprints", id="Spark has just put its own handler"
        ),
        pytest.param("return:Results._publish", "all", id="one job is published, others go on"),
        pytest.param("call:_forget", "fingerprints", id="all is done", marks=pytest.mark.slow),
    ],
)
def test_while_spark_runs(moment: str, job: str, exports: Path, out: Path, tmp_path: Path) -> None:
    need_java()
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    ended = interrupted(
        *(moment, "pipeline", job, exports, "--out", out, *SMALL),
        **os.environ | {"TMPDIR": str(scratch), "XDG_DATA_HOME": str(scratch)},
    )

    check_stopped(ended, out)
    assert not list(scratch.glob("chat-tui-*")), "what Spark keeps aside is gone"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("call:_Made.write_history", ("pipeline", "synthesize", "{}", "--messages", "200")),
        (
            "return:NodeExports.write_log",
            ("pipeline", "synthesize", "{}", "--messages", "200", "--layout", "nodes"),
        ),
        ("call:TableFile.add", ("sim", "--messages", "10", "--seeds", "1", "--export", "{}")),
    ],
)
def test_a_stopped_export_leaves_nothing_so_that_the_same_command_makes_it(
    moment: str, words: Sequence[str], tmp_path: Path
) -> None:
    made = tmp_path / "made"

    ended = interrupted(moment, *(word.format(made) for word in words))

    assert ended.returncode == 130, ended
    assert "Traceback" not in ended.stderr
    assert not made.exists()


def test_what_fails_after_a_stop_is_not_said(tmp_path: Path) -> None:
    """As Spark's Python side does: it talks to Java on the way out."""

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            raise ConnectionError("Answer from Java side is empty")

    with pytest.raises(Stopped) as raised, stoppable(tmp_path):
        work()

    assert raised.value.exit_code == 130


def test_what_fails_without_a_stop_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError), stoppable(tmp_path):
        raise ConnectionError

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_interrupts_that_are_ignored_stay_so(tmp_path: Path) -> None:
    """As of a command that a shell started with `&`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable(tmp_path):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_stop_right_after_publishing_leaves_what_was_published(tmp_path: Path) -> None:
    results = Results(tmp_path)

    def publish() -> None:
        with results.run("audit") as run:
            (run.directory / "table").mkdir()
            sys.setprofile(Interrupter("return:replace_text"))

    with pytest.raises(KeyboardInterrupt):
        publish()
    sys.setprofile(None)

    published = results.published("audit")
    assert published is not None
    assert (published.directory / "table").is_dir()
