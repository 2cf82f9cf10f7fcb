"""The screen of somebody who comes with nothing: one bar with numbers, then all there is."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from storage.sqlite.writes import swapping
from sync.runner.journal import Swap
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import meet, opened, run, running
from tests.support.chat_tui.live_screens import lobby, screen, type_in, until
from tests.support.chat_tui.readings import press, shown
from tests.support.chat_tui.screenshots import NARROW, WIDE

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])


def names_at(client: Client) -> set[str]:
    """Names that people signed in the first channel, also those of the absent."""
    return {one.nick for one in client.snapshot().channels[0].state.profiles}


@SIZES
async def test_a_snapshot_on_its_way_is_one_bar_with_its_numbers(size: tuple[int, int]) -> None:
    scene = scenes.newcomer()
    app = scenes.screen_of(scene)
    async with app.run_test(size=size) as pilot:
        scenes.first_pages(scene)
        app._tick()
        await pilot.pause()
        text = shown(app)
        [session] = [one for one in scene.snapshot().sessions if one.protocol == "snapshot"]

    assert 0 < session.got < session.need == scenes.LINES + 1
    [line] = [line for line in text.splitlines() if "Getting history" in line]
    assert f"Getting history from bob: need {session.need}, got {session.got}." in line
    assert line.count("▰") > 1
    assert text.count("▱") == line.count("▱") > 1
    assert "getting history" in text.splitlines()[0]
    assert "Nothing was written" not in text
    assert "The history of #lobby is coming" in text


@pytest.mark.slow
@SIZES
async def test_what_a_newcomer_took_and_compared_has_cards_in_words(size: tuple[int, int]) -> None:
    scene = scenes.newcomer()
    scenes.everything(scene)
    app = scenes.screen_of(scene)
    async with app.run_test(size=size) as pilot:
        await press(pilot, "f2", "4")
        pages: list[str] = []
        for _ in range(12):
            pages += shown(app).splitlines()
            await press(pilot, "alt+pagedown")
    said = " ".join(" ".join(page.replace("│", " ").split()) for page in pages)

    for words in (
        f"{scenes.LINES + 1} messages",  # how the snapshot ended
        "page 1:",
        "both have the same",
        "we have nothing here yet",
    ):
        assert words in said, words
    for protocol in ("snapshot", "log"):
        assert f" {protocol} " in said, protocol


@pytest.mark.net
@pytest.mark.slow
@SIZES
async def test_what_came_shows_topic_pins_and_the_names_of_the_absent(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with (
        opened(tmp_path, "alice") as alice,
        running(tmp_path, "bob") as bob,
        screen(alice, size) as (app, pilot),
    ):
        async with running(tmp_path, "carol") as carol:
            await meet(carol, bob)
            await run(carol, "/nick carol of the office")
            await carol.send_text(lobby(carol), "the demo is at three")
            await until(pilot, lambda: bob.snapshot().channels[0].messages == 1)
            await until(pilot, lambda: "carol of the office" in names_at(bob))
        for number in range(30):
            await bob.send_text(lobby(bob), f"and box {number + 1} of 30")
        await run(bob, "/topic room 2 at three")
        [first] = await bob.history.named(lobby(bob), "", limit=1)
        await bob.stating.pin(lobby(bob), first.message_id)
        await meet(bob, alice)
        await until(pilot, lambda: "and box 30 of 30" in shown(app))
        await until(pilot, lambda: "room 2 at three" in shown(app).splitlines()[0])
        await until(pilot, lambda: "in sync" in shown(app))
        await until(pilot, lambda: "carol of the office" in names_at(alice))
        await until(pilot, lambda: alice.snapshot().channels[0].messages == 31)
        pins = await Commands(alice).run("/pins", At(lobby(alice)))
        info = alice.snapshot().channels[0]
        text = shown(app)

    assert info.messages == 31
    assert "1 line pinned" in pins.text
    assert "Getting history" not in text


LOOK_S = 0.01
"""Between two looks whether a line waits."""


class SlowSwap:
    """A swap on a disk that takes its time, until a line waits or it is no longer busy."""

    def __init__(self, swap: Swap, busy: asyncio.Event) -> None:
        self._swap, self._busy = swap, busy

    async def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        while not (is_awaited() or self._busy.is_set()):
            # of lines none tells, so it looks now and then, as the screen needs the processor
            with suppress(TimeoutError):
                await asyncio.wait_for(self._busy.wait(), LOOK_S)
        return await self._swap.go_on(is_awaited)


@pytest.mark.net
async def test_a_line_written_while_a_history_is_saved_is_written_and_painted_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swapping, "RECORDS_AT_ONCE", 1)
    busy = asyncio.Event()
    async with (
        opened(tmp_path, "alice") as alice,
        running(tmp_path, "bob") as bob,
        screen(alice, WIDE) as (app, pilot),
    ):
        journal = alice._node._journal
        swap = journal.swap
        journal.swap = lambda channel, replay: SlowSwap(swap(channel, replay), busy)  # type: ignore[method-assign]
        for number in range(20):
            await bob.send_text(lobby(bob), f"box {number + 1} of 20")
        await meet(bob, alice)
        await until(pilot, lambda: "Saving 20 messages; you can write" in shown(app))
        await type_in(pilot, "I will be there")
        await until(pilot, lambda: "I will be there" in shown(app))
        [mine] = await alice.history.page(lobby(alice), before=None, limit=100)
        assert alice.snapshot().channels[0].saving == 20
        meanwhile = shown(app)
        busy.set()
        await until(pilot, lambda: alice.snapshot().channels[0].messages == 21)
        await until(pilot, lambda: "Saving" not in shown(app) and "20 of 20" in shown(app))
        text = shown(app)
        lines = await alice.history.page(lobby(alice), before=None, limit=100)

    assert mine.text == "I will be there"
    assert "20 of 20" in meanwhile, "what comes is in sight"
    assert text.count("I will be there") == 1
    assert [one.text for one in lines].count("I will be there") == 1
    assert len(lines) == 21
