"""Results behind a URI: published by a manifest that names the one it replaces."""

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.errors import PipelineError
from storage.pipeline.results.far import LEFT_AFTER_S, FarResults, results_in
from storage.pipeline.results.publishing import Results
from storage.results import MANIFEST
from sync.net.clock import Clock
from tests.support.storage.schemes import bind, over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(params=["demo", "viewfs"])
def out(request: pytest.FixtureRequest, spark: "SparkSession", tmp_path: Path) -> Path:
    """Directory of the results, as each scheme calls it."""
    bind(spark)
    return over(request.param, tmp_path)


def publish(results: Results, job: str, **figures: int) -> None:
    """Publish a run with one file."""
    with results.run(job) as run:
        (run.directory / "table").write_text(job)
        run.figures = dict(figures)


def test_each_manifest_names_the_one_it_replaces(out: Path, tmp_path: Path) -> None:
    results = results_in(out)
    with results.locked():
        publish(results, "consolidate", findings=1)
        first = (tmp_path / MANIFEST).read_text()
        publish(results, "audit", findings=2)
        second = json.loads((tmp_path / MANIFEST).read_text())

    assert json.loads(first)["replaces"] == ""
    assert second["replaces"] == sha256(first.encode()).hexdigest()
    published = Results(tmp_path).published("audit")
    assert published is not None
    assert published.figures == {"findings": 2}
    assert (published.directory / "table").read_text() == "audit"
    assert [*(tmp_path / "runs").glob(".replaces*.json")] == []


def test_a_new_run_takes_away_the_one_it_replaces_alone(out: Path, tmp_path: Path) -> None:
    results = results_in(out)
    with results.locked():
        publish(results, "audit")
        (tmp_path / "runs" / f"audit-{Clock().wall() // 1000}").mkdir()  # another command's
        publish(results, "audit")

    kept = results.published("audit")
    assert kept is not None
    assert kept.directory.is_dir()
    assert len([*(tmp_path / "runs").glob("audit-*")]) == 2


def test_who_publishes_after_another_command_is_refused(out: Path, tmp_path: Path) -> None:
    one, two = results_in(out), results_in(out)
    with one.locked(), two.locked():
        publish(one, "audit", findings=1)
        with pytest.raises(PipelineError, match="Another command has published"):
            publish(two, "audit", findings=2)

        published = two.published("audit")
        assert published is not None
        assert published.figures == {"findings": 1}
        assert len([*(tmp_path / "runs").glob("audit-*")]) == 1, "the refused run is gone"


def test_of_two_that_publish_at_once_one_is_refused(out: Path, tmp_path: Path) -> None:
    results = FarResults(out)
    with results.locked():
        claim = tmp_path / "runs" / ".replaces-nothing.json"
        claim.write_text("half of wh")  # another command is just about to publish
        with pytest.raises(PipelineError, match="Another command has published"):
            publish(results, "audit")

    assert not (tmp_path / MANIFEST).exists()
    assert claim.read_text() == "half of wh"


def test_what_a_command_claimed_before_it_died_is_published(out: Path, tmp_path: Path) -> None:
    results = results_in(out)
    with results.locked():
        publish(results, "audit", findings=7)
    manifest = (tmp_path / MANIFEST).read_text()
    (tmp_path / MANIFEST).rename(tmp_path / "runs" / ".replaces-nothing.json")

    with results_in(out).locked():
        pass

    assert (tmp_path / MANIFEST).read_text() == manifest
    assert [*(tmp_path / "runs").glob(".replaces*.json")] == []


def test_only_what_was_left_long_ago_is_removed(out: Path, tmp_path: Path) -> None:
    now_us = Clock().wall() // 1000
    old, new = (now_us - second * 1_000_000 for second in (LEFT_AFTER_S + 60, LEFT_AFTER_S - 60))
    for number in (old, new):
        (tmp_path / "runs" / f"audit-{number}").mkdir(parents=True)

    with results_in(out).locked():
        pass

    assert [path.name for path in (tmp_path / "runs").glob("audit-*")] == [f"audit-{new}"]


def test_an_interrupted_run_leaves_what_was_there(out: Path, tmp_path: Path) -> None:
    results = results_in(out)
    with results.locked():
        publish(results, "audit", findings=1)
        with pytest.raises(RuntimeError), results.run("audit"):
            raise RuntimeError

    published = results.published("audit")
    assert published is not None
    assert published.figures == {"findings": 1}
    assert len([*(tmp_path / "runs").glob("audit-*")]) == 1


def test_other_files_are_not_mixed_with_results(out: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()

    with pytest.raises(PipelineError, match="holds other files"):
        results_in(out)


def test_stores_that_make_no_file_for_one_alone_are_told(out: Path) -> None:
    assert FarResults(out).best_effort == str(out).startswith("demo")
