"""Light markup: what is coloured, and that nothing costs more than its length."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.text.code_words import BY_NAME, coloured
from chat_tui.text.links import link_spans
from chat_tui.text.markup import (
    BULLET,
    CODE,
    EMPHASIS,
    LINK,
    QUOTE,
    SIGN,
    STRANGE,
    STRONG,
    blocks,
    is_marked,
    kinds_of,
)
from chat_tui.text.word_kinds import Word

LETTERS = {
    0: ".", CODE: "c", EMPHASIS: "e", STRONG: "s", SIGN: "!", BULLET: "b", QUOTE: "q",
    LINK: "l", LINK | STRANGE: "L", QUOTE | SIGN: "!", QUOTE | EMPHASIS: "E",
    CODE | Word.KEYWORD: "k", CODE | Word.STRING: "t", CODE | Word.NUMBER: "n",
    CODE | Word.COMMENT: "m",
}  # fmt: skip
"""Letters for the kinds of characters, to draw a text with."""

HOSTILE = [
    "`", "``", "`a", "``a`", "*", "*a", "**a", "_", "_a", "*_", "`*_", "a*a", "> ", "- ", "1. ",
    "\n", "\n- ", "\n> ", "```\n", "```c\n", "http://", "http://a", "http://a.b/) ", "* ", "**",
]  # fmt: skip
HOSTILE_CODE = [
    '"', "'", '"""', "/*", "//", "/", "*", "\\", "\\\n", "\n", "\n ", " ", "\t", "#", "--", "<!--",
    "</a ", "a ", "a.", "a=", "a:\n", "[", "0", "0.", "`", "@@", "+", "-", "=", "'''", "- ", "<",
]  # fmt: skip


def drawn(text: str) -> str:
    """A letter for each character of a text."""
    kinds = kinds_of(text, list(blocks(text)), link_spans(text))
    return "".join(
        "\n" if character == "\n" else LETTERS[kind]
        for character, kind in zip(text, kinds, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("run `ls -l`, *now* or **never**", "....!ccccc!..!eee!....!!sssss!!"),
        ("_so_ snake_case_name __init__", "!ee!........................."),
        ("2*3*4 and a * b * c", "..................."),
        ("*args, **kwargs", "..............."),
        ("`a*b*c`", "!ccccc!"),
        ("``a`` ```b``` ````c````", "!!c!!.!!!c!!!.........."),
        ("see https://x.y/_a_ *", "....lllllllllllllll.."),
        ("http://\u0430.b", "LLLLLLLLLL"),
        ("- one\n* two\n12) three\n-four", "bb...\nbb...\nbbbb.....\n....."),
        ("> a *b*\n> > c\n>:( >_<", "!!qq!E!\n!!!!q\n......."),
        ("```py\nif 1: 'a' # b\n```\n*x*", "!!!!!\nkkcnccttt" + "cmmm\n!!!\n!e!"),
        ("```\n*a* # b\n", "!!!\nccccccc\n"),
        ("```nonsense\nif\n```", "!!!!!!!!!!!\ncc\n!!!"),
        ("plain words, (and more).", "........................"),
    ],
)
def test_characters_are_coloured_where_they_stand(text: str, kinds: str) -> None:
    assert drawn(text) == kinds


def test_what_shares_a_cell_has_one_colour() -> None:
    assert drawn("`a*\ufe0f`*b*\ufe0f") == "!ccc!!e!!"


def test_the_name_in_an_action_is_no_item_of_a_list() -> None:
    assert [block.hang for block in blocks("* alice waves\n- a", first=1)] == [0, 2]


@pytest.mark.parametrize(
    ("language", "code", "words"),
    [
        ("Python", 'def f(): return """a\nb""" # c', ["def", "return", '"""a\nb"""', "# c"]),
        ("cpp", "int x = 0x1F; /* a\nb */ // c", ["int", "0x1F", "/* a\nb */", "// c"]),
        ("sql", "SELECT a FROM t -- c", ["SELECT", "FROM", "-- c"]),
        ("yaml", "- key: 'v' # c", ["- key", "'v'", "# c"]),
        ("html", '<a href="x">b</a>', ["<a", '"x"', ">", "</a", ">"]),
        ("diff", "--- a\n+b\n-c\n d", ["--- a", "+b", "-c"]),
        ("bash", "if $a#b; then # c", ["if", "then", "# c"]),
        ("unknown", "if x", []),
    ],
)
def test_words_of_code_are_told_apart(language: str, code: str, words: list[str]) -> None:
    assert [code[start:end] for start, end, _ in coloured(code, language)] == words


@given(st.text(alphabet="a *_`>-1.\n\u00e9/:hx\ufe0f\u200d", max_size=80))
def test_every_character_has_a_kind_and_nothing_is_missed(text: str) -> None:
    kinds = kinds_of(text, list(blocks(text)), link_spans(text))

    assert len(kinds) == len(text)
    assert is_marked(text) or not any(kinds)


def _seconds(length: int) -> float:
    begun = process_time()
    for sign in HOSTILE:
        text = (sign * length)[:length]
        is_marked(text)
        kinds_of(text, list(blocks(text)), link_spans(text))
    return process_time() - begun


def _seconds_of_code(length: int) -> float:
    begun = process_time()
    for language in ("python", "cpp", "go", "yaml", "html", "diff", "css"):
        for sign in HOSTILE_CODE:
            for _ in coloured((sign * length)[:length], language):
                pass
    return process_time() - begun


def test_hostile_markup_costs_as_much_as_it_is_long() -> None:
    assert _seconds(12_000) < 8 * max(_seconds(3_000), 0.005)


def test_hostile_code_costs_as_much_as_it_is_long() -> None:
    assert _seconds_of_code(4_000) < 8 * max(_seconds_of_code(1_000), 0.005)


def test_every_name_of_a_language_can_be_used() -> None:
    assert [list(coloured("1", name)) for name in BY_NAME if name != "diff"]
