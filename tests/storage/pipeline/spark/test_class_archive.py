"""Spark's classes kept ready for Java: made when asked for, and never in the way of a job."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from storage.pipeline.prepare import SAMPLE
from storage.pipeline.spark import class_archive
from storage.pipeline.synthetic.dataset import synthesize
from tests.conftest import need_java

WITHIN_S: Final = 600
"""Time that a machine with much else to do may take; a quiet one takes a tenth of it."""


OUTSIDE: Final = """
import sys
sys.prefix = sys.base_prefix
from chat_tui.cli.main import main
from storage.pipeline import command
command.ALL = ["fingerprints"]
main()
"""
"""The program, as if installed without an environment of its own: what it keeps is in the cache.
What is prepared is what one job needs, which is the one that is then run."""

FEW: Final = replace(SAMPLE, messages=200)
"""Without its thousands of messages: to load classes, a job needs some rows."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place to keep them, and no environment."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _: str(tmp_path / "cache"))
    monkeypatch.setattr("sys.prefix", sys.base_prefix)
    return tmp_path / "cache"


def recorded(directory: Path, content: bytes) -> Path:
    """Write what a Java might have written."""
    path = directory / "recorded"
    path.write_bytes(content)
    return path


def test_nothing_is_told_to_java_before_something_is_kept() -> None:
    assert class_archive.kept() is None
    assert class_archive.options(None) == []


def test_what_is_kept_takes_the_place_of_what_was_before(tmp_path: Path) -> None:
    class_archive.keep(recorded(tmp_path, b"first"))

    path = class_archive.keep(recorded(tmp_path, b"the second"))

    assert class_archive.kept() == path
    assert [*class_archive.directory().iterdir()] == [path]
    assert path.read_bytes() == b"the second"
    assert class_archive.options(None)[-1] == f"-XX:SharedArchiveFile={path}"


def test_what_was_cut_short_is_not_used(tmp_path: Path) -> None:
    path = class_archive.keep(recorded(tmp_path, b"classes"))
    path.write_bytes(b"cla")

    assert class_archive.kept() is None


def test_they_lie_in_the_environment_whose_class_files_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))

    path = class_archive.keep(recorded(tmp_path, b"classes"))

    assert path.parent == tmp_path / "venv" / "share" / "chat-tui"
    assert class_archive.kept() == path


def test_who_may_not_write_into_the_environment_keeps_them_in_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "share").touch()  # no directory can be made there
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))

    path = class_archive.keep(recorded(tmp_path, b"classes"))

    assert path.parent == cache
    assert class_archive.kept() == path


def pipeline(home: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OUTSIDE, "pipeline", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
        env={
            **os.environ,
            "XDG_CACHE_HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "COLUMNS": "200",
            **variables,
        },
    )


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="where the cache is, a variable says on Linux")
@pytest.mark.grid
def test_jobs_start_with_what_was_prepared_and_without_if_it_is_damaged(tmp_path: Path) -> None:
    need_java()
    export, loaded = tmp_path / "export", tmp_path / "loaded.log"
    synthesize(export, FEW, lambda _: None)
    job = ("fingerprints", export, "--out", tmp_path / "out", "--memory", "1g", "--json")
    look = {"JDK_JAVA_OPTIONS": f"-Xlog:class+load:file={loaded}"}

    made = pipeline(tmp_path, "prepare")
    with_classes = pipeline(tmp_path, *job, **look)
    used = loaded.read_text().count("shared objects file (top)")
    [path] = (tmp_path / "chat-tui").iterdir()
    remembered = (tmp_path / "data").exists()
    path.chmod(0o600)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(1_000_000))
    damaged = pipeline(tmp_path, *job, **look)

    assert made.returncode == 0, made.stderr
    assert re.search(rf"{path} from now on, \d+ MB", made.stdout)
    assert not remembered, "the last report is the person's own"
    assert used > 5_000
    assert "shared objects file (top)" not in loaded.read_text()
    assert with_classes.returncode == damaged.returncode == 0, damaged.stderr
    assert with_classes.stdout == damaged.stdout
    assert with_classes.stderr == damaged.stderr == ""


def test_nothing_is_prepared_where_spark_is_set_up(tmp_path: Path) -> None:
    done = pipeline(tmp_path, "prepare", SPARK_HOME=str(tmp_path))

    assert done.returncode == 2
    assert "Spark is set up here" in done.stderr
    assert not (tmp_path / "chat-tui").exists()
