"""Scenes of programs on a disk of 3 MB, which is mounted for them alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT

can_mount = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


def play(module: str, scene: str, place: Path, *, within_s: float) -> None:
    """Play a scene of a module of tests, which is given a small and a large directory.

    Raises:
        AssertionError: it failed; says what it wrote.
    """
    small, large = place / "small", place / "large"
    for directory in (small, large):
        directory.mkdir()
    scene_itself = f"exec {sys.executable} -m {module} {scene} {small} {large}"
    mount = f"mount -t tmpfs -o size=3m none {small} && {scene_itself}"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]

    played = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=within_s
    )

    assert played.returncode == 0, played.stdout + played.stderr
