"""Reading on the whole screen over an engine: keys, commands, mouse."""

from pathlib import Path

import pytest
from textual.events import MouseMove
from textual.message import Message

from chat_tui.details.message_screen import DetailsScreen
from chat_tui.model.command_findings import View
from chat_tui.settings.schema import THEMES
from chat_tui.transcript.choice_screens import BareScreen, ChoiceScreen
from chat_tui.transcript.conversation_pane import Reading
from chat_tui.transcript.message_actions import COPY_MAX
from chat_tui.widgets.messages import GraphWanted, Submitted
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording.glyphs import ASCII
from sync.entries.changes import Edit, Redaction
from sync.machine import SECOND
from tests.support.chat_tui.live_screens import beside_bob, lobby, type_in
from tests.support.chat_tui.live_screens import until as live_until
from tests.support.chat_tui.readings import (
    LINK,
    LONG,
    command,
    long_talk,
    paint,
    reading,
    selected,
    short_talk,
    shown,
    top_lines,
    until,
)
from tests.support.chat_tui.scenes import BOB, Scene

# -- the cursor --------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["ctrl+t", "alt+s"])
async def test_the_cursor_begins_at_the_lowest_message_and_moves(key: str) -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press(key)
        begun = selected(app)
        await pilot.press("k")
        above = selected(app)
        await pilot.press("up", "j", "down", "down", "down")
        below = selected(app)
        keys = shown(app)

    assert begun == below == "malice? no, just the cable"
    assert above.startswith("@alice the projector")
    assert "r reply  e edit  + react  Del delete  p pin  Enter details  Esc back" in keys
    assert "▸malice?" in keys


async def test_what_is_said_of_the_selected_message_is_its_text_as_it_is_now() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t", "k", "tab")
        await until(pilot, lambda: "Selected: @alice the projector" in shown(app))
        target = app.transcript.about
        assert target is not None

        scene.world.change(BOB, Edit(target, "it was another one"))
        scene.world.run(SECOND)
        await until(pilot, lambda: "Selected: it was another one" in shown(app))
        scene.world.change(BOB, Redaction(target))
        scene.world.run(SECOND)
        await until(pilot, lambda: "Selected: deleted by its author" in shown(app))


@pytest.mark.slow
@pytest.mark.net
async def test_nothing_of_a_blocked_author_stays_beside_the_input(tmp_path: Path) -> None:
    async with beside_bob(tmp_path, (100, 24)) as (app, pilot, bob):
        await bob.send_text(lobby(bob), "a bad word")
        await live_until(pilot, lambda: "a bad word" in shown(app))
        await pilot.press("ctrl+t", "tab")
        await live_until(pilot, lambda: "Selected: a bad word" in shown(app))

        await type_in(pilot, "/block bob")
        await live_until(pilot, lambda: "bob is blocked" in shown(app))
        await live_until(pilot, lambda: "a bad word" not in shown(app))
        assert "Selected" not in shown(app)


async def test_the_cursor_stays_on_its_message_while_others_arrive() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t", "k", "k")
        before, lines = selected(app), top_lines(app)
        for number in range(30):
            scene.say(BOB, f"more {number}", then=SECOND)
        await paint(app, pilot)
        await until(pilot, lambda: "↓ 30 new" in shown(app))

        assert selected(app) == before
        assert top_lines(app)[: len(lines) - 12] == lines[: len(lines) - 12]


async def test_escape_gives_the_keys_back_to_the_composer_and_follows_again() -> None:
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t", "k", "escape", "h", "i")
        scene.say(BOB, "the newest")
        await paint(app, pilot)

        assert app.composer.text == "hi"
        assert app.transcript.cursor is None
        assert app.transcript.follow
        assert "▸" not in shown(app)


async def test_commands_are_told_which_message_is_selected() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "k", "k", "slash")
        await pilot.press(*"info", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))

        assert f"see {LINK}" in shown(app)


async def test_tab_goes_to_writing_with_the_message_still_selected() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "tab", "j")
        await until(pilot, lambda: "Selected: malice? no, just th" in shown(app))

        assert app.composer.text == "j"

        await pilot.press("ctrl+t", "k")

        assert selected(app).startswith("@alice")


async def test_who_writes_a_line_lets_go_of_what_was_selected_and_follows_again() -> None:
    scene = long_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t", "home")
        await until(pilot, lambda: selected(app) == "line 0")
        await pilot.press("tab")
        await command(pilot, "a line of mine")
        await until(pilot, lambda: "a line of mine" in shown(app))
        left = app.transcript.about
        scene.say(BOB, "the newest", then=SECOND)
        await paint(app, pilot)
        newest = shown(app)
        await command(pilot, "/react heart")
        await until(pilot, lambda: "Reacted with" in shown(app))

        assert left is None
        assert "the newest" in newest
        assert "End: newest" not in newest
        assert "❤ 1 (you)" in shown(app)


