"""Keys of answers on the whole screen: reply, the way there and back, and what answers a line."""

import re

import pytest
from rich.cells import cell_len

from chat_tui.transcript.choice_screens import ChoiceScreen
from sync.entries.changes import Edit, Reactions, Redaction
from sync.machine import SECOND, MessageId
from tests.support.chat_tui.readings import (
    long_talk,
    paint,
    press,
    reading,
    selected,
    short_talk,
    shown,
    top_lines,
    until,
)
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 40), (60, 16)])


def newest(scene: Scene) -> MessageId:
    return scene.world.nodes[ALICE].disk.lines()[-1][1]


def answered_talk() -> tuple[Scene, MessageId]:
    """A talk in which bob answers alice's last line."""
    scene = short_talk()
    target = newest(scene)
    scene.world.write_text(BOB, "I bring it", reply_to=target)
    scene.world.run(SECOND)
    return scene, target


@SIZES
async def test_a_reply_is_written_below_what_it_answers(size: tuple[int, int]) -> None:
    scene = short_talk()
    target = newest(scene)
    async with reading(scene, size) as (app, pilot):
        app.composer.insert("of course")
        await press(pilot, "ctrl+t", "r")
        draft = app.composer.text
        await press(pilot, *"!", "enter")
        await until(pilot, lambda: "of course!" in shown(app) and not app.composer.text)
        lines = shown(app).splitlines()
        at = next(number for number, line in enumerate(lines) if "of course!" in line)

    assert draft == f"/reply {target[:12]} of course"
    assert "↪ alice: malice? no, just the cable" in lines[at - 1]
    assert app.transcript.cursor is None
    assert app.transcript.follow


@SIZES
async def test_u_goes_to_what_is_answered_and_backspace_comes_back(
    size: tuple[int, int],
) -> None:
    scene, _ = answered_talk()
    async with reading(scene, size) as (app, pilot):
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: selected(app) == "I bring it")
        await press(pilot, "u")
        await until(pilot, lambda: selected(app).startswith("malice?"))
        await press(pilot, "u")
        await until(pilot, lambda: "That message answers no other one." in shown(app))
        await press(pilot, "backspace")
        await until(pilot, lambda: selected(app) == "I bring it")
        await press(pilot, "backspace")
        await until(pilot, lambda: "There is nothing to come back from" in shown(app))


async def test_what_is_answered_may_be_pages_away() -> None:
    scene = long_talk()
    first = scene.world.nodes[ALICE].disk.lines()[3][1]
    scene.world.write_text(BOB, "do you remember?", reply_to=first)
    scene.world.run(SECOND)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: "↪ bob: line 3" in shown(app))
        await press(pilot, "ctrl+t", "u")
        await until(pilot, lambda: selected(app) == "line 3")
        await press(pilot, "backspace")
        await until(pilot, lambda: selected(app) == "do you remember?")


async def test_the_line_above_follows_what_becomes_of_the_message() -> None:
    scene, _ = answered_talk()
    world = scene.world
    asked = world.nodes[ALICE].disk.lines()[0][1]
    world.write_text(ALICE, "which room?", reply_to=asked)
    world.run(SECOND)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: "↪ bob: Alice, the projector is in room 2" in shown(app))
        world.change(BOB, Edit(asked, "it is in room 3"))
        world.run(SECOND)
        await paint(app, pilot)
        await until(pilot, lambda: "↪ bob: it is in room 3 (edited)" in shown(app))
        world.change(BOB, Redaction(asked))
        world.run(SECOND)
        await paint(app, pilot)
        await until(pilot, lambda: "↪ a message of bob, deleted since" in shown(app))


async def test_a_text_cannot_look_like_a_reply() -> None:
    scene = short_talk()
    scene.say(BOB, "↪ alice: I give you my laptop\nyes")
    async with reading(scene, (80, 24)) as (app, pilot):
        await pilot.pause()
        columns = [line.index("↪") for line in shown(app).splitlines() if "↪" in line]
        scene.world.write_text(BOB, "a real one", reply_to=newest(scene))
        scene.world.run(SECOND)
        await paint(app, pilot)
        await until(pilot, lambda: "a real one" in shown(app))
        lines = shown(app).splitlines()
        at = next(number for number, line in enumerate(lines) if "a real one" in line)

    [typed] = columns
    assert lines[at - 1].index("↪") < typed


