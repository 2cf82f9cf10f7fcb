"""Lines that stand for missing messages: the cursor on them, their keys, and what they open."""

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.details.gap import hole_parts, holes_of, in_words
from chat_tui.details.gap_screen import HoleScreen
from chat_tui.transcript.painted_line import Part
from sync.machine import MINUTE, SECOND
from sync.sds.parameters import LAN
from sync.view.view import RequestInfo
from tests.support.chat_tui import scenes
from tests.support.chat_tui.gap_lines import go_to_gap
from tests.support.chat_tui.readings import command, reading, shown, top_lines, until
from tests.support.chat_tui.scenes import ALICE, BOB, CAROL, DAVE, Scene

LOST = "an earlier message could not be found"
TAIL = "1 earlier message is missing, asking peers in"


def gap_lines(app: ChatApp) -> list[str]:
    return [line.strip() for line in top_lines(app) if "┆" in line]


def requests(scene: Scene) -> list[RequestInfo]:
    repair = scene.snapshot().channels[0].repair
    return [] if repair is None else list(repair.requests)


async def go_to_tail(pilot: Pilot[None]) -> None:
    await pilot.press("ctrl+t")
    await pilot.press("end")
    await pilot.pause()
    await pilot.press("down")


# --- the cursor -------------------------------------------------------------------------------


async def test_the_cursor_stands_on_a_gap_between_two_messages() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await go_to_gap(pilot)
        on_gap = gap_lines(app)
        keys = shown(app)
        await pilot.press("down")
        below = app.transcript.selected()
        await pilot.press("up", "up")
        above = app.transcript.selected()

    assert on_gap[0].startswith("┆ ▸a message is lost; a tries again, h hides")
    assert "Enter what is known  a ask again now  h hide this line" in keys
    assert below is not None
    assert below.nick == "dave"
    assert above is not None
    assert above.text == "sure, I'm on my way"


async def test_the_last_line_of_all_can_be_selected_and_belongs_to_no_message() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await go_to_tail(pilot)
        on_tail, about = gap_lines(app)[-1], app.transcript.about
        await pilot.press("y")
        answer = shown(app)
        await pilot.press("down", "up")

        assert on_tail.startswith(f"┆ ▸{TAIL} ")
        assert about is None
        assert "stands for a message that is not here" in answer
        assert app.transcript.part is Part.TEXT


async def test_a_click_on_a_gap_selects_it_and_another_one_opens_it() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        [y] = [at for at, line in enumerate(top_lines(app)) if LOST in line]
        await pilot.click(app.transcript, offset=(30, y))
        part = app.transcript.part
        await pilot.click(app.transcript, offset=(30, y))
        await until(pilot, lambda: isinstance(app.screen, HoleScreen))

    assert part is Part.GAP


# --- r: ask at once ---------------------------------------------------------------------------


