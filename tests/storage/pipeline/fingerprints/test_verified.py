"""Fingerprints and differences say what they read, and call exact only what is verified."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.report.sections import diff_rows, fingerprints_rows
from storage.pipeline.results.small_tables import first_rows
from storage.pipeline.synthetic.plan import Faults
from storage.results import Published
from sync.machine import HOUR
from tests.support.storage.archived import export_rows, row_of
from tests.support.storage.archives import scattered
from tests.support.storage.diffs import found, ran
from tests.support.storage.synthetic import made, plan
from tests.support.sync.entries import CHANNEL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MESSAGES = 120
FALSE_ROWS = 9
FALSE = Faults(0, 0, 0, 0, 0, 0, 0, false_ids=3, bad_signatures=2, false_columns=4)


@pytest.fixture(scope="module")
def tampered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return exports of one group; nine rows of the second one are false."""
    place = tmp_path_factory.mktemp("tampered")
    made(place / "right", plan(5, messages=MESSAGES))
    made(place / "false", plan(5, FALSE, messages=MESSAGES))
    return place / "right", place / "false"


def reasons(published: Published) -> list[str]:
    return sorted(row["reason"] for row in first_rows(published.directory, "false", 100))


def test_what_differs_is_verified_before_it_is_called_exact(
    tampered: tuple[Path, Path], tmp_path: Path, spark: "SparkSession"
) -> None:
    right, false = tampered

    compared = ran(spark, tmp_path, "diff", right, false)

    assert found(compared, "only_b") == set()
    assert found(compared, "for_a/history") == set()
    assert (compared.figures["only_a"], compared.figures["only_b"]) == (0, 0)


def test_false_rows_that_differ_are_told_with_the_reason(
    tampered: tuple[Path, Path], tmp_path: Path, spark: "SparkSession"
) -> None:
    _, false = tampered
    right = tmp_path / "empty"
    made(right, plan(6, messages=MESSAGES))

    compared = ran(spark, tmp_path, "diff", right, false)

    assert compared.figures["only_b"] == MESSAGES
    assert compared.figures["false"] == len(reasons(compared)) == FALSE_ROWS
    assert {reason.split()[0] for reason in reasons(compared)} == {"the", "not"}
    told = dict(diff_rows(compared.figures))
    assert told["read of b"].endswith("nothing is verified but what differs")
    assert "messages b by their columns" in told


def test_histories_that_are_verified_are_not_verified_again(
    tampered: tuple[Path, Path], tmp_path: Path, spark: "SparkSession"
) -> None:
    right, false = tampered
    for name, one in (("a", right), ("b", false)):
        ran(spark, tmp_path, "consolidate", one, out=name)
        ran(spark, tmp_path, "fingerprints", one, out=name)

    prints = ran(spark, tmp_path, "fingerprints", false, out="b")

    assert prints.figures["verified"]
    assert dict(fingerprints_rows(prints.figures))["messages"] == f"{MESSAGES}"


def test_one_page_has_one_total(tmp_path: Path, spark: "SparkSession") -> None:
    """By their columns there are more than were written."""
    rows = [row_of(one) for one in scattered(40, HOUR, channel=CHANNEL)]
    claimed = [row | {"sync_0": row["sync_0"] ^ 1, "node": "liar"} for row in rows[:3]]
    both = export_rows(tmp_path / "both", [*rows, *claimed])

    before = ran(spark, tmp_path, "fingerprints", both).figures
    consolidated = ran(spark, tmp_path, "consolidate", both).figures
    after = ran(spark, tmp_path, "fingerprints", both).figures

    assert before["messages"] == 43
    assert dict(fingerprints_rows(before))["messages by their columns"] == "43"
    assert "messages" not in dict(fingerprints_rows(before))
    assert after["messages"] == consolidated["entries"] == 40
    assert dict(fingerprints_rows(after))["read"] == "the history that consolidate verified"
