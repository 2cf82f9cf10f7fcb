"""`chat-tui export`: what it refuses, and what the command says."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from chat_tui.cli import main
from storage.archive.exporter import Exporter, Wanted
from storage.archive.tables import HISTORY_DIR, NOTE
from storage.extras import how_to_install
from sync.errors import LocalError
from sync.machine import ChannelId
from tests.support.chat_tui.chats import running
from tests.support.storage.exports import Owner, history, log_of, note_of, read
from tests.support.storage.stores import delivered, membership

# --- What is refused ---------------------------------------------------------------------------


async def test_another_profiles_export_is_left_alone(tmp_path: Path) -> None:
    owner, other, out = Owner(tmp_path), Owner(tmp_path, "other"), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    await other.hold(delivered(*history(1)))
    owner.export(out)

    with pytest.raises(LocalError, match="another profile"):
        other.export(out)


async def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    out.mkdir()
    (out / "letter.txt").write_text("dear")

    with pytest.raises(LocalError, match="holds other files"):
        owner.export(out)

    assert [path.name for path in out.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ('{"format": 1}', "cannot be read"),
        ('{"format": 99, "nodes": [], "more": {}}', "another version"),
    ],
)
async def test_a_note_that_is_not_ours_to_go_on_from_is_said(
    tmp_path: Path, text: str, said: str
) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    out.mkdir()
    (out / NOTE).write_text(text)

    with pytest.raises(LocalError, match=said):
        owner.export(out)


async def test_what_a_newer_program_wrote_is_not_guessed_at(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    owner.note(*log_of(0))
    for name, said in (("protocol.db", "another version"), ("chat.db", "newer chat-tui")):
        with closing(sqlite3.connect(owner.directory / name)) as db:
            db.execute("PRAGMA user_version = 99")
        with pytest.raises(LocalError, match=said):
            owner.export(out)

    assert not (out / NOTE).exists()


async def test_a_channel_of_two_is_named_as_the_chat_names_it(tmp_path: Path) -> None:
    owner, other = Owner(tmp_path), ChannelId("0d" * 16)
    of_two = replace(membership(other, "tea"), direct=owner.peer_id)
    await owner.hold(
        delivered(*history(1), *history(2, channel=other)), rooms=(membership(), of_two)
    )

    assert owner.export(tmp_path / "two", Wanted("@tea")).messages == 2
    assert owner.export(tmp_path / "open", Wanted("#tea")).messages == 1
    assert owner.export(tmp_path / "both", Wanted("tea")).messages == 3
    with pytest.raises(LocalError, match="no channel @nobody in this profile; there are: #tea, @"):
        owner.export(tmp_path / "none", Wanted("@nobody"))
    assert not (tmp_path / "none").exists()


async def test_two_exports_at_once_are_refused(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))

    def again(_done: int, _total: int) -> None:
        owner.export(out)

    with pytest.raises(LocalError, match="Another export"):
        Exporter(owner.directory, out, Wanted()).run(again)


def exported(data_dir: Path, *words: str) -> tuple[int, str]:
    """Exit status and output of the command."""
    result = CliRunner().invoke(
        main.cli, ["export", *words, "--data-dir", str(data_dir), "--profile", "me"]
    )
    return result.exit_code, result.output


async def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), str(tmp_path / "out")
    await owner.hold(delivered(*history(5)))
    owner.note(*log_of(0))

    first, again = exported(tmp_path, out), exported(tmp_path, out)

    assert first[0] == again[0] == 0
    assert "Exported 5 messages and 5 rows of the protocol log to" in first[1]
    assert "3 files written, 0 files unchanged" in first[1]
    assert "has everything already: 3 files unchanged" in again[1]


def test_the_command_says_in_one_sentence_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    nobody = exported(tmp_path, str(tmp_path / "out"))
    Owner(tmp_path)
    empty = exported(tmp_path, str(tmp_path / "out"))
    unwritable = exported(tmp_path, str(tmp_path / "file" / "out"))
    unreachable = exported(tmp_path / ("x" * 300), str(tmp_path / "out"))

    assert nobody[0] == empty[0] == unwritable[0] == unreachable[0] == 2
    assert "There is no profile" in nobody[1]
    assert "cannot be read" in empty[1]
    assert "Cannot use the profile" in unreachable[1]


async def test_a_place_that_cannot_be_written_is_said_with_the_fix(tmp_path: Path) -> None:
    await Owner(tmp_path).hold(delivered(*history(1)))
    (tmp_path / "file").write_text("")

    status, said = exported(tmp_path, str(tmp_path / "file" / "out"))

    assert status == 2
    assert "name another directory" in said


async def test_a_place_whose_name_is_no_text_is_said_and_not_made(tmp_path: Path) -> None:
    await Owner(tmp_path).hold(delivered(*history(1)))
    out = tmp_path / os.fsdecode(b"inv\xffalid")

    status, said = exported(tmp_path, str(out))

    assert status == 2
    assert "is not UTF-8: name another directory" in said
    assert not out.exists()


def test_without_pyarrow_the_fix_is_said(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None; from chat_tui.cli.main import main; main()"
    )
    for words in (["export", str(tmp_path / "a")], ["sim", "--export", str(tmp_path / "b")]):
        result = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
        )

        assert result.returncode == 2
        assert how_to_install("export") in result.stderr


@pytest.mark.net
async def test_the_chat_may_be_running(tmp_path: Path) -> None:
    async with running(tmp_path, "me") as chat:
        channel = chat.first_channel
        assert channel is not None
        first = await chat.send_text(channel, "one")
        during = exported(tmp_path, str(tmp_path / "out"))
        ids = [row["message_id"].hex() for row in read(tmp_path / "out", HISTORY_DIR)]
        second = await chat.send_text(channel, "two")
    after = exported(tmp_path, str(tmp_path / "out"))

    assert during[0] == after[0] == 0
    assert ids == [first]
    rows = read(tmp_path / "out", HISTORY_DIR)
    assert [row["message_id"].hex() for row in rows] == [first, second]
    [boot] = note_of(tmp_path / "out")["more"]["boots"]
    assert (boot["last"], boot["cut_short"]) == (4, False)
