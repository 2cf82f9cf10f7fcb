"""Exports and results on a disk that gets full; the scenes are those of `tests.full_disk`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import need_java
from tests.full_disk import SCENES
from tests.processes import ROOT

pytestmark = pytest.mark.slow

WITH_SPARK = ("results_and_their_report", "what_spark_keeps_aside")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
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
    small, large = tmp_path / "small", tmp_path / "large"
    for directory in (small, large):
        directory.mkdir()
    play = f"exec {sys.executable} -m tests.full_disk {scene} {small} {large}"
    mount = f"mount -t tmpfs -o size=3m none {small} && {play}"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]

    played = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=400
    )

    assert played.returncode == 0, played.stdout + played.stderr