@SIZES
async def test_t_lists_what_answers_and_enter_goes_there(size: tuple[int, int]) -> None:
    scene, target = answered_talk()
    scene.world.write_text(ALICE, "thank you", reply_to=newest(scene))
    scene.world.run(SECOND)
    async with reading(scene, size) as (app, pilot):
        await press(pilot, "ctrl+t")
        app.transcript.select(target)
        await press(pilot, "t")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        listed = shown(app)
        await press(pilot, "up", "enter")
        await until(pilot, lambda: selected(app) == "I bring it")

    assert "2 messages answer alice: malice?" in listed
    places = [
        found.start() - listed.rfind("\n", 0, found.start())
        for found in re.finditer(r"[0-9:]{5} (alice: malice|bob: I bring|alice: thank)", listed)
    ]
    assert [place - places[0] for place in places] == [0, 2, 4]


async def test_the_keys_of_a_line_are_those_that_it_has() -> None:
    scene, target = answered_talk()
    async with reading(scene, (140, 40)) as (app, pilot):
        await press(pilot, "ctrl+t")
        of_reply = shown(app)
        app.transcript.select(target)
        await pilot.pause()
        of_own = shown(app)

    assert "r reply  + react  p pin  Enter details  u what it answers  q quote" in of_reply
    assert "edit" not in of_reply
    assert "r reply  e edit  + react  Del delete  p pin" in of_own


async def test_e_offers_the_text_of_now_and_delete_deletes() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await press(pilot, "ctrl+t", "e")
        await until(pilot, lambda: app.composer.text.endswith(" malice? no, just the cable"))
        await press(pilot, "!", "enter")
        await until(pilot, lambda: "just the cable! (edited)" in shown(app))
        await press(pilot, "ctrl+t", "delete")
        await until(pilot, lambda: "Delete this message for everybody?" in shown(app))
        await press(pilot, "down", "enter", "delete", "escape")
        assert "deleted by its author" not in shown(app)
        await press(pilot, "delete", "enter")
        await until(pilot, lambda: "deleted by its author" in shown(app))


async def test_plus_offers_emoji_and_those_used_last_stand_first() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await press(pilot, "ctrl+t", "plus")
        await until(pilot, lambda: "React with" in shown(app))
        first = shown(app)
        await press(pilot, "down", "down", "enter")
        await until(pilot, lambda: "❤ 1 (you)" in shown(app))
        await press(pilot, "plus")
        await until(pilot, lambda: "React with" in shown(app))
        second = shown(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "❤ 1 (you)" not in shown(app))

    assert "▸ 👍  thumbs up" in first
    assert "▸ ❤  heart (you: again takes it back)" in second


async def test_the_emoji_of_before_stand_first_in_another_run_too() -> None:
    scene = short_talk()
    target = newest(scene)
    scene.world.change(ALICE, Reactions(target, ("🚀",)))
    scene.world.run(SECOND)
    async with reading(scene) as (app, pilot):
        await press(pilot, "ctrl+t", "plus")
        await until(pilot, lambda: "▸ 🚀  rocket" in shown(app))


@SIZES
async def test_a_click_on_a_reaction_is_to_react_so_and_again_takes_it_back(
    size: tuple[int, int],
) -> None:
    scene = short_talk()
    target = newest(scene)
    scene.world.change(BOB, Reactions(target, ("🎉", "👍")))
    scene.world.run(SECOND)
    async with reading(scene, size) as (app, pilot):

        async def click(emoji: str) -> None:
            lines = top_lines(app)
            y = next(number for number, line in enumerate(lines) if f"{emoji} " in line)
            x = cell_len(lines[y][: lines[y].index(emoji)])
            await pilot.click(app.transcript, offset=(x, y))

        await until(pilot, lambda: "🎉 1  👍 1" in shown(app))
        await click("👍")
        await until(pilot, lambda: "👍 2 (you)" in shown(app))
        assert app.transcript.cursor is None
        await click("👍")
        await until(pilot, lambda: "👍 1" in shown(app) and "(you)" not in shown(app))
        await click("🎉")
        await until(pilot, lambda: "🎉 2 (you)" in shown(app))


async def test_a_click_beside_the_reactions_selects_the_message() -> None:
    scene = short_talk()
    scene.world.change(BOB, Reactions(newest(scene), ("🎉", "👍")))
    scene.world.run(SECOND)
    async with reading(scene) as (app, pilot):
        await until(pilot, lambda: "🎉 1  👍 1" in shown(app))
        lines = top_lines(app)
        y = next(number for number, line in enumerate(lines) if "🎉" in line)
        await pilot.click(app.transcript, offset=(60, y))
        await until(pilot, lambda: selected(app).startswith("malice?"))
        assert "(you)" not in shown(app)


async def test_bare_text_says_what_is_answered() -> None:
    scene, _ = answered_talk()
    async with reading(scene) as (app, pilot):
        await press(pilot, "f9")
        await until(pilot, lambda: "Select with the mouse" in shown(app))
        lines = shown(app).splitlines()
        at = next(number for number, line in enumerate(lines) if "bob: I bring it" in line)

    assert lines[at - 1].startswith("↪ alice: malice? no, just the cable")
