"""Untrusted text made safe and wrapped; formats."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from chat_tui.text import safe_text, times
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND

MIXED = st.text(alphabet=st.sampled_from("ab \n漢é👍e\u0301\u200d\ufe0f"), max_size=200)


@given(st.text())
def test_clean_text_holds_nothing_that_steers_a_terminal(raw: str) -> None:
    clean = safe_text.clean_text(raw)

    assert all(
        character == "\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
        for character in clean
    )


@given(st.text())
def test_cleaning_twice_changes_nothing_more(raw: str) -> None:
    once = safe_text.clean_text(raw)

    assert safe_text.clean_text(once) == once


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain\ntext", "plain\ntext"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07", "]0;title"),
        ("bell\x07 c1\x9b31m", "bell c131m"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("two\r\nlines\rthree\u2028four", "two\nlines\nthree\nfour"),
        ("a\tb", "a    b"),
        ("heart\u2764\ufe0f", "heart\u2764"),
    ],
)
def test_tricks_are_taken_out_and_the_words_stay(raw: str, clean: str) -> None:
    assert safe_text.clean_text(raw) == clean


def test_stacked_marks_are_cut() -> None:
    clean = safe_text.clean_text("Z" + "\u0335" * 500)

    assert len(clean) == 1 + safe_text.COMBINING_MAX


def test_a_nick_is_one_short_visible_line() -> None:
    assert safe_text.clean_nick("  bob\n\x1b[2Jthe \u200bbuilder ") == "bob the builder"
    assert safe_text.clean_nick("\u200b\u3164") == safe_text.NAMELESS
    assert cell_len(safe_text.clean_nick("漢" * 100)) <= safe_text.NICK_CELLS_MAX


def test_names_a_reader_takes_for_the_same_share_a_key() -> None:
    assert safe_text.same_nick_key("Alice") == safe_text.same_nick_key("\uff41lice")


@given(st.text().map(safe_text.clean_text), st.integers(0, 40))
def test_clipping_never_exceeds_the_width(raw: str, width: int) -> None:
    clipped = safe_text.clip_cells(raw, width)

    assert cell_len(clipped) <= width or clipped == raw


def test_clipping_shows_that_something_was_cut() -> None:
    assert safe_text.clip_cells("projector", 5) == "proj…"
    assert safe_text.clip_cells("漢字漢字", 5) == "漢字…"
    assert safe_text.clip_cells("fits", 4) == "fits"


@given(MIXED.map(safe_text.clean_text), st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_only_spaces(raw: str, width: int) -> None:
    lines = safe_text.wrap(raw, width)

    assert all(cell_len(line) <= width for line in lines)
    if len(lines) < safe_text.LINES_MAX:
        assert "".join(lines).replace(" ", "") == raw.replace(" ", "").replace("\n", "")


@given(st.text(alphabet="ab  c", max_size=100), st.integers(2, 30))
def test_the_ascii_path_breaks_where_the_measuring_one_does(raw: str, width: int) -> None:
    fast = safe_text.wrap(raw, width)
    measured = safe_text.wrap(raw.replace("a", "é"), width)

    assert [line.replace("é", "a") for line in measured] == fast


@given(MIXED.map(safe_text.clean_text), st.integers(-3, 12))
def test_lines_of_any_width_take_all_of_a_text_in_order(raw: str, width: int) -> None:
    room = max(safe_text.NARROWEST, width)
    whole = raw.replace("\n", "")
    for spans in (safe_text.line_spans(whole, width), safe_text.chopped_spans(whole, width)):
        between = [(end, start) for (_, end), (start, _) in pairwise(spans)]

        assert (spans[0][0], spans[-1][1]) == (0, len(whole))
        assert all(whole[end:start].strip(" ") == "" for end, start in between)
        assert all(cell_len(whole[start:end].rstrip(" ")) <= room for start, end in spans)
        assert all(start < end for start, end in spans) or " " in whole or not whole


@given(MIXED.map(safe_text.clean_text), st.integers(-3, safe_text.NARROWEST))
def test_what_is_wrapped_in_no_room_at_all_is_wrapped_as_in_the_least(raw: str, width: int) -> None:
    assert safe_text.wrap(raw, width) == safe_text.wrap(raw, safe_text.NARROWEST)


def test_a_flood_of_lines_in_no_room_is_cut_as_well() -> None:
    assert safe_text.wrap("ab " * 1_000, 0, most=3) == ["ab", "ab", "……"]


def test_words_break_only_when_longer_than_a_line() -> None:
    assert safe_text.wrap("we need the long one", 9) == ["we need", "the long", "one"]
    assert safe_text.wrap("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"]
    assert safe_text.wrap("漢字漢字 ok", 5) == ["漢字", "漢字", "ok"]
    assert safe_text.wrap("", 10) == [""]
    assert safe_text.wrap("fits here ", 9) == ["fits here"]
    assert safe_text.wrap("one  \n\ntwo\n\n", 5) == ["one", "", "two"]


def test_a_flood_of_lines_is_cut_and_says_by_how_much() -> None:
    lines = safe_text.wrap("\n" * 580 + "end", 40)

    assert len(lines) == safe_text.LINES_MAX
    assert lines[-1] == f"… {581 - (safe_text.LINES_MAX - 1)} more lines"


def test_days_and_times_survive_any_claimed_time() -> None:
    assert len(times.time_of_day(1_763_716_560 * SECOND)) == len("09:16")
    assert times.day_of(1_763_726_400 * SECOND).endswith("21 November 2025")
    assert times.day_of(-1) == times.day_of(0)
    assert times.day_of(2**68) == times.day_of(2**70)


def test_spans_use_their_largest_whole_unit() -> None:
    assert times.span(-SECOND) == "0 s"
    assert times.span(41 * SECOND) == "41 s"
    assert times.span(4 * MINUTE + 59 * SECOND) == "4 min"
    assert times.span(25 * HOUR) == "1 d"
    assert times.milliseconds(2_400_000) == "2.4 ms"
    assert times.milliseconds(38 * MILLISECOND) == "38 ms"


def test_counts_agree_with_their_noun() -> None:
    assert times.count(1, "message") == "1 message"
    assert times.count(3, "message") == "3 messages"
    assert times.count(2, "person", "people") == "2 people"


def test_how_often_is_said_as_people_say_it() -> None:
    assert [times.times(number) for number in (1, 2, 3, 1_200)] == [
        "once",
        "twice",
        "3 times",
        "1,200 times",
    ]


SIZES = (0, 999, 1_000, 34_800, 1_250_000, 48_200_000_000, 1_250_000_000_000)


def test_sizes_have_one_decimal_from_a_kilobyte_on() -> None:
    sizes = [times.size(length) for length in SIZES]

    assert sizes == ["0 B", "999 B", "1.0 kB", "34.8 kB", "1.2 MB", "48.2 GB", "1,250.0 GB"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("👍\U0001f3fd yes", "👍 yes"), ("\U0001f44b\U0001f3ff", "👋"), ("\U0001f3fb", "")],
)
def test_a_tone_of_skin_takes_no_cell_that_terminals_disagree_about(raw: str, shown: str) -> None:
    assert safe_text.clean_text(raw) == shown
