"""Recordings go into a file of our own, and nowhere that somebody else prepared."""

import os
import resource
from pathlib import Path
from typing import Final

import pytest

from sync.errors import LocalError
from sync.machine import ChannelId, Nanos
from sync.net.trace import Trace
from sync.view.frame_tap import Tap
from sync.view.recording import open_recording
from sync.view.view import FrameKind

TRACED: Final = b'{"now": '


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("victim"))


def linked(path: Path) -> None:
    path.with_name("victim").write_text("theirs")
    path.symlink_to(path.with_name("victim"))


def hard_linked(path: Path) -> None:
    path.with_name("victim").write_text("theirs")
    path.hardlink_to(path.with_name("victim"))


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


RECORDERS: Final = pytest.mark.parametrize(
    "record", [Trace, Trace().begin, Tap().record], ids=["--trace", "/trace", "/wire"]
)


@pytest.mark.parametrize("prepare", [dangling, linked, hard_linked, pipe, device])
@RECORDERS
def test_what_waits_at_the_place_is_not_written_to(
    tmp_path: Path, prepare: object, record: object
) -> None:
    path = tmp_path / "recorded"
    assert callable(prepare)
    assert callable(record)
    prepare(path)

    with pytest.raises(LocalError, match=r"[Nn]ame another file"):
        record(path)

    victim = tmp_path / "victim"
    assert not victim.exists() or victim.read_text() == "theirs"


@pytest.mark.parametrize(
    "text", ["chat-tui identity 1\n", "SQLite format 3\0", '{"nick": "alice"}\n', "{"]
)
@RECORDERS
def test_a_file_that_holds_something_else_stays_as_it_is(
    tmp_path: Path, text: str, record: object
) -> None:
    path = tmp_path / "kept"
    path.write_text(text)
    assert callable(record)

    with pytest.raises(LocalError, match=r"holds something else. Name another file"):
        record(path)

    assert path.read_text() == text


def test_a_recording_goes_on_where_one_of_its_kind_ended(tmp_path: Path) -> None:
    trace, frames = tmp_path / "trace", tmp_path / "frames"
    for _ in range(2):
        traced = Trace(trace)
        traced(Nanos(1), "runner", None, ())
        traced.close()
        tap = Tap()
        tap.record(frames)
        tap.note_frame(Nanos(1), ChannelId("#tea"), None, FrameKind.SDS, b"data", sent=True)
        tap.stop()

    assert [len(path.read_text().splitlines()) for path in (trace, frames)] == [2, 2]
    with pytest.raises(LocalError, match="something else"):
        Trace(frames)
    with pytest.raises(LocalError, match="something else"):
        Tap().record(trace)


def test_a_link_that_is_made_at_the_last_moment_is_not_followed_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "recorded"
    linked(path)
    monkeypatch.setattr(Path, "is_symlink", lambda _: False)

    with pytest.raises(OSError, match="symbolic links"):
        open_recording(path, TRACED)

    assert (tmp_path / "victim").read_text() == "theirs"


def test_a_file_of_another_user_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "recorded"
    path.write_text("theirs")
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)

    with pytest.raises(LocalError, match="belongs to another user"):
        open_recording(path, TRACED)

    assert path.read_text() == "theirs"


def test_our_own_file_goes_on_and_is_ours_alone(tmp_path: Path) -> None:
    for text in ('{"now": 1}', '{"now": 2}'):
        with open_recording(tmp_path / "recorded", TRACED) as file:
            file.write(text)

    assert (tmp_path / "recorded").read_text() == '{"now": 1}{"now": 2}'
    assert (tmp_path / "recorded").stat().st_mode & 0o777 == 0o600


def test_a_disk_that_fills_ends_the_recording_of_frames_and_that_is_said_once(
    tmp_path: Path,
) -> None:
    tap = Tap()
    tap.record(tmp_path / "recorded")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        tap.note_frame(Nanos(1), ChannelId("#tea"), None, FrameKind.SDS, b"data", sent=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    with pytest.raises(LocalError, match="recording of frames has ended after 0 of them"):
        tap.check()
    tap.check()
    assert tap.recorded is None
    assert len(tap.frames()) == 1
