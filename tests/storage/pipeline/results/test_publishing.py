"""Results appear whole or not at all, and one run at a time writes them."""

from pathlib import Path

import pytest

from storage.pipeline.errors import PipelineError
from storage.pipeline.results.publishing import Results


def test_a_place_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    below = Results(tmp_path / "file" / "below")

    with pytest.raises(PipelineError, match="name another one by --out"), below.locked():
        pass


def test_only_to_look_leaves_nothing(tmp_path: Path) -> None:
    assert Results(tmp_path / "out").published("audit") is None
    assert not (tmp_path / "out").exists()


def test_two_commands_do_not_write_to_one_place_at_once(tmp_path: Path) -> None:
    one, two = Results(tmp_path), Results(tmp_path)
    with one.locked(), pytest.raises(PipelineError, match="Another run writes"), two.locked():
        pass

    with two.locked():
        pass


def test_what_a_killed_run_left_is_removed_and_what_counts_stays(tmp_path: Path) -> None:
    results = Results(tmp_path)
    with results.run("audit") as run:
        (run.directory / "good").touch()
    (tmp_path / "runs" / "audit-2").mkdir()

    with results.locked():
        pass

    published = results.published("audit")
    assert published is not None
    assert [path.name for path in (tmp_path / "runs").iterdir() if path.is_dir()] == ["audit-1"]
    assert [path.name for path in published.directory.iterdir()] == ["good"]
