"""A full or a read-only disk under real programs; the scenes are those of `tests.small_disk`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.small_disk import SCENES

pytestmark = [pytest.mark.net, pytest.mark.slow]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_lost_that_was_said_to_be_kept(scene: str, tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    for directory in (small, large):
        directory.mkdir()
    play = f"exec {sys.executable} -m tests.small_disk {scene} {small} {large}"
    mount = f"mount -t tmpfs -o size=3m none {small} && {play}"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]

    played = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=150
    )

    assert played.returncode == 0, played.stdout + played.stderr
