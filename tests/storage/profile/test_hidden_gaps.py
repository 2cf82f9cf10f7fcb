"""A line about a gap that was hidden stays hidden after a restart, until it is asked for again."""

import json
from pathlib import Path

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.model.reading_state import Kept
from chat_tui.transcript.painted_line import Part
from storage.profile.hidden_gaps import CHANNELS_MAX, GAPS_MAX, SIZE_MAX, HiddenGaps
from storage.profile.read_marks import ReadMarks
from sync.machine import ChannelId, MessageId
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import LOBBY
from tests.support.chat_tui.readings import command, shown, until
from tests.support.chat_tui.scenes import Scene

LOST = "an earlier message could not be found"


def app_of(scene: Scene, directory: Path) -> ChatApp:
    async def start() -> None:
        """There is no network to bring up."""

    return ChatApp(
        scene.chat,
        start,
        kept=Kept(ReadMarks(directory / "read.json"), HiddenGaps(directory / "hidden.json")),
    )


def ids(number: int) -> list[MessageId]:
    return [MessageId(f"{one:064x}") for one in range(number)]


async def test_what_was_hidden_is_hidden_at_the_next_start_until_it_is_shown(
    tmp_path: Path,
) -> None:
    scene = scenes.morning()
    first = app_of(scene, tmp_path)
    async with first.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: LOST in shown(first))
        await pilot.press("ctrl+t")
        while first.transcript.part is not Part.GAP:
            await pilot.press("up")
        await until(pilot, lambda: first._seen._resumed)
        await pilot.press("h")
        await until(pilot, lambda: LOST not in shown(first))
    again = app_of(scene, tmp_path)
    async with again.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: again._seen._resumed)
        await pilot.pause()
        hidden = shown(again)
        await command(pilot, "/hide off")
        await until(pilot, lambda: LOST in shown(again))
    third = app_of(scene, tmp_path)
    async with third.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: third._seen._resumed)
        await pilot.pause()
        shown_again = shown(third)

    assert LOST not in hidden
    assert LOST in shown_again


def test_those_that_were_hidden_last_are_kept(tmp_path: Path) -> None:
    gaps = HiddenGaps(tmp_path / "hidden.json")
    channels = [ChannelId(f"{one:064x}") for one in range(CHANNELS_MAX + 1)]

    gaps.save(dict.fromkeys(channels, ids(GAPS_MAX + 1)))

    assert gaps.load() == dict.fromkeys(channels[1:], ids(GAPS_MAX + 1)[1:])
    assert (tmp_path / "hidden.json").stat().st_size < SIZE_MAX


@pytest.mark.parametrize(
    "content", ["", "[]", '{"a": 1}', '{"a": [1]}', "[" * 100_000, json.dumps({LOBBY: [None]})]
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "hidden.json").write_text(content)

    assert HiddenGaps(tmp_path / "hidden.json").load() == {}
