"""Keys: which of them terminals really send, and that no key means two things."""

import pytest
from textual.binding import Binding
from textual.widgets import TextArea

from chat_tui.debug.tab_table import TABS
from chat_tui.demo.scenarios import SCENARIOS as DEMOS
from chat_tui.keys.names import EDITING, name_of, names_of, parse_keys, undeliverable
from chat_tui.keys.places import FIXED, Place
from chat_tui.keys.table import KEYS, PANE_TABS, SCENARIOS, USUAL, conflicts, with_keys
from sync.errors import LocalError


def test_no_usual_key_is_one_that_terminals_do_not_send() -> None:
    for row in KEYS:
        refused = [undeliverable(key, row.place) for key in row.keys.split(",")]
        assert refused == [""] * len(USUAL[row.id])
        assert parse_keys(row.keys, row.place) == USUAL[row.id]


def test_no_usual_key_means_two_things() -> None:
    assert conflicts(USUAL) == []


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("alt+1", "hardly any terminal"),
        ("alt+comma", "hardly any terminal"),
        ("ctrl+comma", "hardly any terminal"),
        ("alt+b", "Ctrl\\+Left"),
        ("alt+f", "Ctrl\\+Right"),
        ("ctrl+i", "Tab"),
        ("ctrl+m", "Enter"),
        ("ctrl+j", "new line"),
        ("ctrl+h", "Backspace"),
        ("ctrl+w", "edits what is being written"),
        ("ctrl+left_square_bracket", "hardly any terminal"),
        ("ctrl+shift+a", "Most terminals cannot"),
        ("alt+enter", "same for Alt\\+Enter as for Enter"),
        ("shift+up", "selects text"),
        ("a", "needed for writing"),
        ("space", "needed for writing"),
        ("enter", "needed for writing and for lists"),
        ("f13", "Unknown key F13"),
        ("hyper", "Unknown key Hyper"),
    ],
)
def test_a_key_that_does_not_arrive_is_refused_with_the_reason(key: str, why: str) -> None:
    with pytest.raises(LocalError, match=why):
        parse_keys(key)


def test_what_edits_is_what_the_input_really_takes() -> None:
    taken = {
        key.strip()
        for binding in TextArea.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }
    usual = {key for row in KEYS if row.place.is_of_chat for key in USUAL[row.id]}

    assert taken >= EDITING
    assert all(undeliverable(key) for key in taken - usual)


def test_the_pane_takes_keys_that_write_elsewhere() -> None:
    taken = parse_keys("N, n, ?, +, space, Enter, 7, PgUp, alt+r", Place.PANE)

    assert taken == (
        *("N", "n", "question_mark", "plus", "space", "enter", "7", "pageup", "alt+r"),
    )  # fmt: skip
    assert names_of(taken) == "N or n or ? or + or Space or Enter or 7 or PgUp or Alt+R"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("é", "not on every keyboard"),
        ("alt+b", "Ctrl\\+Left"),
        ("ctrl+m", "Enter"),
        ("alt+enter", "same for Alt\\+Enter as for Enter"),
        ("hyper", "Unknown key Hyper"),
    ],
)
def test_the_pane_too_takes_only_keys_that_arrive(key: str, why: str) -> None:
    with pytest.raises(LocalError, match=why):
        parse_keys(key, Place.PANE)


def test_a_key_of_the_pane_may_be_one_of_the_chat_where_they_cannot_meet() -> None:
    as_unread = {**USUAL, "pane_sort": USUAL["unread"]}
    as_frames = {**USUAL, "reading_hide": USUAL["details_frames"]}
    as_paging = {**USUAL, "read_up": ("pageup",), "pane_page_up": ("pageup",)}

    assert conflicts(as_unread, "pane_sort") == []
    assert conflicts(as_frames, "reading_hide") == []
    assert conflicts(as_paging) == []


@pytest.mark.parametrize(
    ("id_", "key", "owner"),
    [
        ("pane_sort", "f5", "keys.reconcile"),
        ("pane_sort", "t", "keys.pane_list"),
        ("pane_list", "s", "keys.pane_sort"),
        ("help", "alt+g", "keys.pane_sort"),
        ("reading_quote", "y", "keys.reading_copy"),
        ("reading_up", "alt+u", "keys.unread"),
        ("over_close", "f2", "keys.debug"),
        ("over_down", "escape", "keys.close"),
        ("over_down", "f9", "keys.bare"),
        ("details_raw", "y", "keys.reading_copy"),
        ("reading_copy", "w", "keys.details_frames"),
        ("peers_block", "q", "keys.over_close"),
        ("peers_block", "m", "keys.peers_message"),
        ("verify_differ", "m", "keys.verify_match"),
        ("settings_reset", "f6", "keys.settings"),
        ("demo_run", "n", "keys.demo_next"),
        ("close", "f4", "keys.demo"),
    ],
)
def test_a_key_that_two_would_hear_at_once_is_refused(id_: str, key: str, owner: str) -> None:
    chosen = {**USUAL, id_: (key,)}
    if id_ == "help":
        chosen["pane_sort"] = ("alt+g",)
    [problem] = conflicts(chosen, id_)

    assert problem.startswith(f"{name_of(key)} is taken by {owner} (")
    assert f"choose another key for keys.{id_}" in problem


def test_of_two_keys_in_a_file_the_one_that_was_changed_gives_way() -> None:
    [problem] = conflicts({**USUAL, "pane_sort": ("t",)})

    assert problem == (
        "t is taken by keys.pane_list (Protocol: graph as text): choose another key for "
        "keys.pane_sort, or move that one first."
    )


@pytest.mark.parametrize("place", list(FIXED))
def test_what_a_list_or_a_button_needs_is_refused_beside_it(place: Place) -> None:
    with pytest.raises(LocalError, match=f"Enter is needed {place.value}"):
        parse_keys("enter", place)

    assert parse_keys("x, Del", place) == ("x", "delete")


def test_a_comma_is_written_as_a_word() -> None:
    assert parse_keys("comma, Left", Place.DEMO) == ("comma", "left")
    assert names_of(("comma", "left")) == ", or Left"


def test_a_sentence_names_the_first_key_there_is() -> None:
    chosen = {**USUAL, "demo_run": ("f12", "space")}

    assert with_keys("{demo_run} runs, {close} leaves", chosen) == "F12 runs, Esc leaves"


def test_there_are_as_many_scenarios_as_keys_for_them() -> None:
    assert [one.number for one in DEMOS] == list(range(1, SCENARIOS + 1))


def test_the_tabs_of_the_pane_are_called_as_their_keys_say() -> None:
    assert tuple(tab.value for tab in TABS) == PANE_TABS


def test_keys_are_written_as_people_do() -> None:
    assert parse_keys("F5, Alt+R,PgUp , control+g, f5") == ("f5", "alt+r", "pageup", "ctrl+g")
    assert names_of(("f1", "alt+pageup", "ctrl+home")) == "F1 or Alt+PgUp or Ctrl+Home"
    assert name_of("escape") == "Esc"
    with pytest.raises(LocalError, match="Name a key"):
        parse_keys(" , ")
