"""Typing notices on a screen: over the simulator, whose time passes when a test says so."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.client.simulated import SimulatedChat
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.line_mode.output import TextFace
from sync.group.typing_notices import LASTS
from sync.machine import SECOND
from sync.sim.world import World
from sync.view.view import TypingShown
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.conversations import LOBBY, peer

NAMES = ("alice", "bob", "carol", "dave")
ALICE, BOB, CAROL, DAVE = range(4)


class Room:
    """Four people who see each other; alice is at the screen."""

    def __init__(self) -> None:
        self.world = World(len(NAMES), seed=4)
        self.chat, self.bobs = (SimulatedChat(self.world, who, NAMES) for who in (ALICE, BOB))
        self.world.run(6 * SECOND)
        self.app = ChatApp(self.chat, scenes.no_network)

    def typists_for_bob(self) -> list[str]:
        [info] = self.bobs.snapshot().channels
        return [typist.nick for typist in info.typists]

    def status(self) -> str:
        """The line above the input."""
        lines = [strip.text for strip in self.app.screen._compositor.render_strips()]
        [composer] = [at for at, line in enumerate(lines) if "to #sim" in line]
        return lines[composer - 1].strip()


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    while not true():
        await pilot.pause()


async def test_the_line_above_the_input_names_who_types() -> None:
    room = Room()
    async with room.app.run_test(size=(80, 24)) as pilot:
        height = room.app.transcript.size.height
        calm = room.status()
        for who in (DAVE, BOB, CAROL):
            room.world.tell_typing(who)
            room.world.run(SECOND)
            await until(pilot, lambda: "typing" in room.status())
        await until(pilot, lambda: room.status() == "3 people are typing")
        room.world.write_text(BOB, "here it is")
        room.world.run(SECOND)
        await until(pilot, lambda: room.status() == "dave and carol are typing")
        assert room.app.transcript.size.height == height, "nothing moves that is being read"
        room.world.run(LASTS)
        await until(pilot, lambda: "typing" not in room.status())

    assert "typing" not in calm


async def test_keys_of_a_message_tell_the_others_and_enter_ends_it() -> None:
    room = Room()
    async with room.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("h", "i")
        await pilot.pause()
        room.world.run(SECOND)
        typing = room.typists_for_bob()
        await pilot.press("enter")
        await until(pilot, lambda: not room.app.composer.text)
        await until(pilot, lambda: room.chat.snapshot().channels[0].messages == 1)
        room.world.run(SECOND)

    assert (typing, room.typists_for_bob()) == (["alice"], [])


@pytest.mark.parametrize(
    "keys",
    [("/", "n", "i", "c", "k"), ("space", "space"), ("ctrl+j",)],
    ids=["a command", "blanks", "an empty line"],
)
async def test_what_is_no_message_is_nobodys_business(keys: tuple[str, ...]) -> None:
    room = Room()
    async with room.app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        room.world.run(SECOND)

    assert room.typists_for_bob() == []


async def test_a_text_that_comes_back_by_itself_is_not_typed() -> None:
    room = Room()
    async with room.app.run_test(size=(80, 24)) as pilot:
        room.app.composer.restore("a line that could not be sent")
        await pilot.pause()
        room.world.run(SECOND)
        restored = room.typists_for_bob()
        await pilot.press("!")
        await pilot.pause()
        room.world.run(SECOND)

    assert (restored, room.typists_for_bob()) == ([], ["alice"])


async def test_it_can_be_kept_to_oneself() -> None:
    room = Room()
    run = Commands(room.chat).run
    said = [(await run(line, At(None))).text for line in ("/typing", "/typing OFF", "/typing")]
    async with room.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("h", "i")
        await pilot.pause()
        room.world.run(SECOND)
        off = room.typists_for_bob()
        await run("/typing on", At(None))
        await pilot.press("!")
        await pilot.pause()
        room.world.run(SECOND)

    assert said[0].startswith("Others see that you are typing.")
    assert said[1] == said[2]
    assert said[1].startswith("Others do not see")
    assert (off, room.typists_for_bob()) == ([], ["alice"])
    assert not (await run("/typing loudly", At(None))).ok


async def test_line_mode_says_nothing_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(tmp_path, "alice") as alice:
        TextFace(alice, alice.settings).event(TypingShown(LOBBY, peer("bob"), "bob", typing=True))

    assert capsys.readouterr().out == ""
