"""Keys: which of them terminals really send, and that no key means two things."""

from typing import Any

import pytest
from textual.app import App
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import TextArea

from chat_tui.app import ChatApp
from chat_tui.bindings import EDITING, KEYS, conflicts, name_of, names_of, parse_keys, undeliverable
from chat_tui.composer import Composer
from sync.errors import LocalError

USUAL = {row.id: parse_keys(row.keys) for row in KEYS}


def test_no_usual_key_is_one_that_terminals_do_not_send() -> None:
    for row in KEYS:
        assert [undeliverable(key) for key in row.keys.split(",")] == [""] * len(USUAL[row.id])


def test_no_usual_key_means_two_things() -> None:
    assert conflicts(USUAL) == []


@pytest.mark.parametrize("node", [ChatApp, Composer])
def test_every_key_of_the_screen_stands_in_the_table(node: type[App[Any]] | type[Widget]) -> None:
    own = [binding for binding in node.BINDINGS if isinstance(binding, Binding)]

    assert len(own) == len(node.BINDINGS)
    assert {binding.id for binding in own} <= set(USUAL)


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
        ("f13", "no key F13"),
        ("hyper", "no key Hyper"),
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
    usual = {key for keys in USUAL.values() for key in keys}

    assert taken >= EDITING
    assert all(undeliverable(key) for key in taken - usual)


def test_keys_are_written_as_people_do() -> None:
    assert parse_keys("F5, Alt+R,PgUp , control+g, f5") == ("f5", "alt+r", "pageup", "ctrl+g")
    assert names_of(("f1", "alt+pageup", "ctrl+home")) == "F1 or Alt+PgUp or Ctrl+Home"
    assert name_of("escape") == "Esc"
    with pytest.raises(LocalError, match="Name a key"):
        parse_keys(" , ")
