"""Searching on the whole screen over an engine: words, names, times, unread messages."""

from functools import partial

import pytest
from msgspec.structs import replace

from chat_tui.app.app import ChatApp
from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.transcript.find_screen import FindScreen
from sync.machine import SECOND
from tests.support.chat_tui.readings import (
    LONG,
    command,
    is_selected,
    long_talk,
    paint,
    reading,
    selected,
    short_talk,
    shown,
    until,
)
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

# -- search --------------------------------------------------------------------------------------


async def test_a_search_steps_from_the_newest_hit_to_older_ones_and_ends() -> None:
    async with reading(long_talk()) as (app, pilot):
        await pilot.press("ctrl+f", *"apple", "enter")
        await until(pilot, lambda: selected(app) == "alice, apple 850")
        await until(pilot, lambda: "apple: hit 1 of 9 · n older · N newer · Esc" in shown(app))
        seen = [selected(app)]
        for number in range(750, 0, -100):
            await pilot.press("n")
            await until(pilot, partial(is_selected, app, f"alice, apple {number}"))
            seen.append(selected(app))
        positions = [row.line.position for row in app.transcript.conversation.rows]
        await pilot.press("N")
        await until(pilot, lambda: selected(app) == "alice, apple 150")
        await pilot.press("escape")
        await pilot.pause()
        ended = shown(app)

    assert len(seen) == 9
    assert positions == sorted(positions)
    assert "hit" not in ended


async def test_search_as_a_command_and_what_is_not_found() -> None:
    async with reading(short_talk()) as (app, pilot):
        await command(pilot, "/search projector")
        await until(pilot, lambda: "hit 1 of 2" in shown(app))
        await pilot.press("escape")
        await command(pilot, "/search giraffe")
        await until(pilot, lambda: "No message here has words" in shown(app))

        assert app.composer.text == "/search giraffe"


async def test_a_refused_command_is_replaced_by_typing_and_cleared_by_escape() -> None:
    async with reading(short_talk()) as (app, pilot):
        await command(pilot, "/search giraffe")
        await until(pilot, lambda: app.composer.selected_text == "/search giraffe")
        await pilot.press("h", "i")
        replaced = app.composer.text
        app.composer.begin("")
        await command(pilot, "/search giraffe")
        await until(pilot, lambda: app.composer.selected_text == "/search giraffe")
        await pilot.press("escape")
        cleared = app.composer.text
        await command(pilot, "/search giraffe")
        await until(pilot, lambda: app.composer.selected_text == "/search giraffe")
        await pilot.press("right", "s", "escape")

    assert (replaced, cleared) == ("hi", "")
    assert app.composer.text == "/search giraffes"


async def test_escape_closes_the_question_for_words() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("d", "ctrl+f", "x", "escape", "y")
        await pilot.pause()

        assert app.composer.text == "dy"
        assert not isinstance(app.screen, FindScreen)


def underlined(app: ChatApp) -> list[str]:
    """The words that stand out as one's own name, from the top."""
    lines = [app.transcript.render_line(y) for y in range(app.transcript.size.height)]
    return [
        segment.text
        for line in lines
        for segment in line
        if segment.style is not None and segment.style.underline and segment.style.bold
    ]


async def test_hits_and_ones_own_name_stand_out() -> None:
    async with reading(short_talk()) as (app, pilot):
        await command(pilot, "/search cable")
        await until(pilot, lambda: "hit 1 of 3" in shown(app))
        hits, mentions = [], []
        for y in range(app.transcript.size.height):
            for segment in app.transcript.render_line(y):
                if segment.style is not None and segment.style.underline and segment.style.bold:
                    mentions.append(segment.text)
                elif segment.text == "cable":
                    assert segment.style is not None
                    hits.append(segment.style.bold)

    assert mentions == ["Alice", "@alice"]
    assert hits == [True] * 3


async def test_another_own_name_stands_out_from_the_next_look_on() -> None:
    async with reading(short_talk()) as (app, pilot):
        before = underlined(app)
        snapshot = replace(app._chat.snapshot(), nick="cable")
        app._chat.snapshot = lambda: snapshot  # type: ignore[method-assign]
        app._tick()
        await pilot.pause()

        assert before == ["Alice", "@alice"]
        assert underlined(app) == ["cable"], "the others are in own lines"


