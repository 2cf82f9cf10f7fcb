"""Edits, reactions and deletions on a whole screen, and what others' do to it meanwhile."""

from collections.abc import Callable

from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.wording.glyphs import DELETED
from sync.entries.changes import Edit, Redaction
from sync.machine import MINUTE, SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.scenes import ALICE, BOB, Scene


class Room:
    """Alice at the screen, bob beside her; each has written a line."""

    def __init__(self) -> None:
        self.scene = Scene("alice", "bob")
        self.scene.world.run(6 * SECOND)
        self.scene.say(ALICE, "tee at four?", then=MINUTE)
        self.scene.say(BOB, "who comes?", then=MINUTE)
        self.app: ChatApp = scenes.screen_of(self.scene)

    def texts(self) -> list[str]:
        """Return the lines of the transcript, without times, names and marks."""
        strips = self.app.transcript.render_lines(self.app.transcript.size.region)
        lines = [strip.text[18:-3].strip() for strip in strips]
        return [line for line in lines if line and "──" not in line]


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    while not true():
        await pilot.pause()


async def write(pilot: Pilot[None], room: Room, text: str) -> None:
    room.app.composer.text = text
    await pilot.press("enter")
    await pilot.pause()


async def test_what_is_typed_changes_the_rows_on_the_screen() -> None:
    room = Room()
    async with room.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: room.texts() == ["tee at four?", "who comes?"])

        await write(pilot, room, "/edit tea at four?")
        await until(pilot, lambda: room.texts()[0] == "tea at four? (edited)")
        await write(pilot, room, "/react +1")
        await until(pilot, lambda: room.texts()[-1] == "👍 1 (you)")
        await write(pilot, room, "/react +1")
        await until(pilot, lambda: room.texts()[-1] == "who comes?")
        await write(pilot, room, "/delete")
        await until(pilot, lambda: room.texts() == [DELETED, "who comes?"])


async def test_the_text_of_now_is_put_into_the_input_to_be_changed() -> None:
    room = Room()
    async with room.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(room.texts()) == 2)

        await write(pilot, room, "/edit")
        await until(pilot, lambda: room.app.composer.text.endswith(" tee at four?"))
        await pilot.press("backspace", "!", "enter")
        await until(pilot, lambda: room.texts()[0] == "tee at four! (edited)")

        assert room.app.composer.text == ""


async def test_what_others_change_is_painted_and_counts_as_nothing_new() -> None:
    room = Room()
    ids = [one for _, one in room.scene.world.nodes[ALICE].disk.lines()]
    async with room.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(room.texts()) == 2)

        room.scene.world.change(BOB, Edit(ids[1], "who comes, and when?"))
        room.scene.world.run(SECOND)
        await until(pilot, lambda: room.texts()[-1] == "who comes, and when? (edited)")
        room.scene.world.change(BOB, Edit(ids[0], "forged"))
        room.scene.world.change(BOB, Redaction(ids[1]))
        room.scene.world.run(SECOND)
        await until(pilot, lambda: room.texts() == ["tee at four?", DELETED])

        assert room.app.transcript.conversation.unread == 0


async def test_what_is_another_ones_is_refused_with_a_sentence_and_stays_in_the_input() -> None:
    room = Room()
    ids = [one for _, one in room.scene.world.nodes[ALICE].disk.lines()]
    async with room.app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: len(room.texts()) == 2)

        await write(pilot, room, f"/delete {ids[1]}")
        await until(pilot, lambda: room.app.composer.text != "")

        lines = [strip.text for strip in room.app.screen._compositor.render_strips()]
        assert any("only its author can delete it" in line for line in lines)
        assert room.texts() == ["tee at four?", "who comes?"]