async def test_a_line_that_is_written_late_leaves_what_was_selected_meanwhile() -> None:
    scene = long_talk()
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t", "home")
        await until(pilot, lambda: selected(app) == "line 0")
        count = scene.snapshot().channels[0].messages
        app.composer.post_message(Submitted("a late line"))
        await until(pilot, lambda: scene.snapshot().channels[0].messages > count)
        await pilot.pause()

        assert selected(app) == "line 0"
        assert app.transcript.has_focus


@pytest.mark.parametrize("word", ["bare", "unread", "back", "open_link"])
def test_what_takes_the_keys_waits_for_who_writes(word: str) -> None:
    assert Reading.takes_keys(View(word))
    assert not Reading.takes_keys(View("fold"))


async def test_what_is_selected_and_no_longer_in_memory_is_not_acted_on() -> None:
    async with reading(long_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "home")
        await until(pilot, lambda: selected(app) == "line 0")
        await pilot.press("tab", "end")
        await until(pilot, lambda: f"line {LONG - 1}" in shown(app))

        assert "Selected:" not in shown(app)
        assert app.transcript.about is None
        assert app.transcript.follow


async def test_another_channel_or_an_empty_one_has_nothing_selected() -> None:
    scene = Scene("alice", "bob")
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t")
        await pilot.pause()

        assert app.transcript.cursor is None
        assert "There is no message yet to select." in shown(app)
        assert app.composer.has_focus


async def test_home_is_the_very_first_message_on_the_disk_and_end_the_newest() -> None:
    async with reading(long_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "home")
        await until(pilot, lambda: selected(app) == "line 0")
        first = top_lines(app)
        await pilot.press("end")
        await until(pilot, lambda: selected(app) == f"line {LONG - 1}")

    assert any(text.endswith("line 0") for text in first)


async def test_a_page_takes_the_cursor_along() -> None:
    async with reading(long_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "pageup")
        await pilot.pause()
        row = app.transcript.selected()
        above = top_lines(app)[0]

    assert row is not None
    assert above.endswith(row.text)


# -- details, copying, quoting, links ------------------------------------------------------------


async def test_enter_opens_the_details_with_the_whole_text() -> None:
    scene = Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(BOB, "\n".join(f"part {number}" for number in range(400)))
    async with reading(scene) as (app, pilot):
        await pilot.press("ctrl+t", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))
        opened = shown(app)
        for _ in range(60):
            await pilot.press("pagedown")
        end = shown(app)

    assert "bob" in opened
    assert "400 lines" in opened
    assert "part 399" in end


async def test_details_copy_and_quote_what_they_show() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "enter")
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))
        await pilot.press("y")
        await pilot.pause()

        assert app.clipboard == "malice? no, just the cable"
        assert not isinstance(app.screen, DetailsScreen)


async def test_y_copies_the_text_and_says_what_else_there_is() -> None:
    async with reading(short_talk(), size=(140, 40)) as (app, pilot):
        await pilot.press("ctrl+t", "k", "y")
        await pilot.pause()
        text, said = app.clipboard, shown(app)
        await pilot.press("i")
        copied_id = app.clipboard
        row = app.transcript.selected()

    assert text == "@alice the projector needs the long cable\nand a table"
    assert "Some terminals ignore this: then use F9, or Shift and the mouse." in said
    assert row is not None
    assert copied_id == row.line.message_id


async def test_what_no_terminal_takes_is_not_copied() -> None:
    async with reading(short_talk(), size=(140, 40)) as (app, pilot):
        app.reading.acts.copy("x" * (COPY_MAX + 1), "the message")
        await until(pilot, lambda: "F9 shows it as text" in shown(app))

        assert app.clipboard == ""


async def test_q_quotes_above_what_was_begun() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("o", "k", "ctrl+t", "k", "q")
        await pilot.pause()

        assert app.composer.text == (
            "> bob: @alice the projector needs the long cable\n> and a table\nok"
        )
        assert app.composer.has_focus


async def test_a_link_is_opened_only_after_its_whole_address_was_seen() -> None:
    opened: list[str] = []

    async def note(link: str) -> bool:
        opened.append(link)
        return True

    async with reading(short_talk()) as (app, pilot):
        app.reading.acts.open_link = note
        await pilot.press("ctrl+t", "k", "k", "o")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        question = shown(app)
        await pilot.press("down")
        deceiving = shown(app)
        await pilot.press("escape")
        await pilot.pause()
        none = list(opened)
        await pilot.press("o", "down", "c")
        await until(pilot, lambda: not isinstance(app.screen, ChoiceScreen))
        copied, none = app.clipboard, list(opened)
        await pilot.press("o", "down", "enter")
        await until(pilot, lambda: opened)

    assert LINK in question
    assert "It leads to" in question
    assert "xn--exmple-4nf.com" in deceiving
    assert "letters that may look like others" in deceiving
    assert none == []
    assert copied == "http://xn--exmple-4nf.com/b"
    assert opened == [copied]


