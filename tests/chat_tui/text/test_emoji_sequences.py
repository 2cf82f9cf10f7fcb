"""Emoji of several characters: kept where the terminal agrees, and only whole ones."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from chat_tui.text.emoji_sequences import CELLS, Joined, keep
from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.transcript.highlights import index_at

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
THUMB = "\U0001f44d\U0001f3fd"
HEART = "\u2764\ufe0f"
RAINBOW = "\U0001f3f3\ufe0f\u200d\U0001f308"
CODER = "\U0001f469\U0001f3fd\u200d\U0001f4bb"
EVERY = [FAMILY, THUMB, HEART, RAINBOW, CODER]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    keep(())


def test_before_the_terminal_has_answered_each_character_stands_alone() -> None:
    assert clean_text(FAMILY) == FAMILY.replace("\u200d", "")
    assert clean_text(THUMB + HEART) == "\U0001f44d\u2764"


def test_what_the_terminal_agrees_on_is_kept_whole() -> None:
    keep(Joined)

    for sequence in EVERY:
        assert clean_text(f"a{sequence}b") == f"a{sequence}b"
        assert cell_len(sequence) == CELLS


def test_a_sequence_of_two_kinds_needs_both() -> None:
    keep({Joined.FAMILY})

    assert clean_text(FAMILY) == FAMILY
    assert clean_text(CODER) == "\U0001f469\U0001f4bb"
    assert clean_text(RAINBOW) == "\U0001f3f3\U0001f308"


@pytest.mark.parametrize(
    "text",
    [
        "a\u200db",
        "1\ufe0f\u20e3",
        "a\ufe0f",
        "\U0001f697\U0001f3fd",
        "\u200d\U0001f468",
        "\U0001f468\u200d",
        "\U0001f468" + "\u200d\U0001f468" * 4,
        "\U0001f3fd",
    ],
    ids=["letters", "keycap", "letter", "car", "begun", "ended", "five", "tone"],
)
def test_nothing_else_is_kept(text: str) -> None:
    plain = clean_text(text)
    keep(Joined)

    assert clean_text(text) == plain


def test_no_name_differs_from_another_by_what_joins_its_characters() -> None:
    keep(Joined)

    assert clean_nick(f"bob{HEART}") == clean_nick("bob\u2764")
    assert clean_nick(CODER) == "\U0001f469\U0001f4bb"


def test_a_cell_of_a_sequence_is_its_first_character() -> None:
    text = f"a{FAMILY}b"

    assert [index_at(text, cell) for cell in range(4)] == [0, 1, 1, len(text) - 1]


PIECES = [*EVERY, "a", "\u0301", "\u200d", "\ufe0f", "\U0001f3fd", "\U0001f468", "\u6f22", "\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_cleaning_again_changes_nothing(text: str) -> None:
    keep(Joined)
    clean = clean_text(text)

    assert clean_text(clean) == clean
