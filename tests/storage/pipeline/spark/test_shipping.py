"""The zip shipped to executors: its contents, and that they need nothing else of ours."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from storage.pipeline.spark import executor_probe
from storage.pipeline.spark.shipping import packed

EXECUTED: Final = (
    "storage.pipeline.spark.executor_probe",
    "storage.pipeline.sweep.simulation",
    "storage.pipeline.consolidate.verify",
)
"""The modules whose functions run on executors; whatever they import runs there too."""

ELSEWHERE: Final = {"aiosqlite", "zeroconf", "textual", "rich", "click", "pyspark", "chat_tui"}
"""Packages that a computer of a cluster need not have, or brings along."""

THERE: Final = {"numpy", "cffi", "typing_extensions"} | {
    name.partition(".")[0] for name in executor_probe.INSTALLED
}
"""Packages that it must have, with those they need."""

PROGRAM: Final = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps({
    name: getattr(module, "__file__", None) for name, module in sys.modules.items()
}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """The modules that a fresh Python has after importing from the zip, and where from."""
    archive = packed(tmp_path_factory.mktemp("zip") / "ours.zip")
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(archive), *EXECUTED],
        capture_output=True,
        text=True,
        check=True,
        cwd=archive.parent,
    ).stdout
    files: dict[str, str | None] = json.loads(said)
    return files


def test_an_executor_imports_nothing_of_a_running_chat(imported: dict[str, str | None]) -> None:
    assert not ELSEWHERE & {name.partition(".")[0] for name in imported}
    assert set(EXECUTED) <= imported.keys()


def test_what_we_ship_comes_from_the_zip(imported: dict[str, str | None]) -> None:
    ours = {name for name in imported if name.partition(".")[0] in {"sync", "storage", "proto"}}

    assert {name for name in ours if ".zip/" not in (imported[name] or "")} == set()


def test_whatever_else_it_imports_is_asked_for_before_a_job(
    imported: dict[str, str | None],
) -> None:
    site = str(Path(pytest.__file__).parent.parent)
    installed = {
        name.partition(".")[0]
        for name, file in imported.items()
        if file is not None and file.startswith(site)
    }

    assert {name for name in installed if name[:1] != "_"} <= THERE


def test_what_is_lacking_is_named_with_the_python_it_lacks_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert list(executor_probe.lacks()) == []

    monkeypatch.setattr(
        executor_probe, "INSTALLED", ("nothing_like_it", "nothing.below", "pyarrow")
    )

    assert [said.partition(" lacks ")[2] for said in executor_probe.lacks()] == [
        f"nothing_like_it for {sys.executable}",
        f"nothing.below for {sys.executable}",
    ]


def test_the_zip_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    first, second = packed(tmp_path / "a.zip"), packed(tmp_path / "b.zip")

    assert first.read_bytes() == second.read_bytes()
