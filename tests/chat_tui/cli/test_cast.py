"""Casts: the published format of asciicast v2, and the demo's screen in it."""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from chat_tui.cli import cast
from chat_tui.cli.cast import Size, Writer, record
from chat_tui.cli.main import cli
from sync.errors import LocalError
from tests.support.chat_tui.casts import checked


def output(events: Sequence[tuple[float, str, str]]) -> str:
    return "".join(data for _, code, data in events if code == "o")


def test_half_a_character_waits_for_its_other_half() -> None:
    file = io.StringIO()
    writer = Writer(file, Size(80, 24), "demo")
    sign = "▶".encode()
    writer.output(0.5, b"\x1b[1m" + sign[:1])
    writer.output(0.7, sign[1:] + b"\r\n")
    writer.resized(0.9, Size(100, 30))

    header, events = checked(file.getvalue())

    assert (header["width"], header["height"], header["title"]) == (80, 24, "demo")
    assert events == [(0.5, "o", "\x1b[1m"), (0.7, "o", "▶\r\n"), (0.9, "r", "100x30")]


def test_a_cast_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cast, "BYTES_MAX", 500)
    writer = Writer(io.StringIO(), Size(80, 24), "demo")

    with pytest.raises(LocalError, match="at most"):
        writer.output(0.0, b"x" * 500)


@pytest.mark.net
def test_what_a_command_writes_to_its_terminal_is_in_the_cast(tmp_path: Path) -> None:
    file = tmp_path / "x.cast"
    program = "import os, sys; print(os.get_terminal_size(), sys.stdout.isatty()); sys.exit(3)"

    status = record(file, [sys.executable, "-c", program], "a test")

    _, events = checked(file.read_text())
    assert status == 3
    assert output(events) == "os.terminal_size(columns=80, lines=24) True\r\n"
    assert [one.name for one in tmp_path.iterdir()] == ["x.cast"]


@pytest.mark.net
def test_a_command_that_is_too_much_ends_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cast, "BYTES_MAX", 10_000)
    program = "while True: print('again')"

    with pytest.raises(LocalError, match="at most"):
        record(tmp_path / "x.cast", [sys.executable, "-c", program], "a test")

    assert not [*tmp_path.iterdir()]


def test_a_cast_that_cannot_be_written_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="name another file with --cast"):
        record(tmp_path / "no" / "x.cast", ["true"], "a test")


def test_a_cast_takes_the_place_of_no_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(LocalError, match="no ordinary file"):
        record(pipe, ["true"], "a test")

    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]


@pytest.mark.parametrize("options", [["--cast"], ["--plain", "--scenario=1", "--record"]])
def test_no_setting_of_that_value_changes_no_file(options: list[str], tmp_path: Path) -> None:
    file = tmp_path / "x.cast"
    file.write_text("an earlier one")

    result = CliRunner().invoke(cli, ["demo", "--set", "theme=nope", *options, str(file)])

    assert isinstance(result.exception, LocalError)
    assert "nope is not valid" in str(result.exception)
    assert file.read_text() == "an earlier one"


@pytest.mark.parametrize(
    ("recording", "said"), [("x.cast", "it takes two"), ("no/x.demo", "name another file")]
)
def test_a_recording_that_cannot_be_beside_a_cast_is_said_before_it_begins(
    recording: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.cast"
    file.write_text("an earlier one")
    options = ["--cast", str(file), "--record", str(tmp_path / recording)]

    result = CliRunner().invoke(cli, ["demo", "--scenario=2", "--speed=16", *options])

    assert isinstance(result.exception, LocalError)
    assert said in str(result.exception)
    assert file.read_text() == "an earlier one"


def test_lines_have_no_cast(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["demo", "--plain", "--cast", str(tmp_path / "x")])

    assert isinstance(result.exception, LocalError)
    assert "--plain" in str(result.exception)


@pytest.mark.net
def test_the_demo_is_played_once_into_a_cast(tmp_path: Path) -> None:
    file = tmp_path / "x.cast"

    result = CliRunner().invoke(
        cli, ["demo", "--scenario", "2", "--speed", "16", "--cast", str(file)]
    )

    assert result.exit_code == 0
    header, events = checked(file.read_text())
    assert (header["width"], header["height"]) == (80, 24)
    assert header["title"] == "chat-tui demo: Two people write at once"
    text = output(events)
    assert "You will see" in text
    assert "Every promise holds." in text
    assert text.index("You will see") < text.index("Every promise holds.")