async def test_mentions_are_listed_and_enter_goes_there() -> None:
    async with reading(long_talk()) as (app, pilot):
        await command(pilot, "/mentions")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        listed = shown(app)
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: selected(app) == "alice, apple 150")

    assert "9 messages name alice" in listed
    assert "alice, apple 850" in listed


@pytest.mark.net
async def test_grep_lists_and_a_wrong_pattern_is_explained() -> None:
    async with reading(long_talk()) as (app, pilot):
        await command(pilot, "/grep apple [12]5")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        listed = shown(app)
        await pilot.press("escape")
        await command(pilot, "/grep (")
        await until(pilot, lambda: "is not a regular expression" in shown(app))

    assert "2 messages of 900 match apple [12]5" in listed


# -- places --------------------------------------------------------------------------------------


async def test_goto_a_time_far_up_and_back_down_keeps_the_order() -> None:
    async with reading(long_talk()) as (app, pilot):
        await command(pilot, "/goto 09:16")
        await until(pilot, lambda: selected(app).startswith("line"))
        there = app.transcript.selected()
        positions = [row.line.position for row in app.transcript.conversation.rows]
        for _ in range(40):
            await pilot.press("pagedown")
        await pilot.press("escape")
        await pilot.press("end")
        await until(pilot, lambda: app.transcript.follow)
        await until(pilot, lambda: f"line {LONG - 1}" in shown(app))
        after = [row.line.position for row in app.transcript.conversation.rows]

    assert there is not None
    assert there.text == "line 294"
    assert positions == sorted(set(positions))
    assert after == sorted(set(after))


async def test_goto_a_message_by_the_beginning_of_its_id() -> None:
    scene = long_talk()
    [line] = await scene.chat.history.page_after(scene.world.channel, after=(0, ""), limit=1)  # type: ignore[arg-type]
    async with reading(scene) as (app, pilot):
        await command(pilot, f"/goto {line.message_id[:12]}")
        await until(pilot, lambda: selected(app) == "line 0")
        await pilot.press("escape")
        await command(pilot, "/goto nowhere")
        await until(pilot, lambda: "is not a day, time or id" in shown(app))


async def test_unread_goes_to_the_first_message_nobody_saw() -> None:
    scene = long_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("pageup")
        for number in range(60):
            scene.say(BOB, f"new {number}", then=SECOND)
        await paint(app, pilot)
        await pilot.press("alt+u")
        await until(pilot, lambda: selected(app) == "new 0")
        seen = shown(app)
        await pilot.press("escape", "end")
        await until(pilot, lambda: app.transcript.follow)
        await pilot.press("pageup", "end")
        await command(pilot, "/unread")
        await until(pilot, lambda: "Nothing is unread here." in shown(app))

    assert "60 new" in seen


async def test_what_came_above_is_gone_to_by_key_and_by_click() -> None:
    scene = Scene("alice", "bob", "carol")
    scene.world.run(6 * SECOND)
    scene.talk("said", 40)
    scene.world.partition({ALICE, BOB}, {2})
    scene.world.run(20 * SECOND)
    scene.say(2, "from the other side", then=SECOND)
    scene.talk("went on with", 40)
    async with reading(scene) as (app, pilot):
        await pilot.press("pageup")
        scene.world.heal()
        scene.world.run(30 * SECOND)
        await paint(app, pilot)
        chip = shown(app)
        await pilot.click("#chip")
        await until(pilot, lambda: selected(app) == "from the other side")
        await paint(app, pilot)

    assert "↑ 1 earlier message arrived · Alt+U" in chip
    assert app.transcript.conversation.earlier == 0


async def test_a_search_without_words_says_which_hit_it_is_and_no_word() -> None:
    async with reading(short_talk()) as (app, pilot):
        await command(pilot, "/search from:bob")
        await until(pilot, lambda: "hit 1 of 3" in shown(app))

        assert "▸ hit 1 of 3 · n older" in shown(app)
