"""Texts as lines: marked up, indented, folded; never a character less than was written."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from chat_tui.model.row import Row
from chat_tui.text.safe_text import LINES_MAX, clean_text, line_spans, wrap
from chat_tui.transcript import text_layout
from chat_tui.transcript.layout_options import Taste, knows_links
from chat_tui.transcript.row_layout import Shape, lay_out
from chat_tui.transcript.text_layout import AS_USUAL, PLAIN, LaidText, Look, lay_text
from chat_tui.transcript.text_positions import link_at
from chat_tui.wording.glyphs import UNICODE
from tests.support.chat_tui.conversations import line

STYLES: Final = {
    "code": Style(color="blue"),
    "keyword": Style(color="red"),
    "sign": Style(dim=True),
    "strong": Style(bold=True),
    "emphasis": Style(italic=True),
    "link": Style(underline=True),
    "strange": Style(underline=True, color="yellow"),
}


def style(name: str) -> Style:
    return STYLES.get(name, PLAIN)


def row_of(text: str) -> Row:
    return Row(line(1, text), clean_text(line(1, text).text), "bob")


def laid(text: str, width: int = 30, look: Look = AS_USUAL, taste: Taste | None = None) -> LaidText:
    return lay_text(row_of(text), width, taste or Taste(), look, PLAIN, style)


def shown(text: LaidText) -> list[str]:
    return ["".join(segment.text for segment in one) for one in text.lines]


def styled(text: LaidText) -> list[tuple[str, str]]:
    """The words that are not plain, with how they look."""
    return [(one.text, str(one.style)) for each in text.lines for one in each if one.style]


def test_further_lines_of_an_item_and_a_quote_are_indented() -> None:
    said = shown(laid("- one two three four\n> five six seven\nplain words here", 12))

    assert said == [
        "- one two", "  three four", "> five six", "  seven", "plain words", "here",
    ]  # fmt: skip


def test_code_is_broken_where_a_line_is_full() -> None:
    assert shown(laid("```\naa bb cc dd\n```", 8)) == ["```", "aa bb cc", " dd", "```"]


def test_marked_characters_have_other_styles_and_plain_ones_none() -> None:
    text = "see *this* `x` https://x.y/a\n```py\nif a\n```"

    assert styled(laid(text)) == [
        ("*", "dim"), ("this", "italic"), ("*", "dim"), ("`", "dim"), ("x", "blue"), ("`", "dim"),
        ("https://x.y/a", "underline"), ("```py", "dim"), ("if", "red"), (" a", "blue"),
        ("```", "dim"),
    ]  # fmt: skip
    assert styled(laid(text, look=Look(raw=True))) == [("https://x.y/a", "underline")]
    assert styled(laid(text, taste=Taste(markup=False))) == [("https://x.y/a", "underline")]


def test_a_long_text_is_folded_until_somebody_unfolds_it() -> None:
    text = "\n".join(f"line {number}" for number in range(200))

    assert (len(laid(text).lines), laid(text).more) == (12, 188)
    assert len(laid(text, look=Look(whole=True)).lines) == 200
    assert laid(text, taste=Taste(fold=0)).more == 0
    assert laid("\n".join("a" * 12)).more == 0
    assert laid("\n".join("a" * 13)).more == 1


def test_as_many_lines_appear_as_were_said_to_be_folded_away() -> None:
    text = "- a b c d e f\n> g h i j\n```c\n" + "int aaaaaaaaaaaa;\n" * 20

    folded, whole = laid(text, 9), laid(text, 9, Look(whole=True))

    assert len(folded.lines) + folded.more == len(whole.lines)
    assert shown(folded) == shown(whole)[:12]


@given(
    st.lists(st.sampled_from(["", "a", "漢" * 5, "word " * 7, "> quoted " * 3, "```", "- x"])),
    st.integers(4, 40),
    st.booleans(),
)
def test_lines_that_are_folded_away_are_counted_as_if_they_were_in_sight(
    lines: list[str], width: int, raw: bool
) -> None:
    text = "\n".join(lines) + "\nend"
    taste = Taste(fold=3)
    folded = laid(text, width, Look(raw=raw), taste)
    whole = laid(text, width, Look(whole=True, raw=raw), taste)
    assert len(folded.lines) + folded.more == len(whole.lines) + whole.more


def test_lines_that_are_folded_away_and_short_are_not_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken: list[str] = []

    def counted(line: str, width: int) -> list[tuple[int, int]]:
        broken.append(line)
        return line_spans(line, width)

    monkeypatch.setattr(text_layout, "line_spans", counted)
    assert laid("\n" * 15_000 + "x", taste=Taste(fold=12)).more == 15_001 - 12
    assert len(broken) <= 14


def test_of_a_flood_of_lines_no_more_than_the_limit_is_shown() -> None:
    flood = laid("a\n" * 7_000, look=Look(whole=True))

    assert len(flood.lines) + 1 == LINES_MAX
    assert flood.more == 7_000 - (LINES_MAX - 1)


def test_the_terminal_is_told_of_whole_addresses_that_mean_what_they_say() -> None:
    def links(text: str, *, told: bool = True) -> set[str | None]:
        lines = laid(text, 20, taste=Taste(hyperlinks=told)).lines
        return {one.style.link for each in lines for one in each if one.style}

    whole = "https://example.com/a/long/address"
    assert links(whole) == {whole}
    assert links(whole, told=False) == {None}
    assert links("https://ex\u0430mple.com/") == {None}
    assert links("https://bank.com@evil.net/") == {None}
    assert links("a\n" * 11 + whole) == {None}  # the fold hides a part of it


def test_a_console_and_a_slow_line_are_told_of_none() -> None:
    assert knows_links({"TERM": "xterm-256color"})
    assert not knows_links({"TERM": "linux"})
    assert not knows_links({})


def test_every_cell_of_a_link_leads_to_the_whole_of_it() -> None:
    shape = Shape(40, UNICODE)
    link = "https://example.com/" + "a" * 60
    row = lay_out(row_of(f"- x {link}, y"), shape, style)

    found = [[link_at(row, at, cell, shape) for cell in range(40)] for at in range(len(row.strips))]

    assert {one for each in found for one in each} == {link, None}
    assert sum(one == link for each in found for one in each) == len(link)
    assert found[-1][shape.gutter + 1] is None  # what is indented is no link


SIGNS = st.text(alphabet="a b*_`>-1.\n\u00e9\u6f22/:#\"'", min_size=1, max_size=120)


@given(SIGNS.map(lambda text: f"```py\n{text}" if "#" in text else text), st.integers(8, 40))
@settings(max_examples=100)
def test_markup_leaves_out_nothing_and_adds_nothing(text: str, width: int) -> None:
    look, written = Look(whole=True), row_of(text).text
    marked, plain = laid(text, width, look), laid(text, width, look, Taste(markup=False))

    assert "".join(shown(marked)).replace(" ", "") == "".join(shown(plain)).replace(" ", "")
    assert shown(plain) == wrap(written, width)
    assert all(cell_len(one) <= width for one in shown(marked))
    for piece, words in zip(marked.pieces, shown(marked), strict=True):
        assert " " * piece.hang + written[piece.start : piece.end] == words