async def test_a_message_without_a_link_says_so() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+t", "o")
        await pilot.pause()

        assert "There is no http or https link in this message." in shown(app)


async def test_g_asks_for_the_graph_of_the_message() -> None:
    wanted: list[str] = []

    def note(message: Message) -> None:
        if isinstance(message, GraphWanted):
            wanted.append(message.message_id)

    async with reading(short_talk(), hook=note) as (app, pilot):
        await pilot.press("ctrl+t")
        row = app.transcript.selected()
        await pilot.press("g")
        await until(pilot, lambda: wanted)

    assert row is not None
    assert set(wanted) == {row.line.message_id}


# -- the mouse -----------------------------------------------------------------------------------


async def test_a_click_selects_and_another_opens() -> None:
    async with reading(short_talk()) as (app, pilot):
        at = next(y for y, text in enumerate(top_lines(app)) if "thank you" in text)
        await pilot.click(app.transcript, offset=(30, at))
        await pilot.pause()
        first = selected(app)
        await pilot.click(app.transcript, offset=(30, at))
        await until(pilot, lambda: isinstance(app.screen, DetailsScreen))

    assert first == "thank you, and the cable?"


async def test_text_picked_with_the_mouse_is_copied_with_ctrl_c() -> None:
    async with reading(short_talk()) as (app, pilot):
        lines = top_lines(app)
        at = next(y for y, text in enumerate(lines) if "thank you" in text)
        start = lines[at].index("thank")
        await pilot.mouse_down(app.transcript, offset=(start, at))
        end = (start + len("thank you"), at)
        await pilot._post_mouse_events([MouseMove], app.transcript, offset=end, button=1)
        await pilot.mouse_up(app.transcript, offset=end)
        picked = app.transcript.picked_text()
        await pilot.press("ctrl+c")
        await pilot.pause()

    assert picked == "thank you"
    assert app.clipboard == "thank you"


async def test_ctrl_c_with_nothing_picked_explains_quitting() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("ctrl+c")
        await pilot.pause()

        assert "Ctrl+Q quits" in shown(app)


# -- views ---------------------------------------------------------------------------------------


async def test_the_bare_view_has_the_text_and_nothing_else() -> None:
    async with reading(short_talk()) as (app, pilot):
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, BareScreen))
        await pilot.pause()
        bare = shown(app)
        await pilot.press("f9")
        await pilot.pause()
        back = shown(app)

    assert "bob: @alice the projector needs the long cable  " in bare
    assert not any(sign in bare for sign in "│╭─╮╰▸●○")
    assert "to #lobby" in back


@pytest.mark.parametrize("size", [(60, 16), (80, 24)])
async def test_an_answer_too_long_for_the_line_above_the_input_is_shown_whole(
    size: tuple[int, int],
) -> None:
    async with reading(short_talk(), size) as (app, pilot):
        await command(pilot, "/theme")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()

        assert "rose-pine-dawn" in shown(app)
        assert f"{THEMES[-1]}." in shown(app)


async def test_the_bare_view_says_what_is_deleted_and_what_somebody_does() -> None:
    async with reading(short_talk()) as (app, pilot):
        await command(pilot, "a mistake")
        await command(pilot, "/delete")
        await command(pilot, "/me waves")
        await until(pilot, lambda: "* alice waves" in shown(app))
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, BareScreen))
        await pilot.pause()
        bare = shown(app)

    assert "alice: deleted by its author" in bare
    assert "alice: * alice waves" in bare


async def test_clear_empties_the_view_and_page_up_brings_all_back() -> None:
    scene = long_talk()
    async with reading(scene) as (app, pilot):
        await command(pilot, "/clear")
        await until(pilot, lambda: "The view is clear; nothing was deleted." in shown(app))
        cleared = shown(app)
        scene.say(BOB, "after it")
        await paint(app, pilot)
        new = [row.text for row in app.transcript.conversation.rows]
        await pilot.press("pageup")
        await until(pilot, lambda: len(app.transcript.conversation.rows) > 50)
        rows = [row.text for row in app.transcript.conversation.rows]

    assert "line" not in cleared.split("to #lobby", maxsplit=1)[0].replace("The view", "")
    assert new == ["after it"]
    assert rows[-2:] == [f"line {LONG - 1}", "after it"]


async def test_ticks_are_shown_as_the_person_wants() -> None:
    async with reading(short_talk()) as (app, pilot):
        always = "\n".join(top_lines(app)).count("●")
        await command(pilot, "/ticks never")
        await until(pilot, lambda: "ticks is never now" in shown(app))
        never = "\n".join(top_lines(app)).count("●")
        await command(pilot, "/ticks some")
        await until(pilot, lambda: "recent, always or never" in shown(app))

    assert (always, never) == (2, 0)


async def test_all_of_it_is_there_in_ascii() -> None:
    async with reading(short_talk(), glyphs=ASCII) as (app, pilot):
        await pilot.press("ctrl+t", "k")
        await pilot.pause()

        assert ">@alice the projector" in shown(app)
