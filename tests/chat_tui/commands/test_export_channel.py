"""A channel written to a file: whole, clean, in pages, and never over another file."""

import errno
import json
import os
import resource
from pathlib import Path

import pytest

from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.model import channel_file
from chat_tui.model.new_file import NewFile
from sync.errors import LocalError
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import LONG, long_talk, short_talk
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

NAUGHTY = "\x1b[31mred\u202e\n# no heading\n- no *list* <b>\n3. [link](x)"

pytestmark = pytest.mark.usefixtures("in_utc")


async def exported(scene: Scene, line: str) -> Result:
    return await Commands(scene.chat).run(line, At(scene.world.channel))


def names_in(directory: Path) -> list[str]:
    return [one.name for one in directory.iterdir()]


def naughty_talk() -> Scene:
    """Somebody tries to steer the reader's terminal, and to look like Markdown."""
    scene = Scene("alice", "bob")
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(BOB, NAUGHTY)
    scene.say(ALICE, "please don't")
    return scene


async def test_text_has_days_times_names_and_hanging_lines(tmp_path: Path) -> None:
    result = await exported(short_talk(), f"/export txt {tmp_path}/talk.txt")

    assert result.ok
    assert "5 messages of #lobby written to" in result.text
    lines = (tmp_path / "talk.txt").read_text().splitlines()
    assert lines[0] == ""
    assert lines[1].startswith("Monday, ")
    assert lines[2].endswith(" bob: Alice, the projector is in room 2")
    assert lines[5:7] == [lines[5], "      and a table"]
    assert len(lines) == 8
    assert names_in(tmp_path) == ["talk.txt"]


async def test_what_somebody_does_is_written_as_it_is_shown(tmp_path: Path) -> None:
    scene = short_talk()
    scene.say(BOB, "/me waves")

    await exported(scene, f"/export txt {tmp_path}/talk.txt")

    assert (tmp_path / "talk.txt").read_text().endswith(" bob: * bob waves\n")


async def test_markdown_shows_what_was_written_and_nothing_of_peers_is_markup(
    tmp_path: Path,
) -> None:
    await exported(naughty_talk(), f"/export {tmp_path}/talk.md")

    text = (tmp_path / "talk.md").read_text()
    assert text.startswith("# \\#lobby\n\n## Monday, ")
    assert "- **bob** " in text
    assert (
        "  red  \n  \\# no heading  \n  \\- no \\*list\\* \\<b\\>  \n  3\\. \\[link\\](x)\n" in text
    )
    assert "\x1b" not in text
    assert "\u202e" not in text


async def test_json_lines_have_every_message_in_order_and_clean(tmp_path: Path) -> None:
    await exported(long_talk(), f"/export JSONL {tmp_path}/talk")
    await exported(naughty_talk(), f"/export jsonl {tmp_path}/naughty")

    rows = [json.loads(line) for line in (tmp_path / "talk").read_text().splitlines()]
    assert LONG > channel_file.PAGE
    assert [row["text"] for row in rows[:2]] == ["line 0", "line 1"]
    assert len({row["id"] for row in rows}) == len(rows) == LONG
    assert rows == sorted(rows, key=lambda row: (row["lamport"], row["id"]))
    naughty = json.loads((tmp_path / "naughty").read_text().splitlines()[0])
    assert naughty["text"] == "red\n# no heading\n- no *list* <b>\n3. [link](x)"
    assert naughty["channel"] == "#lobby"


async def test_edits_and_reactions_and_what_was_deleted_are_told(tmp_path: Path) -> None:
    scene = short_talk()
    for line in ("/edit changed", "/react heart"):
        assert (await exported(scene, line)).ok
    await exported(scene, f"/export {tmp_path}/one.txt")
    assert (await exported(scene, "/delete")).ok
    await exported(scene, f"/export {tmp_path}/two.txt")

    first, second = ((tmp_path / name).read_text() for name in ("one.txt", "two.txt"))
    assert "alice: changed (edited)" in first
    assert "\u2764 1]" in first
    assert "alice: (deleted by its author)" in second


async def test_no_file_is_overwritten_nor_a_broken_link_followed(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("mine")
    (tmp_path / "link.txt").symlink_to(tmp_path / "nowhere")
    for name in ("talk.txt", "link.txt"):
        result = await exported(short_talk(), f"/export txt {tmp_path}/{name}")
        assert not result.ok
        assert "already exists and is not overwritten" in result.text

    assert (tmp_path / "talk.txt").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_who_comes_first_keeps_the_name(tmp_path: Path) -> None:
    with NewFile(tmp_path / "talk.txt") as file:
        file.add("late")
        (tmp_path / "talk.txt").write_text("first")
        with pytest.raises(LocalError, match="already exists"):
            file.put()

    assert names_in(tmp_path) == ["talk.txt"]
    assert (tmp_path / "talk.txt").read_text() == "first"


def test_a_disk_without_links_gets_the_file_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    with NewFile(tmp_path / "talk.txt") as file:
        file.add("all")
        file.put()

    assert (tmp_path / "talk.txt").read_text() == "all"
    assert names_in(tmp_path) == ["talk.txt"]


def test_a_full_disk_leaves_nothing_of_a_file(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = NewFile(tmp_path / "talk.txt")
    file.add("all of it")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            file.__exit__()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert names_in(tmp_path) == []


async def test_a_place_that_cannot_be_written_is_named_and_left_as_it_was(tmp_path: Path) -> None:
    result = await exported(short_talk(), f"/export txt {tmp_path}/none/talk.txt")

    assert not result.ok
    assert "cannot be written (No such file or directory): name a file" in result.text
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    ["/export", "/export txt", "/export pdf talk.pdf", "/export talk", "/export pdf talk.md"],
)
async def test_what_is_missing_is_said_with_an_example(line: str) -> None:
    result = await exported(short_talk(), line)

    assert not result.ok
    assert "as in /export md plans.md" in result.text


async def test_an_empty_channel_makes_no_file(tmp_path: Path) -> None:
    result = await exported(scenes.empty(), f"/export txt {tmp_path}/talk.txt")

    assert not result.ok
    assert "#lobby has no messages yet" in result.text
    assert names_in(tmp_path) == []
