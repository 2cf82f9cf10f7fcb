"""Real programs on a full or read-only disk (scenes: `tests.support.storage.small_disk`)."""

from pathlib import Path

import pytest

from tests.support.storage.mounted import can_mount, play
from tests.support.storage.small_disk import SCENES

pytestmark = [pytest.mark.net, pytest.mark.slow]


@can_mount
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_lost_that_was_said_to_be_kept(scene: str, tmp_path: Path) -> None:
    play("tests.support.storage.small_disk", scene, tmp_path, within_s=150)
