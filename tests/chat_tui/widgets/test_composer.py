"""The composer: what Enter, the other keys and pasting do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.pilot import Pilot

from chat_tui.widgets.composer import PASTE_MAX, Composer, InputHistory, completions
from chat_tui.widgets.messages import Submitted
from tests.support.chat_tui.readings import press

WORDS = ["/help", "/join", "#lobby", "alice", "Albert", "bob"]


class Desk(App[None]):
    """Nothing but a composer."""

    def __init__(self) -> None:
        super().__init__()
        self.composer = Composer(lambda: WORDS)
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.composer

    def on_mount(self) -> None:
        self.composer.focus()

    def on_submitted(self, message: Submitted) -> None:
        self.sent.append(message.text)


@asynccontextmanager
async def desk() -> AsyncIterator[tuple[Desk, Pilot[None]]]:
    app = Desk()
    async with app.run_test(size=(60, 20)) as pilot:
        yield app, pilot


async def test_enter_sends_and_empties() -> None:
    async with desk() as (app, pilot):
        await pilot.press("h", "i", "enter")

        assert (app.sent, app.composer.text) == (["hi"], "")


async def test_an_empty_input_sends_nothing() -> None:
    async with desk() as (app, pilot):
        await pilot.press("enter", "space", "enter")

        assert app.sent == []


async def test_a_letter_with_alt_is_no_text() -> None:
    """Terminals send Escape and the letter; Textual makes a printable key of it."""
    async with desk() as (app, pilot):
        app.post_message(Key("alt+a", "a"))
        await pilot.press("b")

        assert app.composer.text == "b"


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_newline_keys_do_not_send(key: str) -> None:
    async with desk() as (app, pilot):
        await pilot.press("a", key, "b")

        assert (app.sent, app.composer.text) == ([], "a\nb")


async def test_a_backslash_before_enter_is_a_newline() -> None:
    async with desk() as (app, pilot):
        await pilot.press("a", "\\", "enter", "b", "enter")

        assert app.sent == ["a\nb"]


async def test_pasting_never_sends() -> None:
    async with desk() as (app, pilot):
        app.composer.post_message(Paste("one\r\ntwo\rthree\n"))
        await pilot.pause()

        assert (app.sent, app.composer.text) == ([], "one\ntwo\nthree\n")


@pytest.mark.parametrize(
    ("pasted", "written"),
    [
        ("log: \x1b[31;1mERROR\x1b[0m", "log: ERROR"),
        ("abc\x9b2Jdef\x9d0;hacked\x9c", "abc2Jdef0;hacked"),
        ("a\x07b\x08c\x0ed\x7fe\x85f", "abcdef"),
        ("a\u202eb\u2066c\u200fd\u061ce", "abcde"),
        ("two\u2028lines", "two\nlines"),
        ("a\tb\nc", "a\tb\nc"),
        ("\U0001f468\u200d\U0001f469 \u2764\ufe0f", "\U0001f468\u200d\U0001f469 \u2764\ufe0f"),
    ],
)
async def test_what_steers_a_terminal_is_neither_pasted_nor_put_back(
    pasted: str, written: str
) -> None:
    async with desk() as (app, pilot):
        app.composer.post_message(Paste(pasted))
        await pilot.pause()
        seen = app.composer.take_text()
        app.composer.offer(pasted)

        assert (seen, app.composer.text) == (written, written)


async def test_a_command_that_comes_back_without_its_controls_stands_selected() -> None:
    async with desk() as (app, pilot):
        app.composer.restore("/topic a\x9bb")
        await pilot.press("escape")

        assert app.composer.text == ""


async def test_a_long_paste_is_undone_with_what_is_said_of_it_and_done_again() -> None:
    lines = "line\n" * 40
    async with desk() as (app, pilot):
        app.composer.post_message(Paste(lines))
        await pilot.pause()
        said = str(app.composer.border_subtitle)
        await pilot.press("ctrl+z")
        await pilot.pause()
        undone = (app.composer.text, app.composer.cursor_location, app.composer.border_subtitle)
        await pilot.press("ctrl+y")
        await pilot.pause()

        assert said.startswith("40 lines pasted")
        assert undone == ("", (0, 0), "")
        assert (app.composer.text, app.composer.cursor_location) == (lines, (40, 0))


async def test_too_long_a_paste_is_refused_whole() -> None:
    async with desk() as (app, pilot):
        app.composer.post_message(Paste("x" * (PASTE_MAX + 1)))
        await pilot.pause()

        assert app.composer.text == ""


async def test_up_and_down_step_through_own_inputs_and_keep_the_draft() -> None:
    async with desk() as (app, pilot):
        await pilot.press("a", "enter", "b", "enter", "d")
        seen = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await pilot.press(key)
            seen.append(app.composer.text)

    assert seen == ["b", "a", "a", "b", "d", "d"]


async def test_up_inside_a_text_moves_the_cursor() -> None:
    async with desk() as (app, pilot):
        await pilot.press("x", "enter", "a", "ctrl+j", "b", "up")

        assert app.composer.text == "a\nb"
        assert app.composer.cursor_location[0] == 0


async def test_tab_completes_and_goes_round() -> None:
    async with desk() as (app, pilot):
        await pilot.press("a", "l")
        seen = []
        for key in ("tab", "tab", "tab", "shift+tab"):
            await pilot.press(key)
            seen.append(app.composer.text)

    assert seen == ["alice ", "Albert ", "alice ", "Albert "]


async def test_tab_without_a_candidate_changes_nothing() -> None:
    async with desk() as (app, pilot):
        await pilot.press("z", "tab")

        assert app.composer.text == "z"
        assert app.focused is app.composer


async def test_a_long_paste_of_one_line_says_how_long_and_esc_takes_it_out() -> None:
    async with desk() as (app, pilot):
        app.composer.insert("before ")
        app.composer.post_message(Paste("word " * 200))
        await pilot.pause()
        said = str(app.composer.border_subtitle)
        await pilot.press("escape")

        assert said.startswith("1,000 characters pasted: Enter sends them")
        assert app.composer.text == "before "
        app.composer.post_message(Paste("short"))
        await pilot.pause()
        assert app.composer.border_subtitle == ""


async def test_a_long_text_that_could_not_be_sent_can_be_taken_out() -> None:
    async with desk() as (app, pilot):
        app.composer.restore("word " * 200)
        said = str(app.composer.border_subtitle)
        await pilot.press("escape")

        assert said == "1,000 characters: Esc takes them out"
        assert app.composer.text == ""


async def test_tab_after_a_setting_goes_through_its_values() -> None:
    async with desk() as (app, pilot):
        app.composer.insert("/set ticks ")
        await pilot.press("tab")
        first = app.composer.text
        await pilot.press("tab")
        second = app.composer.text

    assert (first, second) == ("/set ticks recent ", "/set ticks always ")


async def test_it_grows_to_eight_lines() -> None:
    async with desk() as (app, pilot):
        heights = [app.composer.size.height]
        for lines in (3, 8, 20):
            app.composer.text = "\n" * (lines - 1)
            await pilot.pause()
            heights.append(app.composer.size.height)

    assert heights == [1, 3, 8, 8]


async def test_a_scroll_bar_is_there_where_not_all_lines_are_and_not_while_it_grows() -> None:
    async with desk() as (app, pilot):
        shown: list[object] = []

        def note(is_shown: object) -> None:
            shown.append(is_shown)

        app.watch(app.composer, "show_vertical_scrollbar", note, init=False)
        for keys, changes in (
            (["ctrl+j"] * 7, []),
            (["ctrl+j"], [True]),
            (["backspace"], [True, False]),
        ):
            await press(pilot, *keys)
            await pilot.pause()
            assert shown == changes


async def test_a_text_that_could_not_be_sent_comes_back() -> None:
    async with desk() as (app, pilot):
        app.composer.restore("lost?")
        kept = app.composer.text
        app.composer.restore("other")
        await pilot.pause()

        assert (kept, app.composer.text) == ("lost?", "lost?")


def test_commands_complete_only_at_the_start() -> None:
    assert completions("/h", WORDS) == ["/help"]
    assert completions("say /h", WORDS) == []
    assert completions("say #l", WORDS) == ["#lobby"]
    assert completions("@AL", WORDS) == ["@alice", "@Albert"]
    assert completions("hello ", WORDS) == []
    assert completions("", WORDS) == []


def test_the_same_input_twice_is_kept_once() -> None:
    history = InputHistory()

    history.add("a")
    history.add("a")

    assert (history.older(""), history.older("")) == ("a", None)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("/role bob ", ["reader", "member", "admin"]),
        ("/role bob a", ["admin"]),
        ("/role Bob the second m", ["member"]),
        ("/add erin r", ["reader"]),
        ("/policy w", ["write"]),
        ("/policy write ", ["members", "admins"]),
        ("/policy write a", ["admins"]),
        ("/invite e", ["end"]),
        ("/create plans p", ["plain"]),
    ],
)
def test_words_that_commands_about_members_take_are_completed(
    before: str, words: list[str]
) -> None:
    assert completions(before, WORDS) == words


def test_a_name_is_completed_where_a_command_takes_one() -> None:
    assert completions("/kick ali", ["alice", "/add"]) == ["alice"]
    assert completions("/role ali", ["alice", "/add"]) == ["alice"]
    assert completions("/policy x", ["alice", "xenia"]) == ["xenia"]
