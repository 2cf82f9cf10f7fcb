"""Exports and results on a disk that gets full (scenes: `tests.support.storage.full_disk`)."""

from pathlib import Path

import pytest

from tests.conftest import need_java
from tests.support.storage.full_disk import SCENES
from tests.support.storage.mounted import can_mount, play

pytestmark = pytest.mark.slow

WITH_SPARK = ("results_and_their_report", "what_spark_keeps_aside")


@can_mount
@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(scene, marks=pytest.mark.spark if scene in WITH_SPARK else ())
        for scene in SCENES
    ],
)
def test_a_full_disk_is_said_and_costs_nothing_that_was_there(scene: str, tmp_path: Path) -> None:
    if scene in WITH_SPARK:
        need_java()
    play("tests.support.storage.full_disk", scene, tmp_path, within_s=400)
