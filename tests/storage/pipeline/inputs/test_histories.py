"""Consolidated histories have fingerprints, beside exports too, and `diff` descends into them."""

import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.errors import PipelineError
from storage.pipeline.fingerprints.archive import Archive, write_state
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.results.publishing import Results
from storage.results import MANIFEST
from sync.machine import HOUR, MINUTE
from tests.support.storage.archived import consolidated, export
from tests.support.storage.archives import archive, divided, scattered
from tests.support.storage.diffs import found, ids, levels, ran
from tests.support.sync.entries import CHANNEL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fingerprinted(out: Path, *named: Path) -> Path:
    """Results that say what they are of, as `fingerprints` does, with no table; returns `out`."""
    inputs = Inputs.find(named)
    with Results(out).run("fingerprints") as run:
        run.figures["exports"] = [str(path.absolute()) for path in inputs.sources]
        write_state(run.directory, inputs)
    return out


@pytest.mark.spark
def test_its_fingerprints_are_those_of_the_exports_and_a_diff_uses_them(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    """Also among its own results, and when the exports are gone."""
    history = scattered(120, 9 * HOUR, channel=CHANNEL)
    left, right = divided(history, 16, "uniform", random.Random(3))
    a, b = export(tmp_path / "a", left, ["c", "d"]), export(tmp_path / "b", right)
    of_exports = levels(ran(spark, tmp_path, "fingerprints", a, out="of_a"), spark)
    ran(spark, tmp_path, "consolidate", a, out="history")
    shutil.rmtree(a)
    made = tmp_path / "history"

    of_history = ran(spark, tmp_path, "fingerprints", made, out="history")
    ran(spark, tmp_path, "fingerprints", b, out="of_b")
    result = ran(spark, tmp_path, "diff", made, tmp_path / "of_b")

    assert levels(of_history, spark) == of_exports
    assert Archive.find(made).prints == of_history.directory
    assert found(result, "only_a") == found(result, "for_b/history") == ids(left) - ids(right)
    assert found(result, "only_b") == found(result, "for_a/history") == ids(right) - ids(left)


@pytest.mark.spark
def test_histories_and_exports_together_have_each_message_once(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    history = scattered(60, HOUR, channel=CHANNEL)
    parts = [
        consolidated(tmp_path / "one", history[:30]),
        consolidated(tmp_path / "two", history[20:50]),
        export(tmp_path / "three", history[40:]),
    ]

    together = ran(spark, tmp_path, "fingerprints", *parts, out="together")
    result = ran(
        spark,
        tmp_path,
        "diff",
        tmp_path / "together",
        consolidated(tmp_path / "b", history[5:55]),
    )

    assert together.figures["messages"] == 60
    assert found(result, "only_a") == ids([*history[:5], *history[55:]])
    assert result.figures["only_b"] == 0


def test_fingerprints_of_a_history_that_was_made_again_are_refused(tmp_path: Path) -> None:
    made = consolidated(tmp_path / "one", archive("ann", 9, step=MINUTE, channel=CHANNEL))
    prints = fingerprinted(tmp_path / "prints", made)
    assert Archive.find(prints).prints is not None

    [file] = made.rglob("*.parquet")
    os.utime(file, ns=(1, 1))

    with pytest.raises(PipelineError, match="changed since"):
        Archive.find(prints)
    shutil.rmtree(made)
    with pytest.raises(PipelineError, match="which is gone"):
        Archive.find(prints)


def test_a_history_with_fingerprints_of_its_own_may_be_moved(tmp_path: Path) -> None:
    """They are not of what lies there, as far as anybody can say; so the rows are read."""
    made = consolidated(tmp_path / "one", archive("ann", 9, step=MINUTE, channel=CHANNEL))
    fingerprinted(made, made)
    assert Archive.find(made).prints is not None

    moved = made.rename(tmp_path / "two")

    found_there = Archive.find(moved)
    assert found_there.prints is None
    assert [one.out for one in found_there.inputs.histories] == [moved]


def test_fingerprints_are_of_the_same_exports_wherever_they_are_looked_at_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`../z` comes before `a`, and `/here/z` after `/here/below/a`."""
    history = archive("ann", 9, step=MINUTE, channel=CHANNEL)
    export(tmp_path / "z", history)
    export(tmp_path / "below" / "a", history[:3])
    monkeypatch.chdir(tmp_path / "below")

    prints = fingerprinted(tmp_path / "prints", Path("a"), Path("../z"))

    assert Archive.find(prints).prints is not None


def test_fingerprints_of_what_was_named_in_two_ways_stay_those_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = archive("ann", 9, step=MINUTE, channel=CHANNEL)
    one, made = export(tmp_path / "one", messages), consolidated(tmp_path / "made", messages)
    monkeypatch.chdir(tmp_path)

    prints = fingerprinted(tmp_path / "prints", Path("one"), one, Path("made"), made)

    found_again = Archive.find(prints)
    assert found_again.prints is not None
    assert found_again.inputs.sources == [one, made]


def test_a_damaged_manifest_is_one_sentence(tmp_path: Path) -> None:
    made = consolidated(tmp_path / "one", archive("ann", 9, step=MINUTE, channel=CHANNEL))
    (made / MANIFEST).write_text("{")

    with pytest.raises(PipelineError, match=r"manifest\.json cannot be read"):
        Inputs.find([made])
