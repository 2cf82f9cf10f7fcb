"""Small files of exports: the old one or the new one whole, after a power cut too."""

import os
from pathlib import Path

import pytest

from storage.archive.tables import replace_text


def test_a_text_is_on_the_disk_before_it_takes_the_place_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "export.json"
    path.write_text("old")
    synced: list[tuple[str, str]] = []
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        sync(descriptor)
        written = Path(f"/proc/self/fd/{descriptor}").read_text()
        synced.append((written, path.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    replace_text(path, "new")

    assert synced == [("new", "old")]
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
