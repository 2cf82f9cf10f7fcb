"""Read marks on the screen: under which line they stand, and that only who looks tells."""

import pytest
from textual.events import AppBlur, AppFocus

from chat_tui.app.app import ChatApp
from chat_tui.settings.schema import READ_MARKS
from sync.calimero.state.contents import Read
from sync.machine import SECOND
from sync.view.view import Position
from tests.support.chat_tui.readings import paint, press, reading, short_talk, shown, until
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

pytestmark = pytest.mark.usefixtures("in_utc")


def position(scene: Scene, number: int) -> Position:
    """The place of a line in the order of the channel."""
    lamport, message_id, *_ = scene.world.nodes[ALICE].disk.lines()[number]
    return lamport, message_id


def bob_reads(scene: Scene, number: int) -> None:
    lamport, message_id = position(scene, number)
    scene.world.set_state(BOB, Read(lamport, bytes.fromhex(message_id)))
    scene.world.run(SECOND)


def hers(scene: Scene) -> Position | None:
    [info] = scene.chat._with_marks().channels
    mark = info.state.read(scene.snapshot().me)
    return None if mark is None else (mark.lamport, mark.message_id)


def lines(app: ChatApp) -> list[str]:
    return [line.strip() for line in shown(app).splitlines()]


async def test_a_mark_stands_under_the_newest_own_line_and_moves_with_its_reader() -> None:
    scene = short_talk()
    scene.chat.settings.change(READ_MARKS, "on")
    bob_reads(scene, 3)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: "read by bob" in lines(app))
        first = lines(app)
        bob_reads(scene, 4)
        await paint(app, pilot)
        await until(pilot, lambda: lines(app).index("read by bob") > 5)
        second = lines(app)
        await press(pilot, "ctrl+t", "enter")
        await until(pilot, lambda: "Read by" in shown(app))
        details = shown(app)

    assert "thank you, and the cable?" in first[first.index("read by bob") - 1]
    assert "malice? no, just the cable" in second[second.index("read by bob") - 1]
    assert second.count("read by bob") == 1
    assert "bob, by what their programs say." in details


async def test_in_an_open_channel_nothing_is_told_or_seen_by_itself() -> None:
    scene = short_talk()
    bob_reads(scene, 4)
    async with reading(scene) as (app, pilot):
        await paint(app, pilot)
        seen = shown(app)

    assert "read by" not in seen
    assert hers(scene) is None


async def test_nothing_is_told_while_the_terminal_is_not_looked_at() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        app.post_message(AppBlur())
        await until(pilot, lambda: not app.app_focus)
        scene.chat.settings.change(READ_MARKS, "on")
        for _ in range(3):
            await paint(app, pilot)
        away = hers(scene)
        app.post_message(AppFocus())
        await until(pilot, lambda: app.app_focus)
        await paint(app, pilot)
        await until(pilot, lambda: hers(scene) is not None)

    assert away is None
    assert hers(scene) == position(scene, 3)  # the last line is her own


async def test_nothing_is_told_while_something_else_lies_over_the_conversation() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await press(pilot, "f1")
        scene.chat.settings.change(READ_MARKS, "on")
        for _ in range(3):
            await paint(app, pilot)
        over = hers(scene)
        await press(pilot, "escape")
        await paint(app, pilot)
        await until(pilot, lambda: hers(scene) is not None)

    assert over is None
