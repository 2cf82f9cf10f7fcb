"""A key of each place is changed: the new one works, the old one does not, and hints say so."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.widgets import Button

import chat_tui
from chat_tui.about.hole_screen import HoleScreen
from chat_tui.about.screen import DetailsScreen
from chat_tui.app import ChatApp
from chat_tui.bindings import BY_ID
from chat_tui.demo.app import DemoApp
from chat_tui.demo.recording import Recording
from chat_tui.demo.screen import DemoScreen
from chat_tui.first_run import FirstRun
from chat_tui.palette import Palette
from chat_tui.peers_screen import AddressScreen, PeersScreen, VerifyScreen
from chat_tui.reading_screens import BareScreen, ChoiceScreen
from chat_tui.screens import TextScreen
from chat_tui.settings import schema
from chat_tui.settings.preferences import Preferences, Wishes
from chat_tui.settings_screen import SettingsScreen
from tests import scenes
from tests.demos import SEED, lines, ready
from tests.readings import command, long_talk, reading, selected, short_talk, shown, until
from tests.test_first_run import SUGGESTED, anything
from tests.test_gap_lines import go_to_gap


@pytest.fixture(autouse=True)
def _in_utc() -> Iterator[None]:
    with scenes.utc():
        yield


def change(app: ChatApp, id_: str, *keys: str) -> None:
    """Change the keys of a row, as `/set` does."""
    app._chat.settings.change(schema.KEY_SETTINGS[id_], keys)


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


# --- The table and who hears it -------------------------------------------------------------------


def nodes() -> list[type[DOMNode]]:
    """All applications, screens and widgets of ours."""
    found: dict[str, type[DOMNode]] = {}
    for module in pkgutil.walk_packages(chat_tui.__path__, "chat_tui."):
        if module.name.endswith("__main__"):
            continue
        for name, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(one, DOMNode) and one.__module__.startswith("chat_tui."):
                found[f"{one.__module__}.{name}"] = one
    return list(found.values())


def own_bindings(node: type[DOMNode]) -> list[Binding]:
    own = node.__dict__.get("BINDINGS", [])
    assert all(isinstance(binding, Binding) for binding in own)
    return list(own)


def test_no_key_is_bound_beside_the_table() -> None:
    bound = {
        (node.__name__, binding.key)
        for node in nodes()
        for binding in own_bindings(node)
        if binding.id not in BY_ID
    }

    assert bound == {("DemoApp", "ctrl+c")}  # which no input may lose, and Textual binds as well


def test_every_row_of_the_table_is_heard_by_somebody_who_can_do_it() -> None:
    heard: set[str] = set()
    for node in nodes():
        for binding in own_bindings(node):
            owner, _, action = binding.action.partition("(")[0].rpartition(".")
            can = ChatApp if owner == "app" else node
            assert hasattr(can, f"action_{action}") or not callable(can), (node, binding)
            heard.add(str(binding.id))

    assert heard >= set(BY_ID)


def test_every_sentence_that_names_a_key_names_one_of_the_table() -> None:
    named = {
        id_
        for path in Path(chat_tui.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for id_ in re.findall(r"\{([a-z_]+)\}", node.value)
    }

    assert named - set(BY_ID) == set()
    assert len(named) > 40


# --- With a message selected ----------------------------------------------------------------------


async def test_a_key_on_a_selected_message_is_changed_and_its_line_says_so() -> None:
    async with reading(short_talk()) as (app, pilot):
        for line in ("/set keys.reading_copy c, f12", "/set keys.reading_up w"):
            await command(pilot, line)
        await press(pilot, "ctrl+t")
        before, hint = selected(app), shown(app)
        await press(pilot, "up", "k")
        unmoved = selected(app)
        await press(pilot, "y")
        not_copied = app.clipboard
        await press(pilot, "w", "c")
        moved, copied = selected(app), app.clipboard

    assert "Enter details · c copy · q quote · o link · Esc back" in hint
    assert unmoved == before
    assert not_copied == ""
    assert moved != before
    assert copied == moved


async def test_the_line_of_a_message_that_was_left_names_the_keys_there_are() -> None:
    async with reading(short_talk()) as (app, pilot):
        await press(pilot, "ctrl+t", "tab")
        before = shown(app)
        await command(pilot, "/set keys.select f8")
        await command(pilot, "/set keys.close f12")
        after = shown(app)
        await press(pilot, "escape")
        kept = app.transcript.cursor
        await press(pilot, "f12")

    assert "Ctrl+T goes back to it · Esc lets go" in before
    assert "F8 goes back to it · F12 lets go" in after
    assert kept is not None
    assert app.transcript.cursor is None


async def test_keys_of_hits_are_changed() -> None:
    async with reading(short_talk()) as (app, pilot):
        change(app, "reading_next", "x")
        change(app, "search", "f8")
        await command(pilot, "/search projector")
        await until(pilot, lambda: "hit 1 of 2" in shown(app))
        hint = shown(app)
        await press(pilot, "n")
        still = "hit 1 of 2" in shown(app)
        await press(pilot, "x")
        await until(pilot, lambda: "hit 2 of 2" in shown(app))

    assert "x older · N newer · Esc ends" in hint
    assert still


async def test_keys_on_a_gap_are_changed_and_its_line_and_its_details_say_so() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        change(app, "reading_ask", "a")
        change(app, "reading_hide", "x")
        await go_to_gap(pilot)
        hint = shown(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "a ask again now" in shown(app))
        in_details = isinstance(app.screen, HoleScreen)
        await press(pilot, "escape", "h")
        kept = "a message is lost; a tries again, x hides" in shown(app)
        await press(pilot, "x")
        hidden = "a message is lost" not in shown(app)

    assert "Enter what is known · a ask again now · x hide this line" in hint
    assert "a message is lost; a tries again, x hides" in hint
    assert in_details
    assert kept
    assert hidden


async def test_the_palette_does_with_the_selected_message_what_its_keys_do() -> None:
    async with reading(short_talk()) as (app, pilot):
        await app.run_action("key('reading_copy')")
        await pilot.pause()
        without = shown(app)
        await press(pilot, "ctrl+t", "tab")
        await app.run_action("key('reading_ask')")
        await pilot.pause()
        on_no_gap = shown(app)
        await app.run_action("key('reading_copy')")
        await pilot.pause()
        copied, on = app.clipboard, selected(app)

    assert "No message is selected. Ctrl+T selects one" in without
    assert "No line of a gap is selected. Ctrl+T selects" in on_no_gap
    assert copied == on != ""


# --- Over the chat --------------------------------------------------------------------------------


async def test_texts_over_the_chat_follow_changed_keys() -> None:
    async with reading(short_talk()) as (app, pilot):
        for id_, key in (("help", "f12"), ("close", "f8"), ("over_page_down", "x")):
            change(app, id_, key)
        await press(pilot, "f12")
        assert isinstance(app.screen, TextScreen)
        frame = app.screen.query_one("#text-frame", VerticalScroll)
        says = str(frame.border_subtitle)
        await press(pilot, "pagedown", "space")
        unmoved = frame.scroll_y
        await press(pilot, "x")
        moved = frame.scroll_y
        await press(pilot, "escape", "f1")
        stays = isinstance(app.screen, TextScreen)
        await press(pilot, "f8")
        closed = not isinstance(app.screen, TextScreen)
        await press(pilot, "f12", "f12")

        assert says == " F8 closes "
        assert unmoved == 0 < moved
        assert stays
        assert closed
        assert not isinstance(app.screen, TextScreen)


async def test_a_list_over_the_chat_follows_changed_keys() -> None:
    async with reading(long_talk()) as (app, pilot):
        change(app, "over_first", "x")
        change(app, "over_down", "a")
        change(app, "over_enter", "z")
        await command(pilot, "/mentions")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        says = shown(app)
        await press(pilot, "home", "j", "enter")
        stays = isinstance(app.screen, ChoiceScreen)
        await press(pilot, "x", "a", "z")
        await until(pilot, lambda: selected(app) == "alice, apple 150")

    assert "z goes there · Esc closes" in says
    assert stays


async def test_text_without_boxes_follows_changed_keys() -> None:
    async with reading(long_talk()) as (app, pilot):
        change(app, "bare", "f12")
        change(app, "over_page_up", "x")
        await press(pilot, "f9")
        not_yet = isinstance(app.screen, BareScreen)
        await press(pilot, "f12")
        assert isinstance(app.screen, BareScreen)
        says, at = shown(app), app.screen.scrolled.scroll_y
        await press(pilot, "x")
        further_up = app.screen.scrolled.scroll_y
        await press(pilot, "f9")
        stays = isinstance(app.screen, BareScreen)
        await press(pilot, "f12")

        assert not not_yet
        assert "x, PgDn read on, Esc leaves." in says
        assert further_up < at
        assert stays
        assert not isinstance(app.screen, BareScreen)


async def test_the_details_of_a_message_follow_changed_keys() -> None:
    async with reading(short_talk()) as (app, pilot):
        change(app, "details_raw", "x")
        change(app, "reading_copy", "c")
        await press(pilot, "ctrl+t", "enter")
        await until(pilot, lambda: "In short" in shown(app))
        says = shown(app)
        await press(pilot, "d", "y")
        in_words = "In short" in shown(app)
        await press(pilot, "x")
        await until(pilot, lambda: "In short" not in shown(app))
        raw = shown(app)
        await press(pilot, "c")
        await until(pilot, lambda: not isinstance(app.screen, DetailsScreen))

        assert "c copy  i id  g graph  w wire  x raw  o link  Esc close" in says
        assert in_words
        assert "x back to the words" in raw
        assert app.clipboard == selected(app) != ""


async def test_the_list_of_peers_and_what_it_opens_follow_changed_keys() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        for id_, key in (
            *(("peers", "f12"), ("peers_verify", "x"), ("peers_connect", "z")),
            *(("verify_match", "y"), ("close", "f8")),
        ):
            change(app, id_, key)
        await press(pilot, "f12")
        assert isinstance(app.screen, PeersScreen)
        says = " ".join(shown(app).split())
        await press(pilot, "z")
        assert isinstance(app.screen, AddressScreen)
        asks = shown(app)
        await press(pilot, "escape", "f8", "v")
        stays = isinstance(app.screen, PeersScreen)
        await press(pilot, "x")
        assert isinstance(app.screen, VerifyScreen)
        label = str(app.screen.query_one("#match", Button).label)
        await press(pilot, "m")
        not_yet = isinstance(app.screen, VerifyScreen)
        await press(pilot, "y")
        await until(pilot, lambda: "bob is verified." in shown(app))
        await press(pilot, "f3", "escape")
        open_still = isinstance(app.screen, PeersScreen)
        await press(pilot, "f12")

        assert "m message x compare words z connect by address b block" in says
        assert "d doctor F8 close" in says
        assert "Enter dials, F8 closes" in asks
        assert stays
        assert label == "They match: mark verified (y)"
        assert not_yet
        assert open_still
        assert not isinstance(app.screen, PeersScreen)


async def test_home_and_end_go_to_the_first_and_the_last_peer() -> None:
    async with reading(scenes.morning()) as (app, pilot):
        await press(pilot, "f3", "end")
        assert isinstance(app.screen, PeersScreen)
        last = app.screen.chosen
        await press(pilot, "pageup")
        first = app.screen.chosen
        await press(pilot, "down", "home")

        assert last is not None
        assert first is not None
        assert last.peer != first.peer == getattr(app.screen.chosen, "peer", None)


async def test_the_settings_follow_changed_keys_at_once() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await press(pilot, "f6")
        assert isinstance(app.screen, SettingsScreen)
        before = shown(app)
        for id_, key in (("settings_more", "x"), ("settings_reset", "z"), ("settings", "f12")):
            change(app, id_, key)
        app.screen._changed()
        app.screen._list.highlighted = app.screen._list.get_option_index("time_format")
        await press(pilot, "right")
        unchanged = app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "x")
        says, changed = shown(app), app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "delete")
        kept = app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "z")
        undone = app._chat.settings[schema.TIME_FORMAT]
        await press(pilot, "f12")

        assert "Left and Right change, Enter types, Del resets, Esc closes" in before
        assert "Left and x change, Enter types, z resets, Esc closes" in says
        assert "Left and x go through 2." in says
        assert (unchanged, changed, kept, undone) == ("24h", "12h", "12h", "24h")
        assert not isinstance(app.screen, SettingsScreen)


@pytest.mark.parametrize(
    ("id_", "usual", "opens"),
    [("palette", "ctrl+p", Palette), ("settings", "f6", SettingsScreen)],
)
async def test_a_key_closes_what_it_opened_and_a_changed_one_too(
    id_: str, usual: str, opens: type[DOMNode]
) -> None:
    async with reading(scenes.empty()) as (app, pilot):
        await press(pilot, usual)
        opened = isinstance(app.screen, opens)
        await press(pilot, usual)
        closed = len(app.screen_stack)
        change(app, id_, "f12")
        await press(pilot, usual)
        not_opened = len(app.screen_stack)
        await press(pilot, "f12")
        again = isinstance(app.screen, opens)
        await press(pilot, usual, "f12")

        assert opened
        assert (closed, not_opened) == (1, 1)
        assert again
        assert len(app.screen_stack) == 1


# --- The demo, and what has no chat ---------------------------------------------------------------


async def test_the_demo_over_the_chat_follows_changed_keys() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        for id_, key in (
            *(("demo", "f12"), ("help", "f8"), ("debug", "f10")),
            *(("demo_formulas", "v"), ("demo_forward", "greater_than_sign")),
        ):
            change(app, id_, key)
        await press(pilot, "f12")
        await ready(pilot)
        screen = app.screen
        assert isinstance(screen, DemoScreen)
        last = lines(screen)[-2]
        await press(pilot, ".", "right", "e")
        begun, sentences = screen.player is not None and not screen.player.shot.said, lines(screen)
        await press(pilot, ">", "v")
        said, formulas = screen.player is not None and screen.player.shot.said, lines(screen)
        await press(pilot, "f10")
        drawer = screen.query_one("#debug").display
        await press(pilot, "f8")
        helped = shown(app)
        await press(pilot, "f8", "f10", "f4")
        stays = app.screen is screen
        await press(pilot, "f12")

        assert " > step  , back " in last
        assert " v formulas " in last
        assert begun
        assert said
        assert sentences != formulas
        assert drawer
        assert "d or F10" in helped
        assert "Esc, F12" in helped
        assert stays
        assert not isinstance(app.screen, DemoScreen)


async def test_a_demo_without_a_chat_follows_the_persons_own_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\ndemo_person = "a"\nclose = "f8"\nquit = "f12"\n')
    screen = DemoScreen(played=Recording(3, SEED))
    app = DemoApp(screen, Preferences(None, Wishes(file)))
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        last = "\n".join(lines(screen)[-2:])
        await pilot.press("tab")
        first = screen._selected
        await pilot.press("a")
        second = screen._selected
        await pilot.press("escape", "ctrl+q")
        runs = app.is_running
        await pilot.press("f12")
        await pilot.pause()

    assert " a peer " in last
    assert " F8 leave " in last
    assert (first, second) == (0, 1)
    assert runs
    assert app._exit


async def test_the_first_questions_follow_the_persons_own_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\nclose = "f8"\nquit = "f12"\n')
    app = FirstRun(SUGGESTED, anything, Preferences(None, Wishes(file)))
    async with app.run_test(size=(80, 24)) as pilot:
        says = shown(app)
        await pilot.press("escape", "ctrl+q")
        asking = not app._exit
        await pilot.press("f8")

    assert "Enter starts, Tab goes to the next field, F8 leaves" in says
    assert asking
    assert app._exit


# --- Help and the sentences of the chat -----------------------------------------------------------


async def test_help_has_every_place_and_says_the_keys_there_are() -> None:
    async with reading(short_talk(), (100, 40)) as (app, pilot):
        change(app, "reading_quote", "x")
        change(app, "demo_cut", "C")
        await press(pilot, "f1")
        screen = app.screen
        assert isinstance(screen, TextScreen)
        text = str(screen.query_one("#text").visual)  # type: ignore[attr-defined]

    for heading in ("with a message selected", "in the list of peers", "in the demo"):
        assert f"KEYS {heading}" in text
    assert re.search(r"^x +quote it$", text, re.M)
    assert re.search(r"^C +cut a link, or mend it$", text, re.M)
    assert not re.search(r"^q +quote it$", text, re.M)


async def test_notices_name_the_keys_there_are() -> None:
    async with reading(short_talk()) as (app, pilot):
        for id_, key in (("quit", "f12"), ("select", "f8"), ("bare", "f10"), ("demo", "alt+g")):
            change(app, id_, key)
        app.action_help_quit()
        await pilot.pause()
        quits = shown(app)
        await command(pilot, "/copy")
        await until(pilot, lambda: "F8" in shown(app))
        nothing = shown(app)
        app.composer.text = ""
        await press(pilot, "f8", "y")
        copied = shown(app)
        await press(pilot, "escape")
        await command(pilot, "/net loss=20")
        await until(pilot, lambda: "This network is real" in shown(app))
        real = shown(app)

    assert "F12 quits." in quits
    assert "select it (F8), or write" in nothing
    assert "then use F10" in " ".join(copied.split())
    assert "In the demo (Alt+G), w and then" in " ".join(real.split())
