"""Exports and results on a disk that gets full (scenes: `tests.support.storage.full_disk`)."""

from pathlib import Path

import pytest

from tests.conftest import need_java
from tests.support.storage.full_disk import SCENES
from tests.support.storage.mounted import can_mount, play

pytestmark = pytest.mark.slow

MARKS = {
    "results_and_their_report": [pytest.mark.spark, pytest.mark.grid],
    "what_spark_keeps_aside": [pytest.mark.spark],
}


@can_mount
@pytest.mark.parametrize(
    "scene",
    [pytest.param(scene, marks=MARKS.get(scene, ())) for scene in SCENES],
)
def test_a_full_disk_is_said_and_costs_nothing_that_was_there(scene: str, tmp_path: Path) -> None:
    if scene in MARKS:
        need_java()
    play("tests.support.storage.full_disk", scene, tmp_path, within_s=400)
