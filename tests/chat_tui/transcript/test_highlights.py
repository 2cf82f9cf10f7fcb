"""Words that stand out: as the index finds them, and never at the cost of a column."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from chat_tui.text.safe_text import clean_text
from chat_tui.text.word_match import is_mentioned, spans, words_of
from chat_tui.transcript.highlights import index_at, painted_over

BOLD = Style(bold=True)


def found(query: str, text: str) -> list[str]:
    return [text[start:end] for start, end in spans(words_of(query), text)]


def test_a_hit_is_the_beginning_of_a_word_whatever_its_case_and_accents() -> None:
    assert found("cable", "Cables, cablé; uncabled") == ["Cable", "cablé"]
    assert found("ete e", "e\u0301te\u0301 été elf") == ["e\u0301te\u0301", "été", "e"]
    assert found("strasse", "Straße") == ["Straße"]


def test_signs_in_a_query_mean_nothing_and_match_nothing() -> None:
    assert found("*", "a*b") == []
    assert found('"', 'say "x"') == []
    assert found("a.c", "abc a.c") == ["a.c"]


def test_a_name_is_mentioned_as_a_word_of_its_own_with_or_without_an_at() -> None:
    assert is_mentioned("alice", "Hey ALICE!")
    assert is_mentioned("alice", "@alice: look")
    assert not is_mentioned("alice", "malice")
    assert not is_mentioned("alice", "alices")
    assert is_mentioned("J. (2)", "ask j. (2) then")
    assert not is_mentioned("", "anything")


@given(st.text(max_size=60), st.text(max_size=8))
def test_whatever_is_found_lies_in_the_text(text: str, query: str) -> None:
    for pattern_spans in (spans(words_of(query), text),):
        for start, end in pattern_spans:
            assert 0 <= start < end <= len(text)


@given(st.text(max_size=40).map(clean_text), st.data())
def test_painting_over_keeps_the_text_and_its_width(text: str, data: st.DataObject) -> None:
    text = text.replace("\n", " ")
    strip = Strip([Segment(text)])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    over = painted_over(strip, [(cell_len(text[:start]), cell_len(text[:end]))], BOLD)

    assert over.cell_length == cell_len(text)


def test_only_the_span_is_painted_over() -> None:
    text = "二階 cable 二階"
    assert spans(words_of("cable"), text) == [(3, 8)]
    over = painted_over(Strip([Segment(text)]), [(5, 10)], BOLD)

    bold = [segment.text for segment in over if segment.style and segment.style.bold]
    assert bold == ["cable"]
    assert over.text == text


def test_a_cell_is_found_in_wide_text() -> None:
    assert [index_at("a二b", cell) for cell in range(6)] == [0, 1, 1, 2, 3, 3]
