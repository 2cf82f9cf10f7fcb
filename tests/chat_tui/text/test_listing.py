"""Words in a row."""

import pytest

from chat_tui.text.listing import listed


@pytest.mark.parametrize(
    ("words", "more", "row"),
    [
        ([], "", ""),
        (["a"], "", "a"),
        (["a", "b"], "", "a and b"),
        (["a", "b", "c"], "", "a, b and c"),
        (["a", "b"], "2 others", "a, b and 2 others"),
        ([], "2 others", "2 others"),
    ],
)
def test_words_stand_in_a_row(words: list[str], more: str, row: str) -> None:
    assert listed(words, more) == row
