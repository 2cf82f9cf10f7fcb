"""The question about the clock on a screen, and what waits for its time: simulated clocks."""

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording.glyphs import ASCII, REPLACED, UNICODE
from sync.machine import SECOND
from sync.view.view import ClockAnswer
from tests.support.chat_tui import scenes
from tests.support.chat_tui.live_screens import type_in
from tests.support.chat_tui.readings import reading, shown, until
from tests.support.chat_tui.scenes import ALICE, BOB, CAROL, DAY, Scene

ASKED = "CLOCK: bob (known) and carol (known) say your clock is 24 hours ahead."


def parked(app: ChatApp) -> list[str]:
    return [row.text for row in app.transcript.conversation.rows if row.dim]


async def after(scene: Scene, app: ChatApp, pilot: Pilot[None]) -> None:
    """Let the others hear of what was done, and the screen show what comes of it."""
    scene.world.run(10 * SECOND)
    app.call_next(app._tick)
    await pilot.pause()


async def test_the_question_takes_no_key_of_who_writes_and_one_key_answers_it() -> None:
    scene = scenes.doubted(ALICE)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: ASKED in shown(app))
        await type_in(pilot, "is my clock right")
        await until(pilot, lambda: parked(app) == ["is my clock right"])
        assert "waits for your answer" in shown(app)
        await until(pilot, lambda: "1 message of yours waits for your answer" in shown(app))
        question = scene.snapshot().clock.question
        assert question is not None
        assert question.sets_aside == 0, "what waits is written anew"
        await pilot.press("h", "alt+t", "i")
        await until(pilot, lambda: "You follow bob and carol" in shown(app))
        await after(scene, app, pilot)
        await until(pilot, lambda: parked(app) == [])

        assert app.composer.text == "hi"
        assert [row.text for row in app.transcript.conversation.rows].count(
            "is my clock right"
        ) == 1
        assert scene.snapshot().clock.answer is ClockAnswer.FOLLOW
        await until(pilot, lambda: "CLOCK:" not in shown(app))


async def test_who_stays_is_asked_no_more() -> None:
    scene = scenes.doubted(ALICE)
    async with reading(scene, size=(60, 16)) as (app, pilot):
        await until(pilot, lambda: "Alt+M stays" in shown(app))
        await pilot.press("alt+m")
        await until(pilot, lambda: "You stay with your clock" in shown(app))
        await after(scene, app, pilot)

        assert scene.snapshot().clock.answer is ClockAnswer.STAY
        await until(pilot, lambda: "CLOCK:" not in shown(app))


async def test_a_question_that_settles_itself_says_so() -> None:
    scene = scenes.doubted(ALICE)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: ASKED in shown(app))
        scene.world.set_clock(ALICE, 0)
        await after(scene, app, pilot)

        await until(pilot, lambda: "Your clock and bob and carol agree now" in shown(app))
        assert "CLOCK:" not in shown(app)


async def test_nothing_is_answered_where_nothing_is_asked() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await pilot.press("alt+t")

        await until(pilot, lambda: "Nothing is asked about this computer's clock" in shown(app))


async def test_what_is_ahead_can_be_read_at_the_end_and_is_told_once_a_person() -> None:
    scene = scenes.doubted(BOB, CAROL)
    async with reading(scene) as (app, pilot):
        for text in ("see you", "at three", "in room 2"):
            scene.say(BOB, text, then=SECOND)
        scene.say(ALICE, "hm", then=SECOND)
        await until(pilot, lambda: len(parked(app)) == 3)
        said = shown(app).split("\n")
        await until(pilot, lambda: "The clock of bob is 24 hours ahead" in shown(app))

        assert [row.text for row in app.transcript.conversation.rows][-4:] == [
            "hm", "see you", "at three", "in room 2",
        ]  # fmt: skip
        assert sum("waiting for their time" in line for line in said) == 1
        assert sum(UNICODE.parked in line for line in said) == 3


async def test_it_is_read_back_at_a_start_and_its_details_say_until_when() -> None:
    async with reading(scenes.ahead_of_time(), glyphs=ASCII) as (app, pilot):
        await until(pilot, lambda: len(parked(app)) == 2)
        assert f"{ASCII.parked} " in shown(app)
        await pilot.press("ctrl+t", "end", "enter")

        await until(pilot, lambda: "24 hours ahead of this computer's" in shown(app))
        await until(pilot, lambda: "Tuesday, 25 November 2025" in shown(app))


async def test_the_report_lists_what_waits() -> None:
    scene = scenes.ahead_of_time()
    async with reading(scene) as (app, pilot):
        await type_in(pilot, "/clock")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))

        await until(pilot, lambda: "carol: then I bring the long cable" in shown(app))
        assert "/clock follow: what you write bears their time." in shown(app)


async def test_what_is_written_anew_hides_what_it_replaces_also_at_the_next_start() -> None:
    scene = scenes.doubted()
    scene.world.partition({ALICE}, {BOB, CAROL})
    scene.world.run(20 * SECOND)
    scene.world.set_clock(ALICE, DAY)
    scene.say(ALICE, "is my clock right?")
    scene.world.set_clock(ALICE, 0)
    scene.world.heal()
    scene.world.run(20 * SECOND)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: parked(app) == ["is my clock right?"])
        await type_in(pilot, "/resend")
        await until(pilot, lambda: "Written again, with the current time" in shown(app))
        await until(pilot, lambda: parked(app) == [])
        texts = [row.text for row in app.transcript.conversation.rows]
    scene.world.crash(ALICE)
    scene.world.restart(ALICE)
    scene.world.run(10 * SECOND)
    async with reading(scene) as (app, _):
        again = [row.text for row in app.transcript.conversation.rows]
    scene.sleep_until(scene.world.now + DAY)
    async with reading(scene) as (app, _):
        let_in = [row.text for row in app.transcript.conversation.rows]

    assert texts == again == ["good morning, the demo is at three", "is my clock right?"]
    assert let_in == [*texts, REPLACED]


@pytest.mark.parametrize(("height", "both"), [(24, True), (23, False)])
async def test_a_low_window_has_room_for_one_band(height: int, *, both: bool) -> None:
    scene = scenes.doubted(ALICE)
    bob, carol = (scene.world.nodes[one].identity.peer_id for one in (BOB, CAROL))
    book, now = scene.chat.people.book, scene.snapshot().now
    book.verify(bob, "bob", now)
    book.read(carol, "bob", now)
    async with reading(scene, size=(80, height)) as (app, pilot):
        await until(pilot, lambda: "CHANGED KEY" in shown(app))

        assert ("CLOCK:" in shown(app)) == both