async def test_r_on_the_last_line_asks_before_the_time_that_was_drawn() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        [request] = requests(scene)
        await go_to_tail(pilot)
        scene.turn_silent()
        await pilot.press("a")
        await until(pilot, lambda: "Asking for 1 missing message now" in shown(app))
        scene.world.run(SECOND // 4)
        [asked] = requests(scene)
        await pilot.press("a")
        await until(pilot, lambda: "It was asked for 0 s ago" in shown(app))
        scene.world.run(SECOND)
        [again] = requests(scene)
        scene.world.run(LAN.t_max)
        [later] = requests(scene)

    assert request.asked_at is None
    assert asked.asked_at is not None
    assert asked.asked_at < request.t_req
    assert again.asked_at == asked.asked_at, "one request in T_max"
    assert again.t_req == asked.asked_at + LAN.t_max < asked.t_req
    assert later.asked_at == again.t_req


async def test_what_r_asked_for_comes_and_is_shown_before_what_waited_for_it() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        [request] = requests(scene)
        await go_to_tail(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "Asking for" in shown(app))
        scene.world.run(SECOND // 2)
        app._tick()
        await pilot.pause()
        lines = top_lines(app)

        assert scene.world.now < request.t_req
        assert not any(TAIL in line for line in lines)
        assert app.transcript.part is Part.TEXT


async def test_r_on_a_gap_asks_for_what_was_given_up_and_the_gap_is_filled_when_it_comes() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        await go_to_gap(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "Asking for 1 missing message now" in shown(app))
        scene.world.run(SECOND // 4)
        app._tick()
        await pilot.pause()
        asked = gap_lines(app)[0]
        scene.world.restart(DAVE)  # who alone has it, comes back
        scene.world.run(MINUTE)
        app._paint()
        await until(pilot, lambda: not any("┆" in line for line in top_lines(app)))
        part = app.transcript.part

        assert "1 missing" in asked or "1 earlier message is missing" in asked
        assert part is Part.TEXT, "the cursor leaves a line that is gone"
        page = await scene.chat.history.page(scene.world.channel, before=None, limit=200)

    assert not any(line.after_gap for line in page)


async def test_with_nobody_here_r_says_so_and_asks_nobody() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        await go_to_gap(pilot)
        for other in (BOB, CAROL):
            scene.world.crash(other)
        scene.world.run(30 * SECOND)
        await pilot.press("a")
        await until(pilot, lambda: "Nobody is here to ask" in shown(app))


# --- h: hide ----------------------------------------------------------------------------------


async def test_h_hides_the_line_and_hide_off_shows_it_again() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await go_to_gap(pilot)
        before = gap_lines(app)
        await pilot.press("h")
        await pilot.pause()
        hidden, said = gap_lines(app), shown(app)
        row = app.transcript.selected()
        await pilot.press("escape")
        await command(pilot, "/hide off")
        await until(pilot, lambda: LOST in "".join(gap_lines(app)))

    assert "a message is lost" in before[0]
    assert not any("lost" in line or LOST in line for line in hidden)
    assert "Hidden, also at the next start" in said
    assert row is not None
    assert row.nick == "dave"


async def test_a_hidden_gap_stays_hidden_when_its_message_is_paged_in_anew() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await go_to_gap(pilot)
        await pilot.press("h", "escape")
        await command(pilot, "/clear")
        await pilot.press("pageup")
        await until(pilot, lambda: any("page 7, my laptop" in line for line in top_lines(app)))

        assert not any(LOST in line for line in top_lines(app))


async def test_what_is_asked_for_is_not_hidden() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await go_to_tail(pilot)
        await pilot.press("h")
        await until(pilot, lambda: "This line goes by itself" in shown(app))

        assert app.transcript.part is Part.TAIL


async def test_a_and_h_mean_nothing_on_a_message() -> None:
    scene = scenes.morning()
    async with reading(scene) as (app, pilot):
        before = requests(scene)
        await pilot.press("ctrl+t", "a", "h")
        await pilot.pause()

        assert gap_lines(app)[0] == f"┆  {LOST}; /repair tries again"
        assert requests(scene) == before
        assert app.composer.text == ""


# --- Enter: what is known ---------------------------------------------------------------------


async def test_enter_on_the_last_line_says_who_named_it_who_was_asked_and_when_next() -> None:
    scene = scenes.morning()
    [request] = requests(scene)
    async with reading(scene, (100, 40)) as (app, pilot):
        await go_to_tail(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: request.message_id in shown(app))
        before = shown(app)
        await pilot.press("a")
        await until(pilot, lambda: "Asking for" in shown(app))
        scene.world.run(SECOND // 4)
        await until(pilot, lambda: "last by us at" in shown(app))
        after = shown(app)
        await pilot.press("escape")
        await pilot.pause()
        closed = not isinstance(app.screen, HoleScreen)

    named = f"{request.named_by[:6]} of bob"
    assert f"Named by   {named}, which builds on it" in before
    assert "its Waku hash" in before
    assert "not yet; everybody here: bob and carol" in before
    assert "T_req = now + T_min + hash(me, id)" in before
    assert f"noticed missing, named by {named}" in before
    assert "asked for by you in SYNC" in after
    assert closed


async def test_enter_on_a_gap_says_of_what_was_given_up_that_it_was() -> None:
    async with reading(scenes.morning(), (100, 40)) as (app, pilot):
        await go_to_gap(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Written by dave" in shown(app))

        assert "given up as lost, until somebody new comes" in shown(app)
        assert "given up as lost: asked for many times" in shown(app)
        assert "by us, as far as the frames are kept, last by us at 09:" in shown(app)


# --- the same as commands, also in line mode --------------------------------------------------


async def run(scene: Scene, text: str, at: At | None = None) -> str:
    result = await Commands(scene.chat).run(text, at or At(scene.world.channel))
    return result.text


async def test_line_mode_lists_what_is_missing_and_asks_for_one_of_them() -> None:
    scene = scenes.morning()
    [request] = requests(scene)
    row = next(
        line
        for line in await scene.chat.history.page(scene.world.channel, before=None, limit=200)
        if line.after_gap
    )

    everything = await run(scene, "/gaps")
    one = await run(scene, f"/gaps {request.message_id[:6]}")
    before_row = await run(scene, f"/gaps {row.message_id[:8]}")
    asked = await run(scene, f"/repair {row.message_id[:8]}")
    scene.world.run(SECOND // 4)
    again = await run(scene, f"/repair {row.message_id[:8]}")

    assert everything.startswith("2 messages of which others speak, and which are not here.")
    assert one.startswith("1 message of which others speak, and which is not here.")
    assert "Written by: bob" in everything
    assert "Written by: dave" in everything
    assert f"Missing: {request.message_id}" in one
    assert one.count("Missing:") == before_row.count("Missing:") == 1
    assert "Written by: dave" in before_row
    assert asked == "Asking for 1 missing message now; what comes takes its place."
    assert again.startswith("It was asked for 0 s ago; unless it comes, it is asked for again in")


async def test_a_command_is_about_the_gap_the_cursor_is_on() -> None:
    scene = scenes.morning()
    page = await scene.chat.history.page(scene.world.channel, before=None, limit=200)
    row = next(line.message_id for line in page if line.after_gap)
    at = At(scene.world.channel, row, on_gap=True)

    assert (await run(scene, "/repair", at)).startswith("Asking for 1 missing message now")
    assert (await run(scene, "/gaps", at)).count("Missing:") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/gaps ffff", "No missing message begins with ffff"),
        ("/hide 12", "Select a gap first"),
        ("/hide", "Line mode prints a gap only once"),
    ],
)
async def test_what_cannot_be_done_is_said(text: str, said: str) -> None:
    assert said in await run(scenes.morning(), text)


async def test_where_nothing_is_missing_that_is_said() -> None:
    scene = Scene("alice", "bob")
    scene.say(ALICE, "hello")

    assert await run(scene, "/gaps") == "Nothing is missing here, as far as anybody has said."
    assert await run(scene, "/repair") == "Nothing is missing here, as far as anybody has said."


async def test_what_was_lost_longer_ago_than_anybody_remembers_is_asked_for_all_the_same() -> None:
    scene = scenes.morning()
    channel = scene.world.channel
    runner = scene.world.nodes[ALICE].runner
    assert runner is not None
    runner.groups[channel].sds.incoming.lost.clear()
    page = await scene.chat.history.page(channel, before=None, limit=200)
    row = next(line.message_id for line in page if line.after_gap)

    holes = await holes_of(scene.chat, channel, row)
    await scene.chat.repair_before(channel, row)
    scene.world.run(SECOND // 4)

    [hole] = holes
    asked = {one.message_id: one.asked_at for one in requests(scene)}
    assert asked[hole.entry.message_id] is not None
    assert scene.world.now - LAN.t_max < (asked[hole.entry.message_id] or 0)
    assert "asked for by you" in in_words(hole_parts(scene.chat, channel, holes))


async def test_gaps_where_nothing_ever_was_missing_offers_no_key_to_ask() -> None:
    scene = Scene("alice", "bob")
    scene.say(ALICE, "hello")
    async with reading(scene) as (app, pilot):
        await command(pilot, "/gaps")
        await until(pilot, lambda: "Nothing is missing here, as far" in shown(app))

        assert "a ask again" not in shown(app)


async def test_gaps_that_are_filled_while_they_are_looked_at_are_missing_no_more() -> None:
    scene = scenes.repairing()
    async with reading(scene, (100, 40)) as (app, pilot):
        await command(pilot, "/gaps")
        await until(pilot, lambda: "a ask again now" in shown(app))
        screen = app.screen
        assert isinstance(screen, HoleScreen)
        scene.world.restart(CAROL)
        scene.world.run(MINUTE)
        screen.tick()
        await until(pilot, lambda: "Nothing is missing here any more" in shown(app))

        assert "a ask again" not in shown(app)


async def test_where_nobody_is_here_to_ask_no_key_to_ask_is_offered() -> None:
    scene = scenes.repairing()
    async with reading(scene, (100, 40)) as (app, pilot):
        scene.world.crash(DAVE)
        scene.world.run(20 * SECOND)
        await command(pilot, "/gaps")
        await until(pilot, lambda: "it is asked for once somebody is here" in shown(app))

        assert "a ask again" not in shown(app)
