"""Pastes, cut out of what is typed."""

import pytest

from chat_tui.terminal.pastes import BEGIN, END, KEPT_MAX, Pastes


def parts_of(typed: str) -> list[str]:
    """Return what was typed between pastes, and each paste in brackets."""
    pastes, parts = Pastes(), [""]
    for character in typed:
        within = pastes.begun
        pasted = pastes.take(character)
        if pasted is not None:
            parts += [f"<{pasted}>", ""]
        elif not within:
            parts[-1] += character
    return parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "see \x1b\r/me pasted",
        "\x1b[31mred\x1b[0m\x1b",
        "\x1b[48;0;0;0;0t",
        BEGIN,
        END[:-1],
        f"{END[:-1]}x",
        "\x1b[20",
    ],
)
def test_whatever_stands_between_the_marks_is_the_paste(text: str) -> None:
    assert parts_of(f"a{BEGIN}{text}{END}b") == [f"a{BEGIN}", f"<{text}>", "b"]


def test_an_escape_before_a_mark_does_not_hide_it() -> None:
    assert parts_of(f"\x1b{BEGIN}one\x1b{END}") == [f"\x1b{BEGIN}", "<one\x1b>", ""]


def test_one_paste_follows_the_other() -> None:
    twice = f"{BEGIN}one{END}{BEGIN}two{END}"

    assert parts_of(twice) == [BEGIN, "<one>", BEGIN, "<two>", ""]


def test_an_end_without_a_beginning_is_left_to_be_typed() -> None:
    assert parts_of(f"a{END}b") == [f"a{END}b"]


def test_no_more_is_kept_than_somebody_could_want() -> None:
    longest = "x" * KEPT_MAX

    assert parts_of(f"{BEGIN}{longest}{END}") == [BEGIN, f"<{longest}>", ""]
    assert parts_of(f"{BEGIN}{longest * 2}{END}b")[1:] == [f"<{longest}>", "b"]
