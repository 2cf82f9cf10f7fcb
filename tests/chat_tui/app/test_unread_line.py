"""The line above what is new, after a restart, over a real disk and a real network."""

import re
from pathlib import Path

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.model.reading_state import Kept
from storage.profile.read_marks import ReadMarks
from sync.machine import ChannelId
from tests.support.chat_tui.acquainted import acquainted
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.chat_tui.live_screens import screen, until
from tests.support.chat_tui.readings import press, shown

pytestmark = pytest.mark.net


def marks(data_dir: Path) -> Kept:
    return Kept(ReadMarks(data_dir / "read.json"))


async def read_all(data_dir: Path) -> ChannelId:
    """Bob writes a line, which alice reads before she leaves."""
    async with opened(data_dir, "alice") as alice, running(data_dir, "bob") as bob:
        async with screen(alice, kept=marks(data_dir)) as (app, pilot):
            from_alice = Heard(alice)
            await meet(bob, alice)
            await bob.send_text(lobby(bob), "good night")
            await from_alice.texts(1)  # it may have been on the screen before, on its way
            await until(pilot, lambda: "good night" in shown(app))
        return lobby(alice)


def rules(app: ChatApp) -> list[str]:
    """The lines that say how many are new."""
    return re.findall(r"─ ([0-9]+ new) ─", shown(app))


async def above_new_lines(data_dir: Path, newest: str) -> tuple[list[str], list[str]]:
    """Return what stands above what is new when alice has the newest line; and a line later."""
    async with (
        opened(data_dir, "alice") as alice,
        running(data_dir, "bob") as bob,
        screen(alice, kept=marks(data_dir)) as (app, pilot),
    ):
        await meet(bob, alice)
        await until(pilot, lambda: newest in shown(app))
        await pilot.pause()
        lines = rules(app)
        await bob.send_text(lobby(bob), "to your face")
        await until(pilot, lambda: "to your face" in shown(app))
        return lines, rules(app)


async def test_all_that_was_written_meanwhile_counts_though_none_of_it_was_on_the_disk(
    tmp_path: Path,
) -> None:
    await read_all(tmp_path)
    async with running(tmp_path, "bob") as bob:
        for number in range(3):
            await bob.send_text(lobby(bob), f"dream {number}")

    assert await above_new_lines(tmp_path, "dream 2") == (["3 new"], ["3 new"])


async def test_what_the_disk_had_and_what_comes_later_are_one_number(tmp_path: Path) -> None:
    await read_all(tmp_path)
    async with running(tmp_path, "bob") as bob:
        await bob.send_text(lobby(bob), "dream 0")
        async with running(tmp_path, "alice") as alice:  # without a screen: nobody reads
            from_alice = Heard(alice)
            await acquainted(alice, bob)
            assert await from_alice.texts(1) == ["dream 0"]
        for number in (1, 2):
            await bob.send_text(lobby(bob), f"dream {number}")

    assert (await above_new_lines(tmp_path, "dream 2"))[0] == ["3 new"]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_line_stands_above_the_first_new_one_when_one_goes_up_there_and_then_goes(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    await read_all(tmp_path)
    async with running(tmp_path, "bob") as bob:
        for number in range(60):
            await bob.send_text(lobby(bob), f"dream {number}")
        async with (
            opened(tmp_path, "alice") as alice,
            screen(alice, size, marks(tmp_path)) as (app, pilot),
        ):
            await meet(bob, alice)
            await until(pilot, lambda: "dream 59" in shown(app))
            await pilot.pause()
            at_the_end = rules(app)
            await press(pilot, "alt+u")
            await until(pilot, lambda: "dream 0" in shown(app))
            await pilot.pause()
            up_there = rules(app)
            await press(pilot, "escape", "ctrl+end")
            await until(pilot, lambda: "dream 59" in shown(app))
            await press(pilot, "pageup")
            first_unread = app.transcript.conversation.first_unread

    assert at_the_end == []
    assert up_there == ["60 new"]
    assert first_unread is None, "it was read"
